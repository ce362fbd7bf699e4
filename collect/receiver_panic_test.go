package collect

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/ipv4"

	"belfry"
	"belfry/collect/ping"
	"belfry/collect/syslog"
)

// panicFormat is that of syslog, with a parser, a filter and columns that panic on some lines.
type panicFormat struct{ syslogFormat }

type panicReader struct {
	messageReader[syslog.Message]
}

func (f panicFormat) configure(e *Env, answers map[string]string) (messageReader[syslog.Message], portSpec, error) {
	r, spec, err := f.syslogFormat.configure(e, answers)
	return panicReader{r}, spec, err
}

func (r panicReader) read(in raw) (syslog.Message, *informReply, Drop, bool) {
	if strings.HasSuffix(in.text, "parser") {
		panic("oh")
	}
	return r.messageReader.read(in)
}

func (f panicFormat) size(m *syslog.Message) int {
	if m.Message == "filter" {
		panic("oh")
	}
	return f.syslogFormat.size(m)
}

func (f panicFormat) batch(messages []syslog.Message) belfry.Batch {
	if slices.ContainsFunc(messages, func(m syslog.Message) bool { return m.Message == "batch" }) {
		panic("oh")
	}
	return f.syslogFormat.batch(messages)
}

// syncBuffer is a buffer for the lines of a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A message whose parsing or filtering panics is kept as it came, and the receiver goes on. A panic elsewhere costs the messages
// that were processed with it, the receiver shows it and is run again, and no other receiver is affected.
func TestPanicInReceiver(t *testing.T) {
	h := newFixture(t, map[string]Kind{"log-syslog-receiver": receiverKind[syslog.Message](panicFormat{})})
	lines := &syncBuffer{}
	h.env.Log = slog.New(slog.NewTextHandler(lines, nil))
	addr, other := freePort(t, "udp"), freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen,filter", "P,"+addr+",severity <= 7", "Q,"+other+",")
	h.up("P", "Q")
	sums := &h.env.Totals
	c := dial(t, "udp", "127.0.0.1", addr)
	say := func(text string) {
		t.Helper()
		before := sums.Kept.Load() + sums.Dropped[DropFault].Load()
		fmt.Fprint(c, "<11>Nov 14 10:11:12 sw1 "+text)
		h.await(text, func() bool { return sums.Kept.Load()+sums.Dropped[DropFault].Load() == before+1 })
	}
	say("link: parser")
	say("link: filter")
	say("link: good")
	want := []string{"||1|5|<11>Nov 14 10:11:12 sw1 link: parser", "sw1|link|1|3|filter", "sw1|link|1|3|good"}
	if got := h.inOrder("syslog", "host", "app", "facility", "severity", "message"); !slices.Equal(got, want) {
		t.Errorf("stored %q", got)
	}
	if n := sums.Failed.Load(); n != 2 {
		t.Errorf("%d are counted as kept as they came", n)
	}
	if n := strings.Count(lines.String(), "stack="); n != 1 {
		t.Errorf("the log has %d stacks, want one: %s", n, lines.String())
	}
	say("link: batch")
	h.await("it shows why", func() bool { return slices.Contains(h.stored("events", "info"), ping.ErrPanic.Error()) }) // it may be up again
	h.up("P")
	c = dial(t, "udp", "127.0.0.1", addr)
	say("link: later")
	if n := sums.Dropped[DropFault].Load(); n != 1 {
		t.Errorf("%d dropped", n)
	}
	c = dial(t, "udp", "127.0.0.1", other)
	say("link: other")
	if s := h.state("Q - Receiver"); s.Status != belfry.OK {
		t.Errorf("the other receiver is %v", s.Status)
	}
}

// A panic while messages are put into the inbox of a receiver fails that receiver, and the messages are counted as dropped. The port
// is still read.
func TestPanicInDispatch(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		s := newSharedPort(t, network)
		b := s.binding(1, nil)
		b.inbox = nil
		if err := s.env.attach(b, s.spec); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s.send("127.0.0.1", 1)
			if err := <-b.faults; err != ping.ErrPanic {
				t.Error(err)
			}
		}
		s.env.detach(b)
		if received, dropped := b.stats.Received.Load(), b.stats.Dropped[DropFault].Load(); received != 2 || dropped != 2 {
			t.Errorf("%s: %d received, %d dropped", network, received, dropped)
		}
	}
}

// A panic while packets are read fails all receivers of the port. The first one counts the packets.
func TestPanicInRead(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := boundPort(1, (&Env{}).NewStats(), nil)
	s := &udpSocket{port: p, conn: conn.(*net.UDPConn), batch: ipv4.NewPacketConn(conn), packets: newPackets(0)} // a map is missing
	io.WriteString(dial(t, "udp", "127.0.0.1", conn.LocalAddr().String()), "<13>a line")
	if s.read(t.Context()) {
		t.Error("it was read")
	}
	b := p.first()
	if err := <-b.faults; err != ping.ErrPanic || b.stats.Received.Load() != 1 || b.stats.Dropped[DropFault].Load() != 1 {
		t.Errorf("%v, %d received, %d dropped", err, b.stats.Received.Load(), b.stats.Dropped[DropFault].Load())
	}
}

// A panic while a connection is read ends the connection. It counts as one message; the next connection is accepted.
func TestPanicInConnection(t *testing.T) {
	s := newSharedPort(t, "tcp")
	s.spec.tls = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { panic("oh") }}
	b := s.binding(1, nil)
	if err := s.env.attach(b, s.spec); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := tls.Dial("tcp", s.spec.addr, &tls.Config{InsecureSkipVerify: true}); err == nil {
			t.Error("it is connected")
		}
	}
	s.env.detach(b)
	if received, dropped := b.stats.Received.Load(), b.stats.Dropped[DropFault].Load(); received != 2 || dropped != 2 {
		t.Errorf("%d received, %d dropped", received, dropped)
	}
}

// A panic in the bookkeeping of collectors does not end the service: everything is read from the tree.
func TestPanicInBookkeeping(t *testing.T) {
	l := &log{}
	h := newFixture(t, noting(l))
	h.provision("network-ping", "name,ip_address_fqdn", "A,127.0.0.1")
	h.await("it runs", l.has("A asks 127.0.0.1"))
	h.stop() // so that the test may change what the supervisor has
	h.sup.dirty, h.sup.all = nil, false
	h.sup.OnRecord(&belfry.Record{Items: []belfry.Item{{ID: 1, Kind: belfry.KindResource}}}) // writes to a map that is missing
	if !h.sup.all {
		t.Error("the tree is not read again")
	}
}

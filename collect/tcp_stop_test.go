package collect

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
)

// TestTCPLeaves: what senders have sent when a receiver is removed is read and stored, whether or not they have closed
// their connections, also of connections that were not accepted yet. An incomplete message is not stored: it is counted
// as a refused connection.
func TestTCPLeaves(t *testing.T) {
	for _, protocol := range []string{"tcp", "tls"} {
		for how, leave := range map[string]func(h *fixture, row string){
			"stopped": func(h *fixture, _ string) { h.stop() },
			"moved": func(h *fixture, row string) {
				addr := freePort(h.t, "tcp")
				h.provision("log-syslog-receiver", leaveHeader, fmt.Sprintf(row, addr))
				h.await("it has moved", func() bool {
					c, err := net.Dial("tcp", addr)
					if err == nil {
						c.Close()
					}
					return err == nil
				})
			},
		} {
			t.Run(protocol+" "+how, func(t *testing.T) { testTCPLeaves(t, protocol, leave) })
		}
	}
}

const leaveHeader = "name,protocol,listen,certificate,certificate_key"

func testTCPLeaves(t *testing.T, protocol string, leave func(*fixture, string)) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	row := "T,tcp,%s,,"
	if protocol == "tls" {
		cert, key := pair(t)
		row = "T,tls,%s," + cell(cert) + "," + cell(key)
	}
	h.provision("log-syslog-receiver", leaveHeader, fmt.Sprintf(row, addr))
	h.up("T")
	connect := func() net.Conn {
		c := dial(t, "tcp", "127.0.0.1", addr)
		if protocol == "tls" {
			secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
			if err := secure.Handshake(); err != nil {
				t.Fatal(err)
			}
			c = secure
		}
		return c
	}
	const long, short, each = 3_000, 30, 10
	var want []string
	send := func(c net.Conn, name string, lines int, rest string) {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "<13>%s %d\n", name, i)
			want = append(want, fmt.Sprintf("%s %d", name, i))
		}
		if _, err := fmt.Fprint(c, b.String()+rest); err != nil {
			t.Fatal(err)
		}
	}
	closed, open := connect(), connect()
	send(open, "open", long, "<13>the rest of this one never co")
	send(closed, "closed", long, "")
	closed.Close()
	for i := range short {
		c := connect()
		send(c, fmt.Sprint("short", i), each, "")
		c.Close()
	}
	leave(h, row)
	dropped := func() (n int64) {
		for i := range h.env.Totals.Dropped {
			n += h.env.Totals.Dropped[i].Load()
		}
		return n
	}
	h.await("the port is closed, and all that came is dealt with", func() bool {
		h.env.ports.mu.Lock()
		defer h.env.ports.mu.Unlock()
		return h.env.ports.open["tcp "+addr] == nil && h.env.Totals.Kept.Load()+dropped() == h.env.Totals.Received.Load()
	})
	if r, d := h.env.Totals.Received.Load(), h.env.Totals.Dropped[DropConnections].Load(); r != int64(len(want)+1) || d != 1 {
		t.Errorf("%d messages received, %d connections cut, want %d and 1", r, d, len(want)+1)
	}
	got := h.stored("syslog", "message")
	if n := h.env.Totals.Kept.Load(); n != int64(len(got)) {
		t.Errorf("%d messages are stored, and %d are said to be", len(got), n)
	}
	slices.Sort(want)
	for _, message := range got {
		if _, found := slices.BinarySearch(want, message); !found {
			t.Fatalf("%q was not sent like this", message)
		}
	}
	if lost := len(want) - len(got); dropped() != int64(lost+1) { // on a slow machine there may be no time to store all
		t.Errorf("%d messages are not stored, and %d were dropped", lost, dropped())
	}
}

// TestTLSProbes: a connection to a TLS port that sends nothing does not count as a lost message.
func TestTLSProbes(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	cert, key := pair(t)
	h.provision("log-syslog-receiver", leaveHeader, "T,tls,"+addr+","+cell(cert)+","+cell(key))
	h.up("T")
	for range 3 {
		dial(t, "tcp", "127.0.0.1", addr).Close()
	}
	c := dial(t, "tcp", "127.0.0.1", addr).(*net.TCPConn)
	c.SetLinger(0)
	c.Close()
	secure := tls.Client(dial(t, "tcp", "127.0.0.1", addr), &tls.Config{InsecureSkipVerify: true})
	if _, err := fmt.Fprint(secure, "<13>a message\n"); err != nil {
		t.Fatal(err)
	}
	if err := secure.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := secure.Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != "EOF" { // a FIN without close_notify is an EOF, too
		t.Errorf("%d bytes, %v", n, err)
	}
	h.await("the message is stored", func() bool { return len(h.stored("syslog", "message")) == 1 })
	if n := h.env.Totals.Received.Load(); n != 1 {
		t.Errorf("%d messages were received", n)
	}
}

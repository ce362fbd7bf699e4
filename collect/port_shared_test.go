package collect

import (
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"belfry"
)

// sharedPort is a port whose receivers accept messages from one address each.
type sharedPort struct {
	t    *testing.T
	spec portSpec
	env  Env
}

func newSharedPort(t *testing.T, network string) *sharedPort {
	return &sharedPort{t: t, spec: portSpec{protocol: network, addr: freePort(t, network), agreed: "test"}, env: Env{Log: slog.New(slog.DiscardHandler)}}
}

func (s *sharedPort) binding(id belfry.ID, allow networks) *binding {
	return newBinding(s.t.Context(), Task{Customer: 1, Resource: id}, s.env.NewStats(), newInbox(inboxPackets), allow)
}

// attach adds a receiver.
func (s *sharedPort) attach(id belfry.ID, allow string) *binding {
	s.t.Helper()
	b := s.binding(id, networks{netip.MustParsePrefix(allow)})
	if err := s.env.attach(b, s.spec); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// send writes messages from an address.
func (s *sharedPort) send(from string, n int) {
	s.t.Helper()
	c := dial(s.t, s.spec.protocol, from, s.spec.addr)
	for range n {
		if _, err := c.Write([]byte("<13>a line\n")); err != nil {
			s.t.Fatal(err)
		}
	}
}

// holds checks the counters of a receiver: it has all its messages, and counted none of another receiver.
func (s *sharedPort) holds(b *binding, n int) {
	s.t.Helper()
	b.inbox.mu.Lock() // another receiver of the port may still be served
	defer b.inbox.mu.Unlock()
	if received, have, source := b.stats.Received.Load(), b.inbox.count, b.stats.Dropped[DropSource].Load(); received != int64(n) || have != n || source != 0 {
		s.t.Errorf("%d were sent: %d received, %d in the inbox, %d as of nobody", n, received, have, source)
	}
}

// Receivers of one port that end together, as when the service stops or all are removed, each get what has arrived for them.
func TestSharedPortCloses(t *testing.T) {
	for _, stopping := range []bool{true, false} {
		s := newSharedPort(t, "udp")
		one, two, all := s.attach(1, "127.0.0.1/32"), s.attach(2, "127.0.0.2/32"), s.attach(3, "127.0.0.0/8")
		s.send("127.0.0.1", 6)
		s.send("127.0.0.2", 7)
		s.send("127.0.0.3", 9)
		if stopping {
			s.env.closePorts()
		}
		var left sync.WaitGroup
		for _, b := range []*binding{one, two, all} {
			left.Go(func() { s.env.detach(b) })
		}
		left.Wait()
		s.holds(one, 6)
		s.holds(two, 7)
		s.holds(all, 9)
		if len(s.env.ports.open) > 0 {
			t.Error("the port stays open")
		}
	}
}

// One that ends alone also gets what has arrived for it before, and the others get none of it.
func TestSharedPortLeft(t *testing.T) {
	s := newSharedPort(t, "udp")
	one, two := s.attach(1, "127.0.0.1/32"), s.attach(2, "127.0.0.2/32")
	s.send("127.0.0.2", 1)
	s.send("127.0.0.1", 5)
	s.env.detach(one)
	s.holds(one, 5)
	s.holds(two, 1)
	s.send("127.0.0.1", 1)
	s.send("127.0.0.2", 1)
	s.env.detach(two)
	if have, source := two.inbox.count, two.stats.Dropped[DropSource].Load(); have != 2 || source != 1 {
		t.Errorf("later: %d in the inbox, %d of nobody", have, source)
	}
}

// Over TCP, messages of a sender go to the receiver it had. Its connection ends with that receiver.
func TestSharedStreamLeft(t *testing.T) {
	s := newSharedPort(t, "tcp")
	one, two := s.attach(1, "127.0.0.1/32"), s.attach(2, "127.0.0.2/32")
	c := dial(t, "tcp", "127.0.0.1", s.spec.addr)
	if _, err := c.Write([]byte(strings.Repeat("<13>a line\n", streamMessages+100))); err != nil {
		t.Fatal(err)
	}
	one.inbox.put(t.Context(), nil, false)
	first := one.inbox.take(nil)
	s.env.detach(one)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
	if received, have := one.stats.Received.Load(), len(first)+one.inbox.count; received == 0 || received != int64(have) {
		t.Errorf("%d received, %d in the inbox", received, have)
	}
	s.env.detach(two)
	s.holds(two, 0)
	if len(s.env.ports.open) > 0 {
		t.Error("the port stays open")
	}
}

// Of two receivers that accept everything, one reports that it cannot work.
func TestSharedPortTakesEverythingOnce(t *testing.T) {
	s := newSharedPort(t, "udp")
	attach := func(id belfry.ID) error {
		return s.env.attach(s.binding(id, nil), s.spec)
	}
	if err := attach(1); err != nil {
		t.Fatal(err)
	}
	if err := attach(2); err == nil || !strings.Contains(err.Error(), "another receiver takes everything that arrives on udp "+s.spec.addr) {
		t.Error(err)
	}
}

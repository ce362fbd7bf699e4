package collect

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"belfry"
)

// shared is a port whose receivers take from one address each, and stand still until they are released.
type shared struct {
	t       *testing.T
	network string
	addr    string
	ports   ports
	env     Env
	arrived chan context.Context // of the port, with what a receiver is handed
	free    chan struct{}
	over    chan struct{} // of all
}

func newShared(t *testing.T, network string) *shared {
	return &shared{t: t, network: network, addr: freePort(t, network), arrived: make(chan context.Context, 100), free: make(chan struct{}), over: make(chan struct{})}
}

// joins brings a receiver. What it gives back makes it leave, and tells when it has.
func (s *shared) joins(id belfry.ID, allow string) (a *Account, leave func() (left chan struct{})) {
	s.t.Helper()
	over := make(chan struct{})
	d := &desk{resource: id, account: s.env.NewAccount(), allow: networks{netip.MustParsePrefix(allow)}, over: over, all: s.over}
	d.take = func(ctx context.Context, all []raw, _ bool) {
		s.arrived <- ctx
		<-s.free
		d.account.Keep(len(all))
	}
	open := listenUDP(s.addr, false)
	if s.network == "tcp" {
		open = s.env.listenTCP(s.addr, nil)
	}
	out, err := s.ports.join(s.network+" "+s.addr, "test", d, open)
	if err != nil {
		s.t.Fatal(err)
	}
	return d.account, func() chan struct{} {
		close(over)
		left := make(chan struct{})
		go func() { defer close(left); out() }()
		return left
	}
}

// settles tells when one that goes alone has asked for what has arrived for it.
func (s *shared) settles() <-chan struct{} {
	s.ports.mu.Lock()
	defer s.ports.mu.Unlock()
	asked := make(chan struct{})
	at := s.ports.open[s.network+" "+s.addr]
	settle := at.settle
	at.settle = func(d *desk) <-chan struct{} {
		defer close(asked)
		at.settle = settle
		return settle(d)
	}
	return asked
}

// send writes messages from an address.
func (s *shared) send(from string, n int) {
	s.t.Helper()
	c := dial(s.t, s.network, from, s.addr)
	for range n {
		if _, err := c.Write([]byte("<13>a line\n")); err != nil {
			s.t.Fatal(err)
		}
	}
}

// kept judges an account: it kept all that it got, and nothing that was for somebody else.
func (s *shared) kept(a *Account, n int64) {
	s.t.Helper()
	if received, kept, source := a.Received.Load(), a.Kept.Load(), a.Dropped[DropSource].Load(); received != n || kept != n || source != 0 {
		s.t.Errorf("%d were sent: %d received, %d kept, %d as of nobody", n, received, kept, source)
	}
}

// Receivers of one port that end together, as when the service stops, each get what has arrived for them.
func TestSharedPortCloses(t *testing.T) {
	s := newShared(t, "udp")
	one, leaveOne := s.joins(1, "127.0.0.1/32")
	two, leaveTwo := s.joins(2, "127.0.0.2/32")
	all, leaveAll := s.joins(3, "127.0.0.0/8")
	s.send("127.0.0.1", 1)
	ctx := <-s.arrived // nothing more is read now
	s.send("127.0.0.1", 5)
	s.send("127.0.0.2", 7)
	s.send("127.0.0.3", 9)
	close(s.over)
	lefts := []chan struct{}{leaveOne()}
	<-ctx.Done() // the port is being closed, as soon as the first one hears of it
	lefts = append(lefts, leaveTwo(), leaveAll())
	close(s.free)
	for _, left := range lefts {
		<-left
	}
	s.kept(one, 6)
	s.kept(two, 7)
	s.kept(all, 9)
	if len(s.ports.open) > 0 {
		t.Error("the port stays open")
	}
}

// One that goes alone gets what has arrived for it before, too, and the others nothing of it.
func TestSharedPortLeft(t *testing.T) {
	s := newShared(t, "udp")
	one, leaveOne := s.joins(1, "127.0.0.1/32")
	two, leaveTwo := s.joins(2, "127.0.0.2/32")
	s.send("127.0.0.2", 1)
	<-s.arrived
	s.send("127.0.0.1", 5)
	asked := s.settles()
	left := leaveOne()
	<-asked
	close(s.free)
	<-left
	s.kept(one, 5)
	s.kept(two, 1)
	s.send("127.0.0.1", 1)
	s.send("127.0.0.2", 1)
	<-leaveTwo()
	if kept, source := two.Kept.Load(), two.Dropped[DropSource].Load(); kept != 2 || source != 1 {
		t.Errorf("later: %d kept, %d of nobody", kept, source)
	}
}

// Over TCP, what was read from a sender is for the receiver that it had. Its connection ends with that one.
func TestSharedStreamLeft(t *testing.T) {
	s := newShared(t, "tcp")
	one, leaveOne := s.joins(1, "127.0.0.1/32")
	two, leaveTwo := s.joins(2, "127.0.0.2/32")
	c := dial(t, "tcp", "127.0.0.1", s.addr)
	if _, err := c.Write([]byte(strings.Repeat("<13>a line\n", streamMessages+100))); err != nil {
		t.Fatal(err)
	}
	<-s.arrived // and there is more behind it
	asked := s.settles()
	left := leaveOne()
	<-asked
	close(s.free)
	<-left
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
	s.kept(one, one.Received.Load())
	if one.Received.Load() == 0 {
		t.Error("nothing was read")
	}
	<-leaveTwo()
	s.kept(two, 0)
	if len(s.ports.open) > 0 {
		t.Error("the port stays open")
	}
}

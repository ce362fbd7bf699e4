package collect

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"belfry"
)

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (f *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.from))
}

func (f *fakeConn) Close() error {
	f.closed = true
	return nil
}

// boundPort is a port with one receiver, and no socket.
func boundPort(c belfry.CustomerID, stats *ReceiverStats, in *inbox) *port {
	p := &port{env: &Env{Log: slog.New(slog.DiscardHandler)}, customer: c}
	p.bindings.Store(&[]*binding{newBinding(context.Background(), Task{Customer: c}, stats, in, nil)})
	return p
}

// newStreams returns an open port of a customer, with a receiver that counts what is refused.
func newStreams(e *Env, c belfry.CustomerID, most, share int) *tcpSocket {
	p := boundPort(c, e.NewStats(), nil)
	e.connLimit.portOpened(c)
	return &tcpSocket{env: e, port: p, limit: most, share: share, addresses: map[netip.Addr]*connList{}}
}

// connect adds a connection that has been silent for a while; nil if the limit is reached.
func (s *tcpSocket) connect(from string, silent time.Duration) *fakeConn {
	f := &fakeConn{from: from}
	c := s.add(f)
	if c == nil {
		return nil
	}
	c.lastSeen.Store(time.Now().Add(-silent).UnixNano())
	return f
}

// refused returns how many connections the receiver has counted as refused.
func (s *tcpSocket) refused() int64 {
	return s.port.first().stats.Dropped[DropConnections].Load()
}

// When the limit is reached, the connection that has been silent for longest is closed; an address has a limit, too.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	s := newStreams(&Env{}, 1, 4, 2)
	add := s.connect
	a, b := add("192.0.2.1:1", time.Hour), add("192.0.2.1:2", 2*time.Hour)
	if add("192.0.2.1:3", 0) == nil || !b.closed || a.closed {
		t.Error("an address with its share: its own longest silent one makes room")
	}
	c := add("192.0.2.2:1", 3*time.Hour)
	if add("192.0.2.3:1", 0) == nil || s.conns.Len() != 4 {
		t.Fatal("there is room for four")
	}
	if add("192.0.2.4:1", 0) == nil || !c.closed || a.closed {
		t.Error("full: the longest silent one makes room")
	}
	if add("192.0.2.5:1", 0) == nil || !a.closed {
		t.Error("full: the next one makes room")
	}
	if s.refused() != 0 {
		t.Error("connections that were silent lose nothing")
	}
	if add("192.0.2.6:1", 0) != nil || s.refused() != 1 {
		t.Error("all others have just sent something, and one had to go, or was not counted")
	}
}

// The connections of one customer, however busy, do not shut out those of others.
func TestConnectionsAreShared(t *testing.T) {
	e := &Env{Streams: 100}
	ports := map[belfry.CustomerID]*tcpSocket{}
	n := 0
	// connect opens connections to the receiver of a customer and returns how many were admitted.
	connect := func(c belfry.CustomerID, count int, silent time.Duration) (in int) {
		if ports[c] == nil {
			ports[c] = newStreams(e, c, 1000, 1000)
		}
		for range count {
			n++
			if ports[c].connect(fmt.Sprintf("192.0.2.%d:%d", c, 1000+n), silent) != nil {
				in++
			}
		}
		return in
	}
	f := func(what string, want ...int) {
		t.Helper()
		total := 0
		for i, w := range want {
			have := ports[belfry.CustomerID(i+1)].conns.Len()
			if have != w {
				t.Errorf("%s: customer %d has %d connections, want %d", what, i+1, have, w)
			}
			total += have
		}
		if e.connLimit.open != total || total > e.Streams {
			t.Errorf("%s: %d open, %d counted", what, total, e.connLimit.open)
		}
	}
	if in := connect(1, 150, 0); in != 100 || ports[1].refused() != 50 {
		t.Errorf("a customer that is alone gets %d places, %d refused", in, ports[1].refused())
	}
	if in := connect(2, 10, 0); in != 10 {
		t.Errorf("another one gets %d of 10", in)
	}
	f("both are busy", 90, 10)
	if refused := ports[1].refused(); refused != 60 {
		t.Errorf("%d: what had to go while it was busy is counted", refused)
	}
	connect(2, 50, 0)
	f("up to a third, as one third is kept", 67, 33)
	for c := range belfry.CustomerID(8) {
		if in := connect(3+c, 5, 0); in != 5 {
			t.Errorf("customer %d gets %d of 5", 3+c, in)
		}
	}
	connect(1, 1000, 0)
	connect(2, 1000, 0)
	if in := connect(11, 3, 0); in != 3 {
		t.Errorf("the last one gets %d of 3", in)
	}
	for c, s := range ports {
		if c > 2 && s.refused() != 0 {
			t.Errorf("customer %d: %d refused", c, s.refused())
		}
	}
}

// A customer leaves connections free for others that have receivers, and its own silent connections are replaced.
func TestConnectionsLeaveRoom(t *testing.T) {
	e := &Env{Streams: 100}
	a, b := newStreams(e, 1, 1000, 1000), newStreams(e, 2, 1000, 1000)
	add := func(s *tcpSocket, n int, silent time.Duration) (in int) {
		for i := range n {
			if s.connect(fmt.Sprintf("192.0.2.1:%d", i+1), silent) != nil {
				in++
			}
		}
		return in
	}
	if in := add(a, 80, 0); in != 50 {
		t.Errorf("%d got in, half of the places are for others", in)
	}
	if in := add(b, 100, time.Hour); in != 100 || a.conns.Len() != 42 || b.conns.Len() != 33 {
		t.Errorf("%d got in, there are %d and %d: the second gets its third, and then replaces its own", in, a.conns.Len(), b.conns.Len())
	}
	if in := add(a, 10, 0); in != 0 || b.conns.Len() != 33 {
		t.Errorf("%d got in: the customer with more takes nothing from the one with less", in)
	}
	var all []*connection
	for _, s := range []*tcpSocket{a, b} {
		all = slices.AppendSeq(all, s.all())
	}
	for _, c := range all {
		c.of.remove(c)
	}
	e.connLimit.portClosed(1)
	e.connLimit.portClosed(2)
	if e.connLimit.open != 0 || len(e.connLimit.customers) != 0 || len(a.addresses) != 0 {
		t.Errorf("all are gone: %d open, %d customers", e.connLimit.open, len(e.connLimit.customers))
	}
}

// A silent connection is found without examining all of them, and those that have just sent data do not count as silent.
func TestLongestSilent(t *testing.T) {
	s := newStreams(&Env{}, 1, 10000, 10000)
	for i := range 5000 {
		s.connect(fmt.Sprintf("192.0.2.1:%d", i+1), 0)
	}
	for range 5000 / silentScan { // each has sent something since it came, and is put where it belongs
		s.conns.silent()
	}
	first := s.conns.Front().Value.(*connEntry).connection
	first.lastSeen.Store(first.lastSeen.Load() - int64(time.Minute))
	if c, since := s.conns.silent(); c != first || since != first.lastSeen.Load() {
		t.Error("not the longest silent one")
	}
}

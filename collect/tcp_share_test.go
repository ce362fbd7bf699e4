package collect

import (
	"net"
	"net/netip"
	"testing"
	"time"
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

// When there is no room, the connection that has been silent for longest makes room; an address has its share and no more.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	s := &streams{env: &Env{}, most: 4, share: 2, open: map[net.Conn]*connection{}}
	add := func(from string, silent time.Duration) *fakeConn {
		f := &fakeConn{from: from}
		c := s.add(f)
		if c == nil {
			return nil
		}
		c.heard.Store(time.Now().Add(-silent).UnixNano())
		return f
	}
	a, b := add("192.0.2.1:1", time.Hour), add("192.0.2.1:2", 2*time.Hour)
	if add("192.0.2.1:3", 0) == nil || !b.closed || a.closed {
		t.Error("an address with its share: its own longest silent one makes room")
	}
	c := add("192.0.2.2:1", 3*time.Hour)
	if add("192.0.2.3:1", 0) == nil || len(s.open) != 4 {
		t.Fatal("there is room for four")
	}
	if add("192.0.2.4:1", 0) == nil || !c.closed || a.closed {
		t.Error("full: the longest silent one makes room")
	}
	if add("192.0.2.5:1", 0) == nil || !a.closed {
		t.Error("full: the next one makes room")
	}
	if add("192.0.2.6:1", 0) != nil {
		t.Error("all others have just sent something, and one had to go")
	}
}

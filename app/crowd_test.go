package app

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// fakeListener gives connections from addresses that the test says.
type fakeListener struct {
	next   chan net.Conn
	closed chan struct{}
}

func (l *fakeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *fakeListener) Close() error   { close(l.closed); return nil }
func (l *fakeListener) Addr() net.Addr { return nil }

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.from)
	return a
}
func (c *fakeConn) Close() error { c.closed = true; return nil }

// crowdTest is a listener with some places.
type crowdTest struct {
	*testing.T
	l        *crowded
	in       *fakeListener
	accepted []*placed
}

func newCrowdTest(t *testing.T, places int) *crowdTest {
	in := &fakeListener{make(chan net.Conn, 100), make(chan struct{})}
	c := &crowdTest{T: t, l: crowdedListener(in, places), in: in}
	go func() {
		for {
			got, err := c.l.Accept()
			if err != nil {
				return
			}
			c.accepted = append(c.accepted, got.(*placed))
		}
	}()
	return c
}

// come lets a client connect and says whether it got a place.
func (c *crowdTest) come(from string) (*placed, bool) {
	before := len(c.accepted)
	c.in.next <- &fakeConn{from: from}
	synctest.Wait()
	if len(c.accepted) == before {
		return nil, false
	}
	return c.accepted[len(c.accepted)-1], true
}

func (p *placed) gone() bool { return p.Conn.(*fakeConn).closed }

// TestConnectionShares: an address with most of the places makes room for others when all are taken, first with a
// connection on which nothing was asked, and gets no more than half while others are there.
func TestConnectionShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdTest(t, 4)
		defer c.l.Close()
		var hog []*placed
		for range 4 {
			p, ok := c.come("192.0.2.1:1000")
			if !ok {
				t.Fatal("no place although there are some")
			}
			hog = append(hog, p)
		}
		c.l.watch(hog[0], http.StateActive) // the others are half open
		other, ok := c.come("192.0.2.2:1000")
		if !ok || !hog[1].gone() || hog[0].gone() {
			t.Fatalf("another address got in: %v; the oldest half-open connection went: %v", ok, hog[1].gone())
		}
		if _, ok := c.come("192.0.2.1:2000"); ok {
			t.Error("the address gets more than its share")
		}
		if _, ok := c.come("192.0.2.3:1000"); !ok || !hog[2].gone() {
			t.Error("a third address does not get in")
		}
		if other.gone() || hog[0].gone() || hog[3].gone() {
			t.Error("too many had to go")
		}
		if n, _, evicted := c.l.counts(); n != 4 || evicted != 2 || c.l.refused != 1 {
			t.Errorf("%d open, %d evicted, %d refused", n, evicted, c.l.refused)
		}
		c.l.watch(hog[0], http.StateIdle) // an idle one goes before any other, whoever has it
		if _, ok := c.come("192.0.2.4:1000"); !ok || !hog[0].gone() {
			t.Error("the idle connection stays")
		}
	})
}

// TestOneAddress: behind a proxy all connections come from one address, which has all places.
func TestOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdTest(t, 2)
		defer c.l.Close()
		first, _ := c.come("192.0.2.1:1")
		c.come("192.0.2.1:2")
		if _, ok := c.come("192.0.2.1:3"); ok || first.gone() || c.l.refused != 0 {
			t.Error("the third did not wait")
		}
		first.Close()
		synctest.Wait()
		if len(c.accepted) != 3 {
			t.Error("the third does not get the place that has become free")
		}
	})
}

func TestAddressOf(t *testing.T) {
	f := func(from, want string) {
		t.Helper()
		a, err := net.ResolveTCPAddr("tcp", from)
		if err != nil {
			t.Fatal(err)
		}
		if got := addressOf(a); got != want {
			t.Errorf("%s: got %s, want %s", from, got, want)
		}
	}
	f("192.0.2.7:80", "192.0.2.7")
	f("[::ffff:192.0.2.7]:80", "192.0.2.7")
	f("[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64")
	f("[2001:db8:1:2::1]:81", "2001:db8:1:2::/64")
	f("[2001:db8:1:3::1]:81", "2001:db8:1:3::/64")
}

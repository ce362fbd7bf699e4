package listen

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// fakeListener gives connections from addresses that the test says.
type fakeListener struct {
	next   chan net.Conn
	fails  chan error
	closed chan struct{}
}

func (l *fakeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case err := <-l.fails:
		return nil, err
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

// connLimiterTest is a listener with some slots.
type connLimiterTest struct {
	*testing.T
	l        *connLimiter
	in       *fakeListener
	accepted []*limitedConn
	failed   []error
}

func newConnLimiterTest(t *testing.T, slots int) *connLimiterTest {
	in := &fakeListener{make(chan net.Conn, 100), make(chan error), make(chan struct{})}
	c := &connLimiterTest{T: t, l: newConnLimiter(in, slots, 32), in: in}
	go func() {
		for {
			got, err := c.l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				c.failed = append(c.failed, err)
				continue
			}
			c.accepted = append(c.accepted, got.(*limitedConn))
		}
	}()
	return c
}

// come lets a client connect and says whether it got a place.
func (c *connLimiterTest) come(from string) (*limitedConn, bool) {
	before := len(c.accepted)
	c.in.next <- &fakeConn{from: from}
	synctest.Wait()
	if len(c.accepted) == before {
		return nil, false
	}
	p := c.accepted[len(c.accepted)-1]
	p.used.Store(true)
	return p, true
}

func (p *limitedConn) gone() bool { return p.Conn.(*fakeConn).closed }

// TestConnectionShares: an address with most of the slots makes room for others when all are taken, first with a
// connection on which nothing was asked, and waits for more while others are there.
func TestConnectionShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 4)
		defer c.l.Close()
		var hog []*limitedConn
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
		if n, _, evicted, refused := c.l.counts(); n != 4 || evicted != 2 || refused != 0 {
			t.Errorf("%d open, %d evicted, %d refused", n, evicted, refused)
		}
		if !c.l.full() {
			t.Error("answers do not tell that somebody waits")
		}
		before := len(c.accepted)
		c.l.watch(hog[0], http.StateIdle) // an idle one makes room for whoever waits
		synctest.Wait()
		if len(c.accepted) != before+1 || !hog[0].gone() || c.l.full() {
			t.Error("the idle connection stays")
		}
	})
}

// TestConnectionsOfOneAddress: an address that has all slots, and many more connections that wait for one, does not delay others. Of
// those that wait, the latest are closed.
func TestConnectionsOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 8)
		defer c.l.Close()
		var late []*fakeConn
		for i := range 8 + 30 { // with unfinished heads
			p := &fakeConn{from: fmt.Sprint("192.0.2.1:", 1000+i)}
			c.in.next <- p
			late = append(late, p)
		}
		synctest.Wait()
		if _, ok := c.come("192.0.2.2:1000"); !ok {
			t.Fatal("another address waits behind those of the first")
		}
		for i, p := range late {
			if want := i == 0 || i >= 8+16; p.closed != want {
				t.Errorf("connection %d closed: %v", i, p.closed)
			}
		}
		if n, _, evicted, refused := c.l.counts(); n != 8 || evicted != 1 || refused != 14 || len(c.l.waiting) != 16 {
			t.Errorf("%d open, %d evicted, %d refused, %d wait", n, evicted, refused, len(c.l.waiting))
		}
	})
}

// TestConnectionsOfSomeAddresses: several addresses share all slots, none has more than half. Another one that has far fewer
// connections gets in, but only for a connection on which nothing has been asked.
func TestConnectionsOfSomeAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 30)
		defer c.l.Close()
		for i := range 3 * 12 {
			c.come(fmt.Sprintf("192.0.2.%d:%d", 1+i%3, 1000+i))
		}
		if len(c.accepted) != 30 {
			t.Fatalf("%d have a place", len(c.accepted))
		}
		asked := c.accepted[:29] // all but one of 192.0.2.3
		for _, p := range asked {
			c.l.watch(p, http.StateActive)
		}
		if _, ok := c.come("192.0.2.4:1000"); !ok || !c.accepted[29].gone() {
			t.Fatal("a fourth address does not get in")
		}
		c.l.watch(c.accepted[30], http.StateActive)
		if _, ok := c.come("192.0.2.5:1000"); ok {
			t.Error("a request in progress was cut off")
		}
		for _, p := range asked {
			if p.gone() {
				t.Error("a request in progress was cut off")
			}
		}
		asked[0].Close() // the place goes to the address with fewest connections, not to who came first
		synctest.Wait()
		if last := c.accepted[len(c.accepted)-1]; last.from.address != "192.0.2.5" {
			t.Errorf("the place went to %s", last.from.address)
		}
	})
}

// TestWaitingConnectionsBounded: the list of those who wait is bounded; when it is full, the address that waits most often is refused.
func TestWaitingConnectionsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 1)
		defer c.l.Close()
		c.come("192.0.2.99:1")
		c.l.watch(c.accepted[0], http.StateActive)
		c.l.slots = 0 // so that nobody has more than half, and nobody can make room
		c.l.sources["192.0.2.99"].open = 0
		for i := range 32 {
			c.come(fmt.Sprintf("192.0.2.%d:%d", 1+i%2, 1000+i))
		}
		c.come("192.0.2.3:1")
		if n := c.l.sources["192.0.2.3"]; n == nil || n.waiting != 1 || len(c.l.waiting) != 32 {
			t.Errorf("a third address may not wait: %d wait", len(c.l.waiting))
		}
		c.l.sources["192.0.2.99"].open = 1
	})
}

// TestCloseEndsConnections: Close ends the listener and all connections that nobody has accepted.
func TestCloseEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 1)
		c.come("192.0.2.1:1")
		wait := &fakeConn{from: "192.0.2.1:2"}
		c.in.next <- wait
		synctest.Wait()
		c.l.Close()
		synctest.Wait()
		if !wait.closed || c.accepted[0].gone() {
			t.Error("who waited is not closed, or who had a place is")
		}
		if _, err := c.l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		c.accepted[0].Close()
		if n, _, _, _ := c.l.counts(); n != 0 {
			t.Errorf("%d are open", n)
		}
	})
}

// TestAcceptError: an error of the listener goes to the server once, and accepting goes on.
func TestAcceptError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 1)
		defer c.l.Close()
		c.in.fails <- errors.New("too many open files")
		synctest.Wait()
		if _, ok := c.come("192.0.2.1:1"); !ok || len(c.failed) != 1 {
			t.Errorf("accepted %v after errors %v", ok, c.failed)
		}
	})
}

// TestOneAddress: behind a proxy all connections come from one address, which has all slots.
func TestOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnLimiterTest(t, 2)
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

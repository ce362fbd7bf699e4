package app

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// crowded is a listener that serves no more connections than it has places: each costs memory before it has said a word.
// The next one is accepted and waits, those after it wait in the kernel's queue. Clients keep connections open that they
// do not need at the moment; while somebody waits, the one that has been idle longest makes room, and who is answered is
// told not to come back on the same connection.
//
// No address may have more than half of the places while others want some. When there is no idle connection, an address
// that has more than half makes room with a connection on which nothing has been asked yet, else with its oldest. Addresses of IPv6 count by their network of 64 bits. Behind a proxy all come from one address: as
// long as there is no other, it has everything.
type crowded struct {
	net.Listener
	places int
	freed  chan struct{} // holds one: somebody has left, or become idle
	once   sync.Once
	closed chan struct{}

	mu      sync.Mutex
	open    int
	conns   map[*placed]struct{}
	by      map[string]int // open connections of an address
	count   uint64         // of all connections so far
	refused int
	idle    placed // head of a ring of idle connections, idle longest first
	idles   int
	waiting bool
	evicted int
}

func crowdedListener(l net.Listener, places int) *crowded {
	c := &crowded{Listener: l, places: places, freed: make(chan struct{}, 1), closed: make(chan struct{}), conns: map[*placed]struct{}{}, by: map[string]int{}}
	c.idle.next, c.idle.prev = &c.idle, &c.idle
	return c
}

// Accept waits for a connection, then for a place.
func (l *crowded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p := &placed{Conn: c, crowd: l, address: addressOf(c.RemoteAddr()), fresh: true}
		for {
			taken, refused := l.take(p)
			if taken {
				return p, nil
			}
			if refused {
				c.Close()
				break
			}
			select {
			case <-l.freed:
			case <-l.closed:
				c.Close()
				return nil, net.ErrClosed
			}
		}
	}
}

// addressOf is what counts as one address.
func addressOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := ap.Addr().Unmap()
	if ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}

// take takes a place, that of another connection when there is no other. A connection of an address that has its share
// already is refused when others want a place.
func (l *crowded) take(p *placed) (taken, refused bool) {
	l.mu.Lock()
	if l.waiting = l.open >= l.places; !l.waiting {
		l.count++
		p.number = l.count
		l.open++
		l.conns[p] = struct{}{}
		l.by[p.address]++
		l.mu.Unlock()
		return true, false
	}
	victim := l.victim(p)
	if victim == nil && l.by[p.address] > l.places/2 && len(l.by) > 1 {
		l.refused++
		l.mu.Unlock()
		return false, true
	}
	if victim != nil {
		l.evicted++
	}
	l.mu.Unlock()
	if victim != nil {
		victim.Close() // and freed says so
	}
	return false, false
}

// victim is the connection that makes room for p; nil when there is none. The mutex is held.
func (l *crowded) victim(p *placed) (victim *placed) {
	if l.idles > 0 {
		return l.idle.next
	}
	hog := ""
	for address, n := range l.by {
		if n > l.by[hog] || n == l.by[hog] && address < hog {
			hog = address
		}
	}
	share := l.by[hog] > l.places/2
	if !share || hog == p.address {
		return nil
	}
	for c := range l.conns {
		if c.address == hog && (victim == nil || c.before(victim)) {
			victim = c
		}
	}
	return victim
}

// before tells which of two connections makes room first: one that has asked for nothing yet, then the older one.
func (p *placed) before(o *placed) bool {
	if p.fresh != o.fresh {
		return p.fresh
	}
	return p.number < o.number
}

// Close ends the wait for a place, too.
func (l *crowded) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// watch is told by the server what its connections are doing.
func (l *crowded) watch(c net.Conn, s http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	p, ok := c.(*placed)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.active()
	p.fresh = s == http.StateNew
	if s == http.StateIdle && !p.left {
		p.rest()
		l.poke()
	}
}

// at puts the crowd before a door.
func (l *crowded) at(d *door) {
	d.server.ConnState = l.watch
	behind := d.server.Handler
	d.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.full() {
			w.Header().Set("Connection", "close")
		}
		behind.ServeHTTP(w, r)
	})
}

// full tells whether somebody waits for a place.
func (l *crowded) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting
}

func (l *crowded) poke() {
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// counts are for the metrics.
func (l *crowded) counts() (open, idle, evicted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.idles, l.evicted
}

// placed is a connection that gives its place back when it is closed.
type placed struct {
	net.Conn
	crowd      *crowded
	prev, next *placed // in the ring of idle ones; nil while something is asked
	left       bool

	address string
	number  uint64 // in the order of arrival
	fresh   bool   // nothing has been asked yet
}

func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}

// CloseWrite lets the server say that it has said everything, before it hangs up on a client that still sends: otherwise
// the kernel would throw the answer away.
func (p *placed) CloseWrite() error {
	if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

func (p *placed) leave() {
	l := p.crowd
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.left {
		return
	}
	p.left = true
	p.active()
	l.open--
	delete(l.conns, p)
	if l.by[p.address]--; l.by[p.address] == 0 {
		delete(l.by, p.address)
	}
	l.poke()
}

// active takes the connection off the list of idle ones. The mutex is held.
func (p *placed) active() {
	if p.next != nil {
		p.prev.next, p.next.prev = p.next, p.prev
		p.prev, p.next = nil, nil
		p.crowd.idles--
	}
}

// rest puts the connection at the end of the ring of idle ones. The mutex is held.
func (p *placed) rest() {
	head := &p.crowd.idle
	p.prev, p.next = head.prev, head
	p.prev.next, p.next.prev = p, p
	p.crowd.idles++
}

package app

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// crowded is a listener that serves no more connections than it has places: each costs memory before it has said a word.
// The next one is accepted and waits, those after it wait in the kernel's queue. Clients keep connections open that they
// do not need at the moment; while somebody waits, the one that has been idle longest makes room, and who is answered is
// told not to come back on the same connection.
type crowded struct {
	net.Listener
	places int
	freed  chan struct{} // holds one: somebody has left, or become idle
	once   sync.Once
	closed chan struct{}

	mu      sync.Mutex
	open    int
	idle    placed // head of a ring of idle connections, idle longest first
	idles   int
	waiting bool
	evicted int
}

func crowdedListener(l net.Listener, places int) *crowded {
	c := &crowded{Listener: l, places: places, freed: make(chan struct{}, 1), closed: make(chan struct{})}
	c.idle.next, c.idle.prev = &c.idle, &c.idle
	return c
}

// Accept waits for a connection, then for a place.
func (l *crowded) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for !l.take() {
		select {
		case <-l.freed:
		case <-l.closed:
			c.Close()
			return nil, net.ErrClosed
		}
	}
	return &placed{Conn: c, crowd: l}, nil
}

// take takes a place, that of an idle connection when there is no other.
func (l *crowded) take() bool {
	l.mu.Lock()
	if l.waiting = l.open >= l.places; !l.waiting {
		l.open++
		l.mu.Unlock()
		return true
	}
	longest := l.idle.next
	if l.idles > 0 {
		l.evicted++
	}
	l.mu.Unlock()
	if longest != &l.idle {
		longest.Close() // and freed says so
	}
	return false
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

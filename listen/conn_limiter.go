package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// connLimiter is a listener that serves no more connections than it has places: each costs memory before it has sent a
// byte. Connections that find no place wait in a list. Every connection is accepted at once, so that those of one address
// cannot delay those of another in the kernel's queue.
//
// A place goes to the waiting address that has the fewest connections. While somebody waits, room is made, see victim, and
// answers tell their clients not to come back on the same connection. Addresses of IPv6 count by their network of 64
// bits. Behind a proxy all connections come from one address: as long as there is no other, it has everything.
type connLimiter struct {
	net.Listener
	places     int
	maxWaiting int // that wait, half of them of one address
	inUse      *requests

	mu      sync.Mutex
	changed sync.Cond // admitted, err or closed
	err     error     // of the listener; the next Accept returns it
	closed  bool

	open     int
	sources  map[string]*source
	idle     list.List      // of *limitedConn, idle longest first
	waiting  []*limitedConn // in the order of arrival
	admitted []*limitedConn // have a place, and Accept has not returned them yet

	evicted, refused int
}

// source is an address with its connections.
type source struct {
	address       string
	open, waiting int
	fresh, asked  list.List // of *limitedConn: nothing has been asked yet, and a request is in progress; oldest first
}

// limitedConn is a connection that gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	from    *source
	in      *list.List // idle, or one of from; nil without a place
	at      *list.Element
	left    bool
	used    atomic.Bool // a request has come on it
}

// newConnLimiter starts to accept connections; Close ends that.
func newConnLimiter(l net.Listener, places, waiting int) *connLimiter {
	c := &connLimiter{Listener: l, places: places, maxWaiting: waiting, inUse: newRequests(places), sources: map[string]*source{}}
	c.changed.L = &c.mu
	go c.run()
	return c
}

// run accepts until the listener is closed. After an error it goes on when Accept has returned that, so the server decides
// how long to pause.
func (l *connLimiter) run() {
	for {
		c, err := l.Listener.Accept()
		l.mu.Lock()
		switch {
		case l.closed:
			l.mu.Unlock()
			if err == nil {
				c.Close()
			}
			return
		case err == nil:
			l.arrive(c)
		default:
			l.err = err
			l.changed.Broadcast()
			for l.err != nil && !l.closed {
				l.changed.Wait()
			}
		}
		l.mu.Unlock()
	}
}

// Accept waits for a connection that has a place.
func (l *connLimiter) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.closed {
			return nil, net.ErrClosed
		}
		for len(l.admitted) > 0 {
			p := l.admitted[0]
			l.admitted = slices.Delete(l.admitted, 0, 1)
			if !p.left {
				return p, nil
			}
		}
		if err := l.err; err != nil {
			l.err = nil
			l.changed.Broadcast()
			return nil, err
		}
		l.changed.Wait()
	}
}

// Close closes the connections that Accept has not returned, too.
func (l *connLimiter) Close() error {
	l.mu.Lock()
	l.closed = true
	for _, p := range slices.Concat(l.waiting, l.admitted) {
		p.Conn.Close()
	}
	l.waiting, l.admitted = nil, nil
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// arrive gives a connection a place or lets it wait. The mutex is held, as in the methods below.
func (l *connLimiter) arrive(c net.Conn) {
	address := addressOf(c.RemoteAddr())
	from := l.sources[address]
	if from == nil {
		from = &source{address: address}
		l.sources[address] = from
	}
	from.waiting++
	l.waiting = append(l.waiting, &limitedConn{Conn: c, limiter: l, from: from})
	l.settle()
	if from.waiting > l.maxWaiting/2 {
		l.refuse(from)
	} else if len(l.waiting) > l.maxWaiting {
		most := from
		for _, p := range l.waiting {
			if p.from.waiting > most.waiting {
				most = p.from
			}
		}
		l.refuse(most)
	}
}

// refuse closes the connection of an address that began to wait last.
func (l *connLimiter) refuse(from *source) {
	for i, p := range slices.Backward(l.waiting) {
		if p.from == from {
			l.waiting = slices.Delete(l.waiting, i, i+1)
			p.Conn.Close()
			l.refused++
			from.waiting--
			l.forget(from)
			return
		}
	}
}

// settle gives places to those who wait, as far as there are any or room can be made.
func (l *connLimiter) settle() {
	for len(l.waiting) > 0 {
		next := 0
		for i, p := range l.waiting {
			if p.from.open < l.waiting[next].from.open {
				next = i
			}
		}
		p := l.waiting[next]
		if l.open >= l.places {
			victim := l.victim(p.from)
			if victim == nil { // then there is none for those with more connections either
				return
			}
			l.evicted++
			victim.leave()
			victim.Conn.Close()
		}
		l.waiting = slices.Delete(l.waiting, next, next+1)
		p.from.waiting--
		p.from.open++
		l.open++
		p.moveTo(&p.from.fresh)
		l.admitted = append(l.admitted, p)
		l.changed.Broadcast()
	}
}

// victim is the connection that makes room for one of an address; nil when there is none. The connection that has been idle
// longest goes first. Otherwise the address with most connections makes room if it has more than half of all places, with
// a connection on which nothing has been asked yet or else with its oldest. If it has less than that, but far more
// than the one that waits, it only has to give up a connection on which nothing has been asked.
func (l *connLimiter) victim(of *source) *limitedConn {
	if e := l.idle.Front(); e != nil {
		return e.Value.(*limitedConn)
	}
	var from *source
	for _, s := range l.sources {
		if s == of || s.open <= l.places/2 && (s.fresh.Len() == 0 || s.open <= 8*of.open+8) {
			continue
		}
		if from == nil || s.open > from.open || s.open == from.open && s.address < from.address {
			from = s
		}
	}
	if from == nil {
		return nil
	}
	e := from.fresh.Front()
	if e == nil {
		e = from.asked.Front()
	}
	if e == nil {
		return nil
	}
	return e.Value.(*limitedConn)
}

// forget drops an address that has no connections.
func (l *connLimiter) forget(s *source) {
	if s.open == 0 && s.waiting == 0 {
		delete(l.sources, s.address)
	}
}

// moveTo puts a connection at the end of a list, nil for none.
func (p *limitedConn) moveTo(to *list.List) {
	if p.in != nil {
		p.in.Remove(p.at)
	}
	if p.in = to; to != nil {
		p.at = to.PushBack(p)
	}
}

// leave gives the place back.
func (p *limitedConn) leave() {
	if p.left {
		return
	}
	p.left = true
	p.moveTo(nil)
	p.limiter.open--
	p.from.open--
	p.limiter.forget(p.from)
}

func (p *limitedConn) Close() error {
	err := p.Conn.Close()
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.leave()
	p.limiter.settle()
	return err
}

// CloseWrite lets the server say that it has said everything, before it hangs up on a client that still sends: otherwise
// the kernel would throw the answer away.
func (p *limitedConn) CloseWrite() error {
	if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// limitedConnOf is what a connection of the server is to the listener; nil: nothing.
func limitedConnOf(c net.Conn) *limitedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	p, _ := c.(*limitedConn)
	return p
}

// watch is told by the server what its connections are doing. One of HTTP/2 is called idle before its first request has come: then
// it is as fresh as one that has sent nothing. A client that opens several uses the first of them, which would be idle longest.
func (l *connLimiter) watch(c net.Conn, s http.ConnState) {
	p := limitedConnOf(c)
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.left {
		return
	}
	switch s {
	case http.StateActive:
		p.moveTo(&p.from.asked)
	case http.StateIdle:
		if !p.used.Load() {
			p.moveTo(&p.from.fresh)
			return
		}
		p.moveTo(&l.idle)
		l.settle()
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// noteUse notes that a request has come on its connection.
func noteUse(r *http.Request) {
	if p, _ := r.Context().Value(connKey{}).(*limitedConn); p != nil {
		p.used.Store(true)
	}
}

// limit makes a server keep to the limit.
func (l *connLimiter) limit(d *httpServer) {
	d.server.ConnState = l.watch
	d.server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, limitedConnOf(c))
	}
	behind := d.server.Handler
	d.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noteUse(r)
		if l.full() {
			w.Header().Set("Connection", "close")
		}
		l.inUse.serve(behind, w, r)
	})
}

// full tells whether somebody waits for a place.
func (l *connLimiter) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0
}

// counts are for the metrics.
func (l *connLimiter) counts() (open, idle, evicted, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.idle.Len(), l.evicted, l.refused
}

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

// connLimiter is a listener that serves a limited number of connections, because each takes memory before it has sent a byte.
// Connections without a slot wait in a list. Every connection is accepted at once, so that those of one address cannot delay
// those of another in the kernel's queue.
// A free slot goes to the waiting address with the fewest connections. While any wait, others are closed for them, see victim,
// and responses tell clients not to reuse the connection. IPv6 addresses count by their /64 network. Behind a proxy all
// connections come from one address, which may use all slots as long as there is no other.
type connLimiter struct {
	net.Listener
	slots      int
	maxWaiting int // waiting connections, at most half of them of one address
	inUse      *requests

	mu      sync.Mutex
	changed sync.Cond // admitted, err or closed has changed
	err     error     // error of the listener, returned by the next Accept
	closed  bool

	open     int
	sources  map[string]*source
	idle     list.List      // of *limitedConn, longest idle first
	waiting  []*limitedConn // in order of arrival
	admitted []*limitedConn // have a slot, but Accept has not returned them yet

	evicted, refused int
}

// source is an address with its connections.
type source struct {
	address       string
	open, waiting int
	fresh, asked  list.List // of *limitedConn without a request yet, and with one in progress; oldest first
}

// limitedConn is a connection that frees its slot when closed.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	from    *source
	in      *list.List // idle, or one of from's lists; nil without a slot
	at      *list.Element
	left    bool
	used    atomic.Bool // a request has arrived
}

// newConnLimiter accepts connections until Close.
func newConnLimiter(l net.Listener, slots, waiting int) *connLimiter {
	c := &connLimiter{Listener: l, slots: slots, maxWaiting: waiting, inUse: newRequests(slots), sources: map[string]*source{}}
	c.changed.L = &c.mu
	go c.run()
	return c
}

// run accepts until the listener is closed. After an error it waits until Accept has returned it, so that the server decides how
// long to pause.
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

// Accept returns the next connection that has a slot.
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

// Close also closes connections that Accept has not returned.
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

// arrive gives a connection a slot or lets it wait. The mutex is held, as in the methods below.
func (l *connLimiter) arrive(c net.Conn) {
	address := addressOf(c.RemoteAddr())
	from := l.sources[address]
	if from == nil {
		from = &source{address: address}
		l.sources[address] = from
	}
	from.waiting++
	l.waiting = append(l.waiting, &limitedConn{Conn: c, limiter: l, from: from})
	l.admit()
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

// refuse closes the newest waiting connection of an address.
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

// admit gives slots to waiting connections while some are free or can be freed.
func (l *connLimiter) admit() {
	for len(l.waiting) > 0 {
		next := 0
		for i, p := range l.waiting {
			if p.from.open < l.waiting[next].from.open {
				next = i
			}
		}
		p := l.waiting[next]
		if l.open >= l.slots {
			victim := l.victim(p.from)
			if victim == nil { // and none for addresses with more connections
				return
			}
			l.evicted++
			victim.release()
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

// victim returns the connection to close for one of an address; nil if there is none. The first choice is the longest idle
// connection. Then comes the address with the most connections: if it has more than half of all slots, its oldest connection
// without a request, or else its oldest; if it has fewer, but far more than the waiting address, only a connection without a
// request.
func (l *connLimiter) victim(of *source) *limitedConn {
	if e := l.idle.Front(); e != nil {
		return e.Value.(*limitedConn)
	}
	var from *source
	for _, s := range l.sources {
		if s == of || s.open <= l.slots/2 && (s.fresh.Len() == 0 || s.open <= 8*of.open+8) {
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

// forget deletes an address without connections.
func (l *connLimiter) forget(s *source) {
	if s.open == 0 && s.waiting == 0 {
		delete(l.sources, s.address)
	}
}

// moveTo moves a connection to the end of a list; nil: to none.
func (p *limitedConn) moveTo(to *list.List) {
	if p.in != nil {
		p.in.Remove(p.at)
	}
	if p.in = to; to != nil {
		p.at = to.PushBack(p)
	}
}

// release frees the slot.
func (p *limitedConn) release() {
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
	p.release()
	p.limiter.admit()
	return err
}

// CloseWrite lets the server shut down its side first when a client is still sending. Otherwise the kernel would discard the
// response.
func (p *limitedConn) CloseWrite() error {
	if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// limitedConnOf returns the limitedConn of a server's connection; nil if there is none.
func limitedConnOf(c net.Conn) *limitedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	p, _ := c.(*limitedConn)
	return p
}

// watch tracks the state of the server's connections. net/http calls an HTTP/2 connection idle before its first request: such a
// one counts as fresh. A client that opens several uses the first, which would otherwise be idle longest.
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
		l.admit()
	}
}

// connKey is the context key of a request's connection.
type connKey struct{}

// noteUse marks the connection of a request as used.
func noteUse(r *http.Request) {
	if p, _ := r.Context().Value(connKey{}).(*limitedConn); p != nil {
		p.used.Store(true)
	}
}

// limit applies the limiter to a server.
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

// full reports whether connections are waiting.
func (l *connLimiter) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0
}

// counts returns the numbers for the metrics.
func (l *connLimiter) counts() (open, idle, evicted, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.idle.Len(), l.evicted, l.refused
}

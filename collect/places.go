package collect

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// places divides the connections that all receivers together may have open among the customers that have receivers of streams.
// Nobody needs a key to connect, so without this the senders of one customer could shut out those of all others.
//
// A customer gets another place while it has fewer than are free: alone it gets half of them, and the next one always finds
// room. With one such customer in the instance there is nobody to keep places for, and it gets all. When there is no room, the
// customer with the most connections gives one up, see admit.
type places struct {
	mu        sync.Mutex // also guards the queues of all ports
	open      int
	customers map[belfry.CustomerID]*holder
}

// holder is a customer that has receivers of streams.
type holder struct {
	ports int // open ports
	conns queue
}

// holder finds that of a customer. The mutex is held.
func (p *places) holder(c belfry.CustomerID) *holder {
	h := p.customers[c]
	if h == nil {
		if p.customers == nil {
			p.customers = map[belfry.CustomerID]*holder{}
		}
		h = &holder{}
		p.customers[c] = h
	}
	return h
}

// tidy forgets a customer that has neither ports nor connections. The mutex is held.
func (p *places) tidy(c belfry.CustomerID) {
	if h := p.customers[c]; h != nil && h.ports == 0 && h.conns.Len() == 0 {
		delete(p.customers, c)
	}
}

// opened notes that a customer has one port more; closed, one less.
func (p *places) opened(c belfry.CustomerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holder(c).ports++
}

func (p *places) closed(c belfry.CustomerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holder(c).ports--
	p.tidy(c)
}

// admit tells whether a customer may have another connection when all of them may have so many. If there is no room, a
// connection of the customer with the most is closed, the longest silent first. A customer below its fair share may displace one
// that is in use, if the other customer is above; else only one that has been silent since quiet. The mutex is held.
func (p *places) admit(c belfry.CustomerID, most int, quiet int64) bool {
	own, free := p.holder(c), most-p.open
	if most == 0 || free > 0 && (len(p.customers) == 1 || own.conns.Len() < free) {
		return true
	}
	largest := own
	for _, h := range p.customers {
		if h.conns.Len() > largest.conns.Len() {
			largest = h
		}
	}
	fair := max(1, most/(len(p.customers)+1))
	if own.conns.Len() < fair && largest.conns.Len() > fair && largest.conns.evict(time.Now().UnixNano(), quiet) {
		return true
	}
	return largest.conns.evict(quiet, quiet) || own.conns.evict(quiet, quiet)
}

// connection is what is known of an open one.
type connection struct {
	conn  net.Conn
	of    *streams
	from  netip.Addr
	heard atomic.Int64  // when it last sent something, in Unix nanoseconds; until it does, when it was opened
	ended chan struct{} // closed when it is done with

	until   atomic.Int64 // when reading ends at the latest, in Unix nanoseconds, once its receiver goes; else 0
	reading atomic.Bool  // messages, after the handshake of TLS if there is one
	counted atomic.Bool  // that it was closed while it was in use

	waits [3]wait // its places in the queues of customer, port and address; the first is empty once it has left
}

// drain has what has arrived read, and then the connection ended.
func (c *connection) drain(until time.Time) {
	c.until.Store(until.UnixNano())
	if c.reading.Load() {
		c.conn.SetReadDeadline(time.Now()) // ends the read that is under way
	}
}

// wait is a place in a queue.
type wait struct {
	in *queue
	at *list.Element
}

// queue holds connections, roughly in the order in which they were last heard of. One that sends does not move until somebody
// looks for the longest silent one: sending must not need a lock.
type queue struct{ list.List }

// queued is a connection in a queue, and when it had last sent something when it got its place.
type queued struct {
	*connection
	heard int64
}

// lookAt is how many connections are looked at to find one that has been silent for long.
const lookAt = 64

func (q *queue) add(c *connection) wait {
	return wait{q, q.PushBack(&queued{c, c.heard.Load()})}
}

// silent is the connection that has been silent for longest, and since when. Among more than lookAt that have sent something since
// they were last looked at, it may be another that has been silent for long.
func (q *queue) silent() (c *connection, since int64) {
	for range min(lookAt, q.Len()) {
		at := q.Front()
		w := at.Value.(*queued)
		heard, moved := w.connection.heard.Load(), false
		if heard != w.heard {
			w.heard, moved = heard, true
			q.MoveToBack(at)
		}
		if c == nil || heard < since {
			c, since = w.connection, heard
		}
		if !moved {
			break
		}
	}
	return c, since
}

// evict closes the connection that has been silent for longest; false when that has sent something after the given moment. If
// it was not quiet, something that it was sending may be lost, so that is booked.
func (q *queue) evict(before, quiet int64) bool {
	c, since := q.silent()
	if c == nil || since > before {
		return false
	}
	if since > quiet {
		c.of.lose(c.from)
		c.counted.Store(true)
	}
	c.leave()
	c.conn.Close()
	return true
}

// enter gives a connection its places. The mutex of places is held.
func (c *connection) enter() {
	s := c.of
	s.env.places.open++
	same := s.addresses[c.from]
	if same == nil {
		same = &queue{}
		s.addresses[c.from] = same
	}
	c.waits = [3]wait{s.env.places.holder(s.port.customer).conns.add(c), s.conns.add(c), same.add(c)}
}

// leave takes it out of its places, once. The mutex of places is held.
func (c *connection) leave() {
	if c.waits[0].in == nil {
		return
	}
	for i, w := range c.waits {
		w.in.Remove(w.at)
		c.waits[i] = wait{}
	}
	s := c.of
	if s.addresses[c.from].Len() == 0 {
		delete(s.addresses, c.from)
	}
	s.env.places.open--
	s.env.places.tidy(s.port.customer)
}

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

// connLimiter divides the connections that all receivers together may have open among the customers that have receivers of streams.
// Nobody needs a key to connect, so without this the senders of one customer could shut out those of all others.
//
// A customer gets another place while it has fewer than are free: alone it gets half of them, and the next one always finds
// room. With one such customer in the instance there is nobody to keep places for, and it gets all. When there is no room, the
// customer with the most connections gives one up, see admit.
type connLimiter struct {
	mu        sync.Mutex // also guards the queues of all ports
	open      int
	customers map[belfry.CustomerID]*customerConns
}

// customerConns is a customer that has receivers of streams.
type customerConns struct {
	ports int // open ports
	conns connList
}

// customer finds that of a customer. The mutex is held.
func (p *connLimiter) customer(c belfry.CustomerID) *customerConns {
	h := p.customers[c]
	if h == nil {
		if p.customers == nil {
			p.customers = map[belfry.CustomerID]*customerConns{}
		}
		h = &customerConns{}
		p.customers[c] = h
	}
	return h
}

// forget forgets a customer that has neither ports nor connections. The mutex is held.
func (p *connLimiter) forget(c belfry.CustomerID) {
	if h := p.customers[c]; h != nil && h.ports == 0 && h.conns.Len() == 0 {
		delete(p.customers, c)
	}
}

// portOpened notes that a customer has one port more; closed, one less.
func (p *connLimiter) portOpened(c belfry.CustomerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.customer(c).ports++
}

func (p *connLimiter) portClosed(c belfry.CustomerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.customer(c).ports--
	p.forget(c)
}

// admit tells whether a customer may have another connection when all of them may have so many. If there is no room, a
// connection of the customer with the most is closed, the longest silent first. A customer below its fair share may displace one
// that is in use, if the other customer is above; else only one that has been silent since quiet. The mutex is held.
func (p *connLimiter) admit(c belfry.CustomerID, most int, quiet int64) bool {
	own, free := p.customer(c), most-p.open
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
	of    *tcpSocket
	from  netip.Addr
	heard atomic.Int64  // when it last sent something, in Unix nanoseconds; until it does, when it was opened
	ended chan struct{} // closed when it is done with

	until   atomic.Int64 // when reading ends at the latest, in Unix nanoseconds, once its receiver goes; else 0
	reading atomic.Bool  // messages, after the handshake of TLS if there is one
	counted atomic.Bool  // that it was closed while it was in use

	positions [3]listPosition // its places in the queues of customer, port and address; the first is empty once it has left
}

// drain has what has arrived read, and then the connection ended.
func (c *connection) drain(until time.Time) {
	c.until.Store(until.UnixNano())
	if c.reading.Load() {
		c.conn.SetReadDeadline(time.Now()) // ends the read that is under way
	}
}

// listPosition is a place in a queue.
type listPosition struct {
	in *connList
	at *list.Element
}

// connList holds connections, roughly in the order in which they were last heard of. One that sends does not move until somebody
// looks for the longest silent one: sending must not need a lock.
type connList struct{ list.List }

// connEntry is a connection in a queue, and when it had last sent something when it got its place.
type connEntry struct {
	*connection
	heard int64
}

// silentScan is how many connections are looked at to find one that has been silent for long.
const silentScan = 64

func (q *connList) add(c *connection) listPosition {
	return listPosition{q, q.PushBack(&connEntry{c, c.heard.Load()})}
}

// silent is the connection that has been silent for longest, and since when. Among more than lookAt that have sent something since
// they were last looked at, it may be another that has been silent for long.
func (q *connList) silent() (c *connection, since int64) {
	for range min(silentScan, q.Len()) {
		at := q.Front()
		w := at.Value.(*connEntry)
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
func (q *connList) evict(before, quiet int64) bool {
	c, since := q.silent()
	if c == nil || since > before {
		return false
	}
	if since > quiet {
		c.of.countRefused(c.from)
		c.counted.Store(true)
	}
	c.unregister()
	c.conn.Close()
	return true
}

// register gives a connection its places. The mutex of places is held.
func (c *connection) register() {
	s := c.of
	s.env.connLimit.open++
	same := s.addresses[c.from]
	if same == nil {
		same = &connList{}
		s.addresses[c.from] = same
	}
	c.positions = [3]listPosition{s.env.connLimit.customer(s.port.customer).conns.add(c), s.conns.add(c), same.add(c)}
}

// unregister takes it out of its places, once. The mutex of places is held.
func (c *connection) unregister() {
	if c.positions[0].in == nil {
		return
	}
	for i, w := range c.positions {
		w.in.Remove(w.at)
		c.positions[i] = listPosition{}
	}
	s := c.of
	if s.addresses[c.from].Len() == 0 {
		delete(s.addresses, c.from)
	}
	s.env.connLimit.open--
	s.env.connLimit.forget(s.port.customer)
}

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

// connLimiter divides the connections that all receivers may have open among the customers with TCP receivers. Connecting needs
// no key, so without it the senders of one customer could shut out those of all others.
//
// A customer may open a connection while it has fewer than are free: alone it gets half of them, so that the next one finds
// room. If only one customer has TCP receivers, it gets all. When none is free, the customer with the most connections loses
// one, see admit.
type connLimiter struct {
	mu        sync.Mutex // also guards the connection lists of all ports
	open      int
	customers map[belfry.CustomerID]*customerConns
}

// customerConns are the ports and connections of a customer.
type customerConns struct {
	ports int // open ports
	conns connList
}

// customer returns the entry of a customer, and adds it if need be. The mutex is held.
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

// forget removes a customer without ports and connections. The mutex is held.
func (p *connLimiter) forget(c belfry.CustomerID) {
	if h := p.customers[c]; h != nil && h.ports == 0 && h.conns.Len() == 0 {
		delete(p.customers, c)
	}
}

// portOpened counts a port of a customer until portClosed.
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

// admit reports whether a customer may open another connection under a limit. When none is free, it closes a connection
// of the customer with the most, the longest silent first. A customer below its fair share may displace an active connection of
// one above; otherwise only one that has been silent since quiet. The mutex is held.
func (p *connLimiter) admit(c belfry.CustomerID, limit int, quiet int64) bool {
	own, free := p.customer(c), limit-p.open
	if limit == 0 || free > 0 && (len(p.customers) == 1 || own.conns.Len() < free) {
		return true
	}
	largest := own
	for _, h := range p.customers {
		if h.conns.Len() > largest.conns.Len() {
			largest = h
		}
	}
	fair := max(1, limit/(len(p.customers)+1))
	if own.conns.Len() < fair && largest.conns.Len() > fair && largest.conns.evict(time.Now().UnixNano(), quiet) {
		return true
	}
	return largest.conns.evict(quiet, quiet) || own.conns.evict(quiet, quiet)
}

// connection is an open connection.
type connection struct {
	conn     net.Conn
	of       *tcpSocket
	from     netip.Addr
	lastSeen atomic.Int64  // last data or, before any, when it was opened; Unix nanoseconds
	ended    chan struct{} // closed when it has ended

	until   atomic.Int64 // while draining: when reading ends, in Unix nanoseconds; else 0
	reading atomic.Bool  // after the TLS handshake, if any
	counted atomic.Bool  // it was evicted while active, and counted

	positions [3]listPosition // in the lists of customer, port and address; empty once removed
}

// drain makes the connection read what has arrived and then end.
func (c *connection) drain(until time.Time) {
	c.until.Store(until.UnixNano())
	if c.reading.Load() {
		c.conn.SetReadDeadline(time.Now()) // interrupts the current read
	}
}

// listPosition is the element of a connection in a list.
type listPosition struct {
	in *connList
	at *list.Element
}

// connList holds connections roughly by the time of their last data. A connection that sends is moved only when silent looks
// for the longest silent one, because sending must not take a lock.
type connList struct{ list.List }

// connEntry is a connection in a list, with the time of its last data when it was put there.
type connEntry struct {
	*connection
	lastSeen int64
}

// silentScan limits how many connections are examined to find a silent one.
const silentScan = 64

func (q *connList) add(c *connection) listPosition {
	return listPosition{q, q.PushBack(&connEntry{c, c.lastSeen.Load()})}
}

// silent returns the connection that has been silent for longest, and since when. If more than silentScan have sent data since
// they were last examined, it may be another one that has been silent for long.
func (q *connList) silent() (c *connection, since int64) {
	for range min(silentScan, q.Len()) {
		at := q.Front()
		w := at.Value.(*connEntry)
		lastSeen, moved := w.connection.lastSeen.Load(), false
		if lastSeen != w.lastSeen {
			w.lastSeen, moved = lastSeen, true
			q.MoveToBack(at)
		}
		if c == nil || lastSeen < since {
			c, since = w.connection, lastSeen
		}
		if !moved {
			break
		}
	}
	return c, since
}

// evict closes the connection that has been silent for longest, unless it has sent data after the given moment. If it was not
// quiet, a message may be lost, which is counted.
func (q *connList) evict(before, quiet int64) bool {
	c, since := q.silent()
	if c == nil || since > before {
		return false
	}
	if since > quiet {
		c.of.countLost(c.from, DropConnections)
		c.counted.Store(true)
	}
	c.unregister()
	c.conn.Close()
	return true
}

// register adds the connection to its lists. The limiter's mutex is held.
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

// unregister removes the connection from its lists, once. The limiter's mutex is held.
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

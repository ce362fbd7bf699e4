package store

import (
	"context"
	"time"

	"belfry"
)

// The backlog is limited, because it is in memory. The limit is for all customers together, so one that sends faster than the
// store could use it up, and all others would be rejected. So a quarter more is reserved for customers with a small backlog:
// they are not slowed down, and rejected only when that quarter is full too.
//
// The limit can be exceeded: Room knows the number of rows but not their load, and several bodies may pass it before the first
// of them is added. So customers with a large backlog count as the limit at most when the quarter is assigned.
const (
	// normalRow is the size up to which a row counts as one, in bytes. Larger ones count as several, so that the memory of the
	// backlog is bounded too.
	normalRow = 256

	// Rows of longRow bytes or more on average count as four times as many: the store writes no more bytes per second than of
	// short ones, and a query waits for all rows that were added before it, of any customer.
	longRow    = 4096
	longWeight = 4

	// dayLoad is the additional load of each further day that rows of a record belong to: each day costs a commit.
	dayLoad = 1000

	smallShare    = 8 // a backlog up to this fraction of the limit is small
	reservedShare = 4 // this fraction of the limit is reserved in addition

	// A query waits for all rows that were added before the last rows of its customer, of any customer. So after a query had to
	// wait, the backlog of other customers is limited for some time to this fraction of the limit.
	queryShare    = 16
	queryShareFor = 10 * time.Second
)

// share is the part of a customer in a record.
type share struct {
	customer    belfry.CustomerID
	rows, bytes int
	days        int // that they belong to, without the first of each batch
}

// load returns the load: rows, each of normalRow at most.
func (s *share) load() int {
	bytes := s.bytes
	if bytes >= s.rows*longRow {
		bytes *= longWeight
	}
	return max(s.rows, bytes/normalRow) + s.days*dayLoad
}

func sharesOf(batches []*belfry.Batch) (list []share) {
	for _, b := range batches {
		i := 0
		for i < len(list) && list[i].customer != b.Customer {
			i++
		}
		if i == len(list) {
			list = append(list, share{customer: b.Customer})
		}
		list[i].rows += b.Len()
		list[i].bytes += sizeOf(b)
		list[i].days += moreDays(b.Times)
	}
	return list
}

// moreDays counts the days of times, without the first.
func moreDays(times []belfry.Time) int {
	const day = belfry.Time(24 * time.Hour / time.Microsecond)
	if len(times) == 0 {
		return 0
	}
	first := times[0] / day
	var others map[belfry.Time]bool // nearly always nil
	for _, t := range times {
		if d := t / day; d != first {
			if others == nil {
				others = map[belfry.Time]bool{}
			}
			others[d] = true
		}
	}
	return len(others)
}

// sizeOf returns the approximate memory of a batch.
func sizeOf(b *belfry.Batch) (bytes int) {
	for i := range b.Columns {
		c := &b.Columns[i]
		bytes += 8*(len(c.Numbers)+len(c.Ints)) + 16*len(c.Texts)
		for _, t := range c.Texts {
			bytes += len(t)
		}
	}
	return bytes
}

// addLoad adds the load of a record, or subtracts it if sign is -1. The caller holds the mutex.
func (m *Mover) addLoad(w *queued, sign int) {
	for i := range w.shares {
		s := &w.shares[i]
		before := m.loads[s.customer]
		after := before + sign*s.load()
		m.load += after - before
		m.smallLoad += m.ifSmall(after) - m.ifSmall(before)
		if m.loads[s.customer] = after; after == 0 {
			delete(m.loads, s.customer)
		}
	}
}

// ifSmall returns the load of a customer if it is small, otherwise 0.
func (m *Mover) ifSmall(load int) int {
	if load > m.opt.MaxBacklog/smallShare {
		return 0
	}
	return load
}

// maxPause is how long Room delays a request when the backlog is nearly full.
const maxPause = 100 * time.Millisecond

// Room delays a request that brings rows while the backlog is large: not at all while it is small, then for a time that
// grows with it, and at the limit until it is smaller. So senders that are faster than the store adapt to its pace with
// room to spare, and rows that arrive while the store pauses to checkpoint its log use that room instead of being
// rejected. A customer with a small backlog is not delayed by the rows of others, see reservedShare. If ctx ends first,
// the error is Overloaded; if the store fails, it is StorageUnavailable, without a delay.
func (m *Mover) Room(ctx context.Context, c belfry.CustomerID, rows int) error {
	pause := m.pause(c, rows)
	for {
		m.mu.Lock()
		load, changed, limit, full := m.loads[c], m.changed, m.maxLoad(), m.full(c, rows)
		var failing error
		if full && m.failures >= Stuck {
			failing = m.unavailable("nothing more can be taken")
		}
		m.mu.Unlock()
		if failing != nil {
			return failing
		}
		if !full && pause == nil {
			return nil
		}
		if full {
			pause = nil // waiting for room replaces the pause
		} else {
			changed = nil
		}
		select {
		case <-pause:
			pause = nil
		case <-changed:
		case <-ctx.Done():
			return belfry.Errorf(belfry.Overloaded, "too many rows wait to be stored: %d of this customer, where a row of more than %d bytes counts as several and each further day of a body as %d, and %d may wait in all; send again later", load, normalRow, dayLoad, limit)
		}
	}
}

// HasRoom reports whether rows may come in without a delay.
func (m *Mover) HasRoom(c belfry.CustomerID, rows int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.full(c, rows) && (m.load+rows <= m.opt.MaxBacklog/2 || m.isSmall(c, rows))
}

// full reports whether rows of the customer have to wait. The caller holds the mutex.
func (m *Mover) full(c belfry.CustomerID, rows int) bool {
	if own := m.loads[c]; own > 0 && own+rows > m.opt.MaxBacklog/queryShare && m.othersWaited(c) {
		return true
	}
	limit := m.maxLoad()
	if m.load == 0 || m.load+rows <= limit {
		return false
	}
	if !m.isSmall(c, rows) {
		return true
	}
	large := min(m.load-m.smallLoad, limit)
	return large+m.smallLoad+rows > limit+limit/reservedShare
}

// othersWaited reports whether a query of another customer had to wait recently. The caller holds the mutex.
func (m *Mover) othersWaited(c belfry.CustomerID) (waited bool) {
	for other, at := range m.queryWaits {
		switch {
		case elapsed(at) > queryShareFor:
			delete(m.queryWaits, other)
		case other != c:
			waited = true
		}
	}
	return waited
}

// isSmall reports whether the customer's backlog is small with that many more rows. The caller holds the mutex.
func (m *Mover) isSmall(c belfry.CustomerID, rows int) bool {
	return m.loads[c]+rows <= m.opt.MaxBacklog/smallShare
}

// pause returns a channel that receives when a request has waited as long as the backlog requires; nil if it need not
// wait.
func (m *Mover) pause(c belfry.CustomerID, rows int) <-chan time.Time {
	m.mu.Lock()
	load, closing, small := m.load, m.closing, m.isSmall(c, rows)
	m.mu.Unlock()
	few := m.opt.MaxBacklog / 2
	if load <= few || closing || small {
		return nil
	}
	load = min(load, m.opt.MaxBacklog) // the rest is of customers that are not delayed
	return time.After(maxPause * time.Duration(load-few) / time.Duration(m.opt.MaxBacklog-few))
}

// maxLoad returns the limit of the backlog. The caller holds the mutex.
func (m *Mover) maxLoad() int {
	if m.closing {
		return 2 * m.opt.MaxBacklog
	}
	return m.opt.MaxBacklog
}

// Waiting returns since when the oldest row has waited to be stored; the zero time if none does.
func (m *Mover) Waiting() (since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == 0 {
		return since
	}
	since = m.oldest
	if !m.deferred.empty() && m.deferred.since.Before(since) {
		since = m.deferred.since
	}
	return since
}

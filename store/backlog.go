package store

import (
	"context"
	"time"

	"belfry"
)

// What waits for the store is limited, as it is in memory. The limit is for all customers together, so one that sends faster
// than the store takes rows could use it up, and everybody else would be refused. So a quarter more is set aside for
// customers of which little waits: they are not slowed down, and refused only when that quarter is full, too.
//
// The limit can be exceeded: Room knows the number of rows but not their weight, and several bodies may pass it before the
// first of them is added. So customers of which much waits count as the limit at most when the quarter is given out.
const (
	// usualRow is the size up to which a row counts as one, in bytes. Larger ones count as several, so that what waits is
	// bounded in memory, too.
	usualRow = 256

	// Rows of longRow and more on average count as four times as many: the store takes no more bytes per second than of
	// short ones, and a query waits for all that was added before it, whoever sent it.
	longRow    = 4096
	longWeight = 4

	// Rows of a record that belong to many days count as so many more for each of them: each day costs a commit.
	dayLoad = 1000

	littleShare = 8 // little is this part of the limit
	asideShare  = 4 // and this part is set aside

	// A query waits for all that was added before the last rows of its customer, whoever sent it. So when that has happened,
	// other customers may for some time have no more waiting than this part of the limit.
	askedShare = 16
	askedFor   = 10 * time.Second
)

// share is what a customer has in a record.
type share struct {
	customer    belfry.CustomerID
	rows, bytes int
	days        int // to which they belong, but for the first of each batch
}

// load is how much it counts: rows, each of usualRow at most.
func (s *share) load() int {
	bytes := s.bytes
	if bytes >= s.rows*longRow {
		bytes *= longWeight
	}
	return max(s.rows, bytes/usualRow) + s.days*dayLoad
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
	var others map[belfry.Time]bool // nearly always there are none
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

// sizeOf is about what a batch takes in memory.
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

// weigh counts a record in, or out when sign is -1. The mutex is held.
func (m *Mover) weigh(w *waiting, sign int) {
	for i := range w.shares {
		s := &w.shares[i]
		before := m.loads[s.customer]
		after := before + sign*s.load()
		m.load += after - before
		m.littles += m.ifLittle(after) - m.ifLittle(before)
		if m.loads[s.customer] = after; after == 0 {
			delete(m.loads, s.customer)
		}
	}
}

// ifLittle is the load of a customer if it is little, otherwise 0.
func (m *Mover) ifLittle(load int) int {
	if load > m.opt.MaxBacklog/littleShare {
		return 0
	}
	return load
}

// longestPause is how long Room holds a request up when the backlog is nearly full.
const longestPause = 100 * time.Millisecond

// Room holds up a request that brings rows while others wait to be stored: not at all while they are few, then for a
// moment that grows with them, and at the limit until there are fewer. So senders that are faster than the store settle
// to its pace with room still free, and when the store stops for a while to fold its log, what arrives
// meanwhile finds that room instead of a closed door. A customer of which little waits is not held up by what others have
// sent, see asideShare. When ctx ends first, the error is Overloaded; when the store fails, it is StorageUnavailable and
// comes at once.
func (m *Mover) Room(ctx context.Context, c belfry.CustomerID, rows int) error {
	pause := m.pause(c, rows)
	for {
		m.mu.Lock()
		waiting, changed, most, full := m.loads[c], m.changed, m.most(), m.full(c, rows)
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
			pause = nil // it will have waited long enough
		} else {
			changed = nil
		}
		select {
		case <-pause:
			pause = nil
		case <-changed:
		case <-ctx.Done():
			return belfry.Errorf(belfry.Overloaded, "too many rows wait to be stored: %d of this customer, where a row of more than %d bytes counts as several and each further day of a body as %d, and %d may wait in all; send again later", waiting, usualRow, dayLoad, most)
		}
	}
}

// Roomy tells whether rows may come in without a wait.
func (m *Mover) Roomy(c belfry.CustomerID, rows int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.full(c, rows) && (m.load+rows <= m.opt.MaxBacklog/2 || m.little(c, rows))
}

// full tells whether rows of the customer have to wait. The mutex is held.
func (m *Mover) full(c belfry.CustomerID, rows int) bool {
	if own := m.loads[c]; own > 0 && own+rows > m.opt.MaxBacklog/askedShare && m.askedByOthers(c) {
		return true
	}
	most := m.most()
	if m.load == 0 || m.load+rows <= most {
		return false
	}
	if !m.little(c, rows) {
		return true
	}
	much := min(m.load-m.littles, most)
	return much+m.littles+rows > most+most/asideShare
}

// askedByOthers tells whether a query of another customer had to wait lately. The mutex is held.
func (m *Mover) askedByOthers(c belfry.CustomerID) (asked bool) {
	for other, at := range m.asked {
		switch {
		case past(at) > askedFor:
			delete(m.asked, other)
		case other != c:
			asked = true
		}
	}
	return asked
}

// little tells whether the customer has little waiting, with so many rows more. The mutex is held.
func (m *Mover) little(c belfry.CustomerID, rows int) bool {
	return m.loads[c]+rows <= m.opt.MaxBacklog/littleShare
}

// pause ends when a request has waited for as long as the backlog asks; nil when it need not wait.
func (m *Mover) pause(c belfry.CustomerID, rows int) <-chan time.Time {
	m.mu.Lock()
	waiting, closing, little := m.load, m.closing, m.little(c, rows)
	m.mu.Unlock()
	few := m.opt.MaxBacklog / 2
	if waiting <= few || closing || little {
		return nil
	}
	waiting = min(waiting, m.opt.MaxBacklog) // beyond are rows of those who are not held up
	return time.After(longestPause * time.Duration(waiting-few) / time.Duration(m.opt.MaxBacklog-few))
}

// most is how much may wait. The mutex is held.
func (m *Mover) most() int {
	if m.closing {
		return 2 * m.opt.MaxBacklog
	}
	return m.opt.MaxBacklog
}

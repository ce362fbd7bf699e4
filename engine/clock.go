package engine

import (
	"container/heap"
	"slices"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// clock knows when something will be due with which item: data overdue, a window to open or to close, an acknowledgment
// that ends. All of it follows from what the tree holds, so nothing of the clock itself is kept on disk.
//
// An item has one entry that counts. When its moment comes later than thought, as with every row that arrives, the entry
// stays where it is, and the item is looked at once for nothing.
type clock struct {
	since   belfry.Time              // when this process began to listen, or the clock was last set
	entries moments                  // by time
	next    meta.Sparse[belfry.Time] // by item: the entry that counts; 0 when there is none
	unseen  map[belfry.ID]bool       // items to be judged when they are due, see tx.resettle
}

type moment struct {
	at   belfry.Time
	item belfry.ID
}

type moments []moment

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i].at < m[j].at }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(v any)        { *m = append(*m, v.(moment)) }
func (m *moments) Pop() any {
	last := len(*m) - 1
	v := (*m)[last]
	*m = (*m)[:last]
	return v
}

// set makes an item be looked at no later than the given moment; 0 is never.
func (c *clock) set(id belfry.ID, at belfry.Time) {
	if at == 0 {
		return
	}
	if was := c.next.At(uint64(id)); was != 0 && was <= at {
		return
	}
	c.next.Set(uint64(id), at)
	heap.Push(&c.entries, moment{at, id})
}

// forget takes an item out that has been removed. Its entries go when their time comes, or when most entries are such.
func (c *clock) forget(id belfry.ID) {
	delete(c.unseen, id)
	c.next.Set(uint64(id), 0)
	const few = 1024
	if len(c.entries) <= 2*c.next.Len()+few {
		return
	}
	kept := c.entries[:0]
	for _, m := range c.entries {
		if c.next.At(uint64(m.item)) == m.at {
			kept = append(kept, m)
		}
	}
	c.entries = slices.Clone(kept)
	heap.Init(&c.entries)
}

// take gives items that are due, the most overdue first, and forgets their entries.
func (c *clock) take(now belfry.Time, most int) (ids []belfry.ID) {
	for len(c.entries) > 0 && c.entries[0].at <= now && len(ids) < most {
		m := heap.Pop(&c.entries).(moment)
		if c.next.At(uint64(m.item)) == m.at {
			c.next.Set(uint64(m.item), 0)
			ids = append(ids, m.item)
		}
	}
	return ids
}

// wait tells how long there is nothing to do; false when there is nothing at all.
func (c *clock) wait(now belfry.Time) (time.Duration, bool) {
	if len(c.entries) == 0 {
		return 0, false
	}
	return time.Duration(max(c.entries[0].at-now, 0)) * time.Microsecond, true
}

// look finds out anew when an item is due; for the goroutine that applies records.
func (s *Sequencer) look(n *meta.Node) {
	if n == nil || n.Removed != 0 || n.Kind == belfry.KindElement || s.cfg.Tree.Node(n.ID) != n { // of a dry run
		return
	}
	rules := s.rules(n)
	due := status.Due(n.State.State, rules, s.clock.since, s.Now())
	if rules.Watch != nil || n.State.OffHours {
		s.lookAtWatch(n, rules.Watch)
	}
	if window := status.WindowDue(n.State.Operator); window != 0 && (due == 0 || window < due) {
		due = window
	}
	s.clock.set(n.ID, due)
}

// Since is when this process began to listen: nothing counts as heard before. It is 0 until then.
func (s *Sequencer) Since() belfry.Time { return belfry.Time(s.since.Load()) }

// listen begins to wait for what will be due.
func (s *Sequencer) listen() {
	now := s.Now()
	s.clock.since = now
	s.since.Store(int64(now))
	for _, c := range s.cfg.Tree.Customers() {
		s.cfg.Tree.Tenant(c.ID).All(func(n *meta.Node) bool {
			s.look(n)
			if n.State.Operator.HasWindows() {
				if _, _, changed := status.Rewind(*n.State.Operator, now); changed {
					s.clock.set(n.ID, now)
				}
			}
			return true
		})
	}
}

const (
	tickItems = 1000                   // so many at a time, so that those who send have their turn between
	tickAgain = belfry.Time(1_000_000) // microseconds until what could not be stored is tried again
)

// tick lets what is due happen, and tells whether anything was.
func (s *Sequencer) tick() bool {
	if len(s.clock.entries) == 0 {
		return false
	}
	now := s.Now()
	ids := s.clock.take(now, tickItems)
	if len(ids) == 0 {
		return false
	}
	due := map[belfry.CustomerID][]*meta.Node{}
	for _, id := range ids {
		if n := s.cfg.Tree.Node(id); n != nil && n.Removed == 0 {
			due[n.Customer] = append(due[n.Customer], n)
		}
	}
	for customer, nodes := range due {
		c := &Command{Customer: customer, Alone: true, Done: make(chan struct{}), Decide: func(t *Tx) error {
			t.pass(nodes)
			return nil
		}}
		s.round([]*Command{c})
		if c.Err != nil {
			for _, n := range nodes {
				s.clock.set(n.ID, now+tickAgain)
			}
			continue
		}
		for _, n := range nodes {
			delete(s.clock.unseen, n.ID)
		}
	}
	return true
}

// pass lets time pass for items. What is due at the same moment has an order: first comes silence, then acknowledgments
// end, then windows open and close, those further out first.
func (t *Tx) pass(nodes []*meta.Node) {
	t.Together(func() { t.lapse(nodes, true) })
	t.Together(func() { t.lapse(nodes, false) })
	t.passWindows(nodes)
	t.s.wake = append(t.s.wake, nodes...)
}

// lapse lets time pass for objects, or for all else: what these show follows from the objects in them.
func (t *Tx) lapse(nodes []*meta.Node, objects bool) {
	for _, n := range nodes {
		if (n.Kind == belfry.KindObject) != objects {
			continue
		}
		if t.seq.clock.unseen[n.ID] {
			t.judgeObject(n)
		}
		t.passWatch(n)
		i := t.s.draft(n)
		s := t.s.drafts[i].state
		at := t.Now
		if stale := status.Stale(s, t.rules(n), t.seq.clock.since, t.Now); stale != 0 && stale < at {
			at = stale
		}
		next, c := status.Lapse(s, t.rules(n), t.seq.clock.since, t.Now)
		t.begin()
		t.take(i, next, c, at)
	}
}

// turn is an item whose window has opened, or closed, or both when nobody looked for a while.
type turn struct {
	node   *meta.Node
	passed []status.Passage
}

// passWindows lets windows open and close, as far as their time has come.
func (t *Tx) passWindows(nodes []*meta.Node) {
	var turns []turn
	for _, n := range nodes {
		if u, ok := t.passWindow(n); ok {
			turns = append(turns, u)
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return depth(a.node) - depth(b.node) })
	var told []func()
	for _, u := range turns {
		for i, p := range u.passed {
			f := t.manageEvent(u.node, p.At, windowText(p), p.By)
			if i == len(u.passed)-1 { // what it would have shown before that, nobody has seen
				told = append(told, f)
			}
		}
	}
	t.Together(func() {
		later := map[*meta.Node]bool{}
		for _, u := range turns {
			if t.standsInAny(u.node, later) {
				continue // it gets its mode in its turn; before that the views between would show that it has another
			}
			last := u.passed[len(u.passed)-1]
			rest := t.cover(covering{at: last.At, top: u.node, by: last.By})
			t.finishLater(rest)
			later[u.node] = rest != ""
		}
	})
	for _, f := range told {
		f()
	}
}

// standsInAny tells whether an item stands in one of some others, at any depth.
func (t *Tx) standsInAny(n *meta.Node, others map[*meta.Node]bool) bool {
	for n = t.Parent(n); n != nil; n = t.Parent(n) {
		if others[n] {
			return true
		}
	}
	return false
}

// passWindow sets what the windows of an item make of its care.
func (t *Tx) passWindow(n *meta.Node) (turn, bool) {
	i := t.s.draft(n)
	s := t.s.drafts[i].state
	prev := s
	if !s.Operator.HasWindows() {
		return turn{}, false
	}
	at := t.Now
	care, passed, changed := status.Rewind(*s.Operator, t.Now)
	if !changed {
		if at = status.WindowDue(s.Operator); at == 0 || at > t.Now {
			return turn{}, false
		}
		care, passed = status.PassWindows(*s.Operator, t.Now)
	}
	if s.Operator = &care; care.IsZero() {
		s.Operator = nil
	}
	t.s.drafts[i].state = s
	t.keep(n, s)
	t.remember(n, &prev, &s, false, at)
	return turn{n, passed}, len(passed) > 0
}

func windowText(p status.Passage) string {
	text := "window "
	if p.Name != "" {
		text += p.Name + " "
	}
	if p.Open {
		return text + "opened: " + p.Mode.String()
	}
	return text + "closed: " + p.Mode.String()
}

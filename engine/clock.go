package engine

import (
	"container/heap"
	"slices"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// clock is a timer queue of items: data overdue, a window to open or close, an acknowledgment to end. It is derived from the
// tree, so it is not stored.
//
// An item has one valid entry. If its time moves later, as with every row, the entry stays, and the item is checked once in
// vain.
type clock struct {
	since   belfry.Time                        // when this process started, or the clock was last set
	entries moments                            // by time
	next    meta.SparseArray[belfry.Time]      // by item: the valid entry; 0: none
	unseen  map[belfry.ID]bool                 // objects to evaluate when they are due, see Tx.reevaluate
	due     map[belfry.CustomerID][]*meta.Node // with valid entries that have been removed from entries
	turns   []belfry.CustomerID                // customers with such items, each once
}

type moment struct {
	at   belfry.Time
	item belfry.ID
}

type moments []moment

func (m moments) Len() int { return len(m) }
func (m moments) Less(i, j int) bool {
	return m[i].at < m[j].at || m[i].at == m[j].at && m[i].item < m[j].item // views are mostly older than their content
}
func (m moments) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(v any)   { *m = append(*m, v.(moment)) }
func (m *moments) Pop() any {
	last := len(*m) - 1
	v := (*m)[last]
	*m = (*m)[:last]
	return v
}

// set schedules an item for the given time at the latest; 0: never.
func (c *clock) set(id belfry.ID, at belfry.Time) {
	if was := c.next.At(uint64(id)); at == 0 || was != 0 && was <= at {
		return
	}
	c.next.Set(uint64(id), at)
	heap.Push(&c.entries, moment{at, id})
}

// forget removes an item. Its entries are dropped when they are due, or when most entries are invalid.
func (c *clock) forget(id belfry.ID) {
	delete(c.unseen, id)
	c.next.Set(uint64(id), 0)
	const few = 1024
	if len(c.entries) <= 2*c.next.Len()+few {
		return
	}
	invalid := func(m moment) bool { return c.next.At(uint64(m.item)) != m.at }
	c.entries = slices.Clone(slices.DeleteFunc(c.entries, invalid))
	heap.Init(&c.entries)
}

// collect moves entries that are due to the lists of their customers, the most overdue first.
func (c *clock) collect(now belfry.Time, tree *meta.Tree) {
	for left := tickEntries; left > 0 && len(c.entries) > 0 && c.entries[0].at <= now; left-- {
		m := heap.Pop(&c.entries).(moment)
		n := tree.Node(m.item)
		if n == nil || c.next.At(uint64(m.item)) != m.at {
			continue
		}
		if len(c.due[n.Customer]) == 0 {
			c.turns = append(c.turns, n.Customer)
		}
		c.due[n.Customer] = append(c.due[n.Customer], n)
	}
}

// nextTurn removes and returns the items that are due for the next customer, as many as fit into a turn.
func (c *clock) nextTurn(tree *meta.Tree) (customer belfry.CustomerID, nodes []*meta.Node) {
	customer, c.turns = c.turns[0], c.turns[1:]
	list, turn := c.due[customer], turnBudget{left: tickItems, around: map[*meta.Node]bool{}}
	for ; len(list) > 0 && turn.spend(list[0], turnItems); list = list[1:] {
		n := list[0]
		if c.next.Set(uint64(n.ID), 0); tree.Node(n.ID) != n || n.Removed != 0 {
			continue
		}
		if nodes = append(nodes, n); n.State.Operator != nil {
			turn.left -= len(n.State.Operator.Windows) // each writes events
		}
	}
	if delete(c.due, customer); len(list) > 0 {
		c.due[customer], c.turns = list, append(c.turns, customer)
	}
	return customer, nodes
}

// wait returns the time until the next entry is due; false: there is none.
func (c *clock) wait(now belfry.Time) (time.Duration, bool) {
	if len(c.turns) > 0 || len(c.entries) == 0 {
		return 0, len(c.turns) > 0
	}
	return time.Duration(max(c.entries[0].at-now, 0)) * time.Microsecond, true
}

// schedule computes when an item is due. Only the sequencer may call it.
func (s *Sequencer) schedule(n *meta.Node) {
	if n == nil || n.Removed != 0 || n.Kind == belfry.KindElement || s.cfg.Tree.Node(n.ID) != n { // of a dry run
		return
	}
	rules := s.rules(n)
	due := status.Due(n.State.State, rules, s.clock.since, s.Now())
	if rules.Watch != nil || n.State.OffHours {
		s.scheduleWatch(n, rules.Watch)
	}
	if window := status.WindowDue(n.State.Operator); window != 0 && (due == 0 || window < due) {
		due = window
	}
	s.clock.set(n.ID, due)
}

// Since returns when this process started to receive data; 0 before that.
func (s *Sequencer) Since() belfry.Time { return belfry.Time(s.since.Load()) }

// startClock schedules all items.
func (s *Sequencer) startClock() {
	now := s.Now()
	s.clock.since = now
	s.since.Store(int64(now))
	for _, c := range s.cfg.Tree.Access().Customers() {
		s.cfg.Tree.Tenant(c.ID).All(func(n *meta.Node) bool {
			s.schedule(n)
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
	tickItems   = 1000                   // per round, items and windows on them
	tickEntries = 10_000                 // assigned to customers at a time
	tickAgain   = belfry.Time(1_000_000) // microseconds until a failed round is retried
)

// tick runs a round of what is due for a customer, and reports whether there was any. Customers take turns.
func (s *Sequencer) tick() bool {
	now := s.Now()
	if s.clock.collect(now, s.cfg.Tree); len(s.clock.turns) == 0 {
		return false
	}
	customer, nodes := s.clock.nextTurn(s.cfg.Tree)
	c := &Command{Customer: customer, Alone: true, Done: make(chan struct{}), Decide: func(t *Tx) error {
		t.crossTime(nodes)
		return nil
	}}
	s.round([]*Command{c})
	for _, n := range nodes {
		if c.Err != nil {
			s.clock.set(n.ID, now+tickAgain)
		} else {
			delete(s.clock.unseen, n.ID)
		}
	}
	s.afterLong, s.afterClock = true, true
	return true
}

// crossTime applies what is due for items, in this order: silence, the end of acknowledgments, then windows, outer items
// first.
func (t *Tx) crossTime(nodes []*meta.Node) {
	t.DeferRollup(func() { t.expire(nodes, true) })
	t.DeferRollup(func() { t.expire(nodes, false) })
	t.crossWindows(nodes)
	t.s.wake = append(t.s.wake, nodes...)
}

// expire applies what time changes for objects, or for the other items, whose status follows from the objects.
func (t *Tx) expire(nodes []*meta.Node, objects bool) {
	for _, n := range nodes {
		if (n.Kind == belfry.KindObject) != objects {
			continue
		}
		if t.seq.clock.unseen[n.ID] {
			t.evaluateObject(n)
		}
		t.crossPeriod(n)
		i := t.s.draft(n)
		s, at := t.s.drafts[i].state, t.Now
		if stale := status.Stale(s, t.rules(n), t.seq.clock.since, t.Now); stale != 0 && stale < at {
			at = stale
		}
		next, c := status.Expire(s, t.rules(n), t.seq.clock.since, t.Now)
		t.resetCauses()
		t.apply(i, next, c, at)
	}
}

// turn is an item whose windows have opened or closed.
type turn struct {
	node   *meta.Node
	passed []status.Passage
}

// crossWindows opens and closes the windows that are due.
func (t *Tx) crossWindows(nodes []*meta.Node) {
	var turns []turn
	for _, n := range nodes {
		if u, ok := t.crossWindow(n); ok {
			turns = append(turns, u)
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return depth(a.node) - depth(b.node) })
	var complete []func()
	for _, u := range turns {
		for i, p := range u.passed {
			f := t.manageEvent(u.node, p.At, windowText(p), p.By)
			if i == len(u.passed)-1 { // the states before the last were never visible
				complete = append(complete, f)
			}
		}
	}
	t.DeferRollup(func() {
		later := map[*meta.Node]bool{}
		for _, u := range turns {
			if t.standsInAny(u.node, later) {
				continue // it gets its mode in a later turn, after the views between
			}
			last := u.passed[len(u.passed)-1]
			rest := t.applyMode(modeChange{at: last.At, top: u.node, by: last.By})
			t.deferRest(rest)
			later[u.node] = rest != ""
		}
	})
	for _, f := range complete {
		f()
	}
}

// standsInAny reports whether an item is inside one of others, at any depth.
func (t *Tx) standsInAny(n *meta.Node, others map[*meta.Node]bool) bool {
	for n = t.Parent(n); n != nil; n = t.Parent(n) {
		if others[n] {
			return true
		}
	}
	return false
}

// crossWindow applies the windows of an item to its operator state.
func (t *Tx) crossWindow(n *meta.Node) (turn, bool) {
	i := t.s.draft(n)
	s := t.s.drafts[i].state
	prev := s
	if !s.Operator.HasWindows() {
		return turn{}, false
	}
	at := t.Now
	op, passed, changed := status.Rewind(*s.Operator, t.Now)
	if !changed {
		if at = status.WindowDue(s.Operator); at == 0 || at > t.Now {
			return turn{}, false
		}
		op, passed = status.PassWindows(*s.Operator, t.Now)
	}
	if s.Operator = &op; op.IsZero() {
		s.Operator = nil
	}
	t.s.drafts[i].state = s
	t.recordState(n, s)
	t.recordHistory(n, &prev, &s, false, at)
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

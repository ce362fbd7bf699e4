package engine

import (
	"belfry"
	"belfry/meta"
	"belfry/status"
)

// inherit gives a new item the mode of what it stands in.
func (t *Tx) inherit(n *meta.Node) {
	around := t.modeAround(n)
	if around == belfry.Managed {
		return
	}
	d := &t.s.drafts[t.s.draft(n)]
	prev := d.state
	d.state.Mode = around
	t.keep(n, d.state)
	t.remember(n, &prev, &d.state, false, t.Now)
}

// Mode is how an item is managed, as the round has it.
func (t *Tx) Mode(n *meta.Node) belfry.Mode { return t.stateOf(n).Mode }

// ownMode is the mode that was set on an item itself.
func ownMode(s *belfry.State) belfry.Mode {
	if s.Operator == nil {
		return belfry.Managed
	}
	return s.Operator.Mode
}

// covering is one way of giving items their mode.
type covering struct {
	at    belfry.Time
	top   *meta.Node // the item that somebody acted on; an event of its own tells of it and all that stands in it
	moved bool       // it was put somewhere else, and no such event tells of that
	by    string     // who acts
	all   bool       // in this record, however much stands in it
	whole bool       // what stands inside may have another mode than follows, see tx.unsettled
}

func (c *covering) step(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, status.Change) {
	if c.moved {
		return status.Move(s, m, at, now)
	}
	return status.Manage(s, m, at, now)
}

// cover gives an item, and all that stands in it, the mode that follows from what was set on them and around them. Views
// above show the difference; what is inside writes no events of its own. If more stands in it than the record has room for,
// the rest is to be handed to Sequencer.reassessAll.
func (t *Tx) cover(c covering) (rest string) {
	n := c.top
	c.whole = t.unsettled() && !c.all
	around := t.modeAround(n)
	d := &t.s.drafts[t.s.draft(n)]
	was, from := d.state.Mode, d.state.Status
	mode := max(around, ownMode(&d.state))
	switch {
	case mode == was && !c.whole:
		return ""
	case !c.all && t.tooMuchIn(n):
		rest = t.coverLater(c)
		if mode != was && c.outerFirst(was, mode) {
			t.give(n, mode, c)
		}
	default:
		t.coverInside(n, around, c)
	}
	t.countAbove(n, from, c.at)
	return rest
}

// outerFirst tells whether a view gets its mode before what stands in it. While the statuses inside change one after the other,
// a view must either hide its own, or get closer to what it will show in the end with each of them. A view that is unmanaged
// hides it; one that is unmanaged while it is Unavailable would begin or end to hide it in between. A view that has been moved
// counts for nothing at its new place rather than as what it would have to hide there.
func (c *covering) outerFirst(from, to belfry.Mode) bool {
	if from >= belfry.UnmanagedKeep || to >= belfry.UnmanagedKeep {
		return to >= belfry.UnmanagedKeep
	}
	return to < from || c.moved
}

// unsettled tells whether some items of the customer may have another mode than follows from what was set, because
// turns of Sequencer.reassessAll are still to come.
func (t *Tx) unsettled() bool { return t.s.marked || t.Tenant.Reassessing() }

// modeAround is the mode that an item gets from what it stands in.
func (t *Tx) modeAround(n *meta.Node) belfry.Mode {
	p := t.Parent(n)
	switch {
	case p == nil:
		return belfry.Managed
	case t.unsettled():
		return t.settledMode(p)
	}
	return t.Mode(p)
}

// settledMode is the mode that follows from what was set on an item and around it.
func (t *Tx) settledMode(n *meta.Node) (m belfry.Mode) {
	for ; n != nil; n = t.Parent(n) {
		m = max(m, ownMode(&t.s.drafts[t.s.draft(n)].state))
	}
	return m
}

// countAbove lets the view around an item show that the item has another status than before.
func (t *Tx) countAbove(n *meta.Node, from belfry.Status, at belfry.Time) {
	to, parent := t.s.drafts[t.s.draft(n)].state.Status, t.Parent(n)
	if from == to || parent == nil {
		return
	}
	i := t.s.draft(parent)
	p := &t.s.drafts[i]
	p.counts[from]--
	p.counts[to]++
	t.begin()
	t.showed(i, n, from)
	t.addUp(i, at)
}

// coverInside goes down first, so that a view adds up once, when all that stands in it is settled.
func (t *Tx) coverInside(n *meta.Node, around belfry.Mode, how covering) {
	i := t.s.draft(n)
	mode := max(around, ownMode(&t.s.drafts[i].state))
	if mode == t.s.drafts[i].state.Mode && !how.whole {
		return // and so it is for all that stands in it
	}
	t.left--
	t.inside(n, func(c *meta.Node) {
		from := t.s.drafts[t.s.draft(c)].state.Status
		t.coverInside(c, mode, how)
		to := t.s.drafts[t.s.draft(c)].state.Status
		counts := &t.s.drafts[i].counts
		counts[from]--
		counts[to]++
	})
	d := &t.s.drafts[i]
	if mode != d.state.Mode || n.Kind != belfry.KindObject && t.rules(n).Rollup.Of(d.counts) != d.state.Evaluated {
		t.give(n, mode, how)
	}
}

// coverOne gives one item the mode that follows.
func (t *Tx) coverOne(n *meta.Node, how covering) {
	d := &t.s.drafts[t.s.draft(n)]
	from, was := d.state.Status, d.state.Mode
	if mode := t.settledMode(n); mode != was {
		t.give(n, mode, how)
		t.countAbove(n, from, how.at)
	}
}

// give sets the mode of one item. What stands in it has been counted.
func (t *Tx) give(n *meta.Node, mode belfry.Mode, how covering) {
	d := &t.s.drafts[t.s.draft(n)]
	s, prev := d.state, d.state
	if n.Kind != belfry.KindObject {
		s.Evaluated = t.rules(n).Rollup.Of(d.counts)
	}
	next, c := how.step(s, mode, how.at, t.Now)
	switch {
	case c.Cleared == "" || how.moved:
	case n != how.top:
		c.Cleared = "" // told once, by whoever covers it
	case next.Unmanaged():
		c.Cleared = next.Mode.String()
	}
	d.state = next
	if c.Kept || prev.Evaluated != next.Evaluated {
		t.keep(n, next)
		t.tell(n, next, c, how.at, how.by)
		t.remember(n, &prev, &next, c.Alarm, how.at)
	}
}

// inside calls f for what stands directly in a view, as the round has it.
func (t *Tx) inside(n *meta.Node, f func(*meta.Node)) {
	n.Children(func(c *meta.Node) bool {
		if !t.s.gone[c.ID] && t.Parent(c) == n {
			f(c)
		}
		return true
	})
	for _, c := range t.s.made {
		if c.Kind != belfry.KindElement && !t.s.gone[c.ID] && t.Parent(c) == n {
			f(c)
		}
	}
	for id, to := range t.s.parents { // moved here
		if c := t.seq.cfg.Tree.Node(id); to == n && c != nil && c.Parent != n && c.Kind != belfry.KindElement && !t.s.gone[id] {
			f(c)
		}
	}
}

// managed settles an item whose own mode has been set, and writes the one event that tells of it. For the rest see cover.
func (t *Tx) managed(n *meta.Node, info, by string) (rest string) {
	told := t.manageEvent(n, t.Now, info, by)
	rest = t.cover(covering{at: t.Now, top: n, by: by})
	told()
	return rest
}

// manageEvent tells that an item is managed otherwise. It comes before the item is settled, since all else follows from
// it; told completes it afterwards with what the item shows then. If an alarm tells of a change after it, the event has what was
// shown before that alarm, so that each change is told once.
func (t *Tx) manageEvent(n *meta.Node, at belfry.Time, info, by string) (told func()) {
	was := t.s.drafts[t.s.draft(n)].state.Status
	i := len(t.events.times)
	t.events.add(event{
		at: at, item: n.ID, source: n.Kind.String(), kind: "manage", status: int64(was), previous: int64(was), info: info, user: by,
	})
	if t.untold == nil {
		t.untold = map[belfry.ID]int{}
	}
	t.untold[n.ID] = i
	return func() {
		if at, ok := t.untold[n.ID]; ok && at == i {
			t.events.status[i] = int64(t.s.drafts[t.s.draft(n)].state.Status)
			delete(t.untold, n.ID)
		}
	}
}

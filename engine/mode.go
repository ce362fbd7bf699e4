package engine

import (
	"belfry"
	"belfry/meta"
	"belfry/status"
)

// inheritMode sets the mode of a new item to that of its parent.
func (t *Tx) inheritMode(n *meta.Node) {
	around := t.modeAround(n)
	if around == belfry.Managed {
		return
	}
	d := &t.s.drafts[t.s.draft(n)]
	prev := d.state
	d.state.Mode = around
	t.recordState(n, d.state)
	t.recordHistory(n, &prev, &d.state, false, t.Now)
}

// Mode returns the mode of an item as of this round.
func (t *Tx) Mode(n *meta.Node) belfry.Mode { return t.stateOf(n).Mode }

// ownMode returns the mode set on the item itself.
func ownMode(s *belfry.State) belfry.Mode {
	if s.Operator == nil {
		return belfry.Managed
	}
	return s.Operator.Mode
}

// modeChange describes one propagation of a mode through a sub-tree.
type modeChange struct {
	at    belfry.Time
	top   *meta.Node // the item that was acted on; its event covers everything inside it
	moved bool       // top was moved, so there is no such event
	by    string     // who acts
	all   bool       // in this record, whatever its size
	whole bool       // items inside may have a mode that does not follow from their parents, see Tx.unsettled
}

func (c *modeChange) step(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, status.Change) {
	if c.moved {
		return status.Move(s, m, at, now)
	}
	return status.Manage(s, m, at, now)
}

// applyMode sets the mode of an item and everything inside it to the stronger of what is set on them and what they inherit.
// The views above are rolled up; items inside write no events. If there are more items than the record has room for, the
// caller passes rest to Sequencer.reassessAll.
func (t *Tx) applyMode(c modeChange) (rest string) {
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
		rest = t.applyModeLater(c)
		if mode != was && c.outerFirst(was, mode) {
			t.setMode(n, mode, c)
		}
	default:
		t.applyModeInside(n, around, c)
	}
	t.updateParent(n, from, c.at)
	return rest
}

// outerFirst reports whether a view gets its mode before its content does. While the statuses inside change one by one, the
// view must either hide its status or move steadily towards its final one. An unmanaged view hides it; one that is unmanaged
// only while Unavailable would start or stop hiding it half-way. A moved view counts as Unknown at its new place until then.
func (c *modeChange) outerFirst(from, to belfry.Mode) bool {
	if from >= belfry.UnmanagedKeep || to >= belfry.UnmanagedKeep {
		return to >= belfry.UnmanagedKeep
	}
	return to < from || c.moved
}

// unsettled reports whether some items of the customer may still have an old mode, because turns of
// Sequencer.reassessAll are outstanding.
func (t *Tx) unsettled() bool { return t.s.marked || t.Tenant.Reassessing() }

// modeAround returns the mode an item inherits.
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

// settledMode computes the mode of an item from what is set on it and on its ancestors.
func (t *Tx) settledMode(n *meta.Node) (m belfry.Mode) {
	for ; n != nil; n = t.Parent(n) {
		m = max(m, ownMode(&t.s.drafts[t.s.draft(n)].state))
	}
	return m
}

// updateParent counts the new status of an item in its parent and rolls the parent up.
func (t *Tx) updateParent(n *meta.Node, from belfry.Status, at belfry.Time) {
	to, parent := t.s.drafts[t.s.draft(n)].state.Status, t.Parent(n)
	if from == to || parent == nil {
		return
	}
	i := t.s.draft(parent)
	p := &t.s.drafts[i]
	p.counts[from]--
	p.counts[to]++
	t.resetCauses()
	t.noteChanged(i, n, from)
	t.rollUp(i, at)
}

// applyModeInside works bottom-up, so that each view is rolled up once, after everything inside it.
func (t *Tx) applyModeInside(n *meta.Node, around belfry.Mode, how modeChange) {
	i := t.s.draft(n)
	mode := max(around, ownMode(&t.s.drafts[i].state))
	if mode == t.s.drafts[i].state.Mode && !how.whole {
		return // nothing inside changes either
	}
	t.itemsLeft--
	t.eachInside(n, func(c *meta.Node) {
		from := t.s.drafts[t.s.draft(c)].state.Status
		t.applyModeInside(c, mode, how)
		to := t.s.drafts[t.s.draft(c)].state.Status
		counts := &t.s.drafts[i].counts
		counts[from]--
		counts[to]++
	})
	d := &t.s.drafts[i]
	if mode != d.state.Mode || n.Kind != belfry.KindObject && t.rules(n).Rollup.Of(d.counts) != d.state.Evaluated {
		t.setMode(n, mode, how)
	}
}

// applyModeTo sets the mode of one item, without its content.
func (t *Tx) applyModeTo(n *meta.Node, how modeChange) {
	d := &t.s.drafts[t.s.draft(n)]
	from, was := d.state.Status, d.state.Mode
	if mode := t.settledMode(n); mode != was {
		t.setMode(n, mode, how)
		t.updateParent(n, from, how.at)
	}
}

// setMode sets the mode of one item whose counts are up to date.
func (t *Tx) setMode(n *meta.Node, mode belfry.Mode, how modeChange) {
	d := &t.s.drafts[t.s.draft(n)]
	s, prev := d.state, d.state
	if n.Kind != belfry.KindObject {
		s.Evaluated = t.rules(n).Rollup.Of(d.counts)
	}
	next, c := how.step(s, mode, how.at, t.Now)
	switch {
	case c.Cleared == "" || how.moved:
	case n != how.top:
		c.Cleared = "" // the event of the top item covers it
	case next.Unmanaged():
		c.Cleared = next.Mode.String()
	}
	d.state = next
	if c.Kept || prev.Evaluated != next.Evaluated {
		t.recordState(n, next)
		t.emitEvents(n, next, c, how.at, how.by)
		t.recordHistory(n, &prev, &next, c.Alarm, how.at)
	}
}

// eachInside calls f for the direct children of a view as of this round.
func (t *Tx) eachInside(n *meta.Node, f func(*meta.Node)) {
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

// managed applies a mode that was set on an item and writes the event for it. For rest see applyMode.
func (t *Tx) managed(n *meta.Node, info, by string) (rest string) {
	complete := t.manageEvent(n, t.Now, info, by)
	rest = t.applyMode(modeChange{at: t.Now, top: n, by: by})
	complete()
	return rest
}

// manageEvent writes the event of a change of management. It precedes the alarms that follow from the change, so its status is
// filled in afterwards by complete. If an alarm reports a change in between, the event keeps the status before that alarm, so
// that each change is reported once.
func (t *Tx) manageEvent(n *meta.Node, at belfry.Time, info, by string) (complete func()) {
	i := t.events.Manage(n, at, t.s.drafts[t.s.draft(n)].state.Status, info, by)
	if t.pendingManage == nil {
		t.pendingManage = map[belfry.ID]int{}
	}
	t.pendingManage[n.ID] = i
	return func() {
		if at, ok := t.pendingManage[n.ID]; ok && at == i {
			t.events.SetStatus(i, t.s.drafts[t.s.draft(n)].state.Status)
			delete(t.pendingManage, n.ID)
		}
	}
}

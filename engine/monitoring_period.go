package engine

import (
	"belfry"
	"belfry/meta"
	"belfry/status"
)

// muteIfOffHours marks a new object that is created outside its monitoring period.
func (t *Tx) muteIfOffHours(n *meta.Node) {
	w := t.policyScope(n).watch
	if w == nil {
		return
	}
	t.s.wake = append(t.s.wake, n)
	if !w.OffHours(t.Now) {
		return
	}
	d := &t.s.drafts[t.s.draft(n)]
	d.state.OffHours = true
	t.recordState(n, d.state)
}

// reevaluateMoved is called before an item moves and returns what to do afterwards: if other policies apply at the new
// place, the item and its content are evaluated again.
func (t *Tx) reevaluateMoved(n *meta.Node) func() {
	if !t.s.policed || n.Kind == belfry.KindElement {
		return func() {}
	}
	before, unsettled := t.policyScope(n), t.unsettled()
	return func() {
		switch {
		case before.same(t.policyScope(n)) && !unsettled:
		case t.tooMuchIn(n):
			t.deferRest(t.addMark(reassessItem(n.ID), ""))
		default:
			t.reevaluate(n)
		}
	}
}

// reevaluate applies the rules again in a round that may have brought values. The tree shows the values of a round only
// once it is committed, so objects that received some are evaluated right after it.
func (t *Tx) reevaluate(n *meta.Node) {
	t.itemsLeft--
	switch {
	case n.Kind != belfry.KindObject:
		t.eachInside(n, t.reevaluate)
		t.rollUp(t.s.draft(n), t.Now)
	case !t.s.drafts[t.s.draft(n)].fresh:
		t.evaluateObject(n)
	default:
		t.crossPeriod(n)
		t.s.unseen = append(t.s.unseen, n)
	}
}

// evaluateUnseen schedules the objects whose values have become visible with the last round.
func (s *Sequencer) evaluateUnseen() {
	for _, n := range s.scratch.unseen {
		if s.cfg.Tree.Node(n.ID) != n { // of a dry run
			continue
		}
		s.clock.unseen[n.ID] = true
		s.clock.set(n.ID, s.Now())
	}
}

// scheduleWatch schedules an object for the next edge of its monitoring period, or for now if an edge was missed.
func (s *Sequencer) scheduleWatch(n *meta.Node, w *status.Watch) {
	now := s.Now()
	if w.OffHours(now) != n.State.OffHours {
		s.clock.set(n.ID, now)
		return
	}
	s.clock.set(n.ID, w.Change(now))
}

// crossPeriod begins or ends the monitoring period of an object if that is due.
func (t *Tx) crossPeriod(n *meta.Node) {
	if n.Kind != belfry.KindObject {
		return
	}
	i := t.s.draft(n)
	s, w := t.s.drafts[i].state, t.rules(n).Watch
	off := w.OffHours(t.Now)
	if off == s.OffHours {
		return
	}
	at := t.Now
	if w != nil {
		at = min(max(w.Since(t.Now), s.Since), t.Now) // not before the last change already reported
	}
	next, c := status.SetOffHours(s, off, at, t.Now)
	t.resetCauses()
	t.apply(i, next, c, at)
}

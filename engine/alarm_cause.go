package engine

import (
	"cmp"

	"belfry"
	"belfry/meta"
)

// An alarm of a view or resource names the object inside it that is the reason, and why. Nearly always that is the object that
// has just changed, and all views around it name the same. Otherwise a limited number of items is searched.
const causeSteps = 100

// alarmReason is the reason in the last alarm of a view. The views around an object share the text.
type alarmReason struct {
	cause   *meta.Node
	why     string
	outside bool
	text    string
}

// stateOf returns the state of an item as of the round, read-only and without making a draft.
func (t *Tx) stateOf(n *meta.Node) *belfry.State {
	if i := t.s.index.At(uint64(n.ID)); i != 0 {
		return &t.s.drafts[i-1].state
	}
	return &n.State.State
}

// resetCauses starts a new moment, unless roll-ups are deferred. Of all changes of a moment, an alarm of a view names the item that had
// the worst status before.
func (t *Tx) resetCauses() {
	if t.rollups == nil {
		t.s.moment++
	}
}

// noteChanged notes for the alarm of a view that an item in it has changed its status or has left.
func (t *Tx) noteChanged(view int, n *meta.Node, from belfry.Status) {
	d := &t.s.drafts[view]
	d.moved = n
	if d.moment != t.s.moment || from > d.worst {
		d.left, d.worst, d.moment = n, from, t.s.moment
	}
}

// alarmText returns the text of an alarm: the reason for the status of the item.
func (t *Tx) alarmText(n *meta.Node, s *belfry.State, from belfry.Status) string {
	switch {
	case n.Kind == belfry.KindObject:
		return s.Why()
	case s.Unmanaged():
		return s.Mode.String()
	}
	var cause *meta.Node
	if s.Status < from && !s.Status.IsError() {
		cause = t.leftIn(n)
	}
	if steps := causeSteps; cause == nil {
		cause = t.causeIn(n, s.Status, &steps)
	}
	t.s.drafts[t.s.draft(n)].cause = cause
	if cause == nil {
		if s.Status == belfry.Unknown {
			return "nothing in it has a status"
		}
		return ""
	}
	return t.causeText(n, cause)
}

// causeIn finds the item in a view that is the reason for its status: an object, or a view if no object is found; nil: none.
func (t *Tx) causeIn(n *meta.Node, status belfry.Status, steps *int) *meta.Node {
	found := t.lastMoved(n)
	if found == nil || t.stateOf(found).Status != status {
		n.Children(func(c *meta.Node) bool {
			*steps--
			if t.stateOf(c).Status == status && !t.s.gone[c.ID] && t.Parent(c) == n {
				found = c
				return false
			}
			return *steps > 0
		})
	}
	if found == nil || found.Kind == belfry.KindObject || t.stateOf(found).Status != status || t.stateOf(found).Unmanaged() {
		return found
	}
	if i := t.s.index.At(uint64(found.ID)); i != 0 && t.s.drafts[i-1].cause != nil {
		if cause := t.s.drafts[i-1].cause; t.stateOf(cause).Status == status {
			return cause
		}
	}
	if *steps > 0 {
		return cmp.Or(t.causeIn(found, status, steps), found)
	}
	return found
}

// leftIn finds the item that had made a view worse than it is now, and has recovered, was removed, moved or unmanaged, or has no
// status any more; nil: nothing in the view has changed.
func (t *Tx) leftIn(n *meta.Node) (left *meta.Node) {
	for {
		i := t.s.index.At(uint64(n.ID))
		if i == 0 || t.s.drafts[i-1].moment != t.s.moment || t.s.drafts[i-1].left == nil {
			return left
		}
		left = t.s.drafts[i-1].left
		if left.Kind == belfry.KindObject || t.s.gone[left.ID] || t.Parent(left) != n || t.stateOf(left).Unmanaged() {
			return left
		}
		n = left
	}
}

// lastMoved returns the item in a view that was the last to change its status in this round; nil: none.
func (t *Tx) lastMoved(n *meta.Node) *meta.Node {
	if i := t.s.index.At(uint64(n.ID)); i != 0 {
		if m := t.s.drafts[i-1].moved; m != nil && !t.s.gone[m.ID] && t.Parent(m) == n {
			return m
		}
	}
	return nil
}

// causeText renders the reason: "object disk: Used 97 % (>= 95)", with the resource if the view is outside it.
func (t *Tx) causeText(n, cause *meta.Node) string {
	s := t.stateOf(cause)
	why := s.StatusName()
	switch to, moved := t.s.parents[cause.ID]; {
	case t.s.gone[cause.ID]:
		why = "removed"
	case moved && !t.inside(to, n):
		why = "moved out" // whoever sees only n must not learn where to
	case moved && s.Status != t.stateOf(n).Status:
		why = "moved to " + to.Name
	case s.Unmanaged():
		why = s.Mode.String()
	case cause.Kind == belfry.KindObject:
		why = cmp.Or(s.Why(), why)
	}
	outside := cause.Resource != nil && cause.Resource != cause && cause.Resource != n.Resource
	if last := &t.lastReason; last.cause != cause || last.why != why || last.outside != outside {
		name := cause.Kind.String() + " " + cause.Name
		if outside {
			name += " of " + cause.Resource.Name
		}
		t.lastReason = alarmReason{cause, why, outside, name + ": " + why}
	}
	return t.lastReason.text
}

// inside reports whether an item is the view itself or in it, at any depth.
func (t *Tx) inside(n, view *meta.Node) bool {
	for n != nil && n != view {
		n = t.Parent(n)
	}
	return n != nil
}

package engine

import (
	"belfry"
	"belfry/meta"
	"belfry/status"
)

// hush makes a new object quiet if it is made outside its monitoring period.
func (t *Tx) hush(n *meta.Node) {
	w := t.regime(n).watch
	if w == nil {
		return
	}
	t.s.wake = append(t.s.wake, n)
	if !w.Quiet(t.Now) {
		return
	}
	d := &t.s.drafts[t.s.draft(n)]
	d.state.OffHours = true
	t.keep(n, d.state)
}

// resettle is called before an item moves. It gives what is to be done afterwards: if other policies count at the new
// place, they decide anew about the item and its content.
func (t *Tx) resettle(n *meta.Node) func() {
	if !t.s.policed || n.Kind == belfry.KindElement {
		return func() {}
	}
	before, unsettled := t.regime(n), t.unsettled()
	return func() {
		switch {
		case before.same(t.regime(n)) && !unsettled:
		case t.tooMuchIn(n):
			t.finishLater(t.judgeLater(reassessItem(n.ID)))
		default:
			t.rejudge(n)
		}
	}
}

// rejudge lets the rules decide anew in a round that may have brought values. Those of this round are nowhere to be seen
// until it is committed, so objects that got some are judged right after it.
func (t *Tx) rejudge(n *meta.Node) {
	t.left--
	switch {
	case n.Kind != belfry.KindObject:
		t.inside(n, t.rejudge)
		t.addUp(t.s.draft(n), t.Now)
	case !t.s.drafts[t.s.draft(n)].fresh:
		t.judgeObject(n)
	default:
		t.passWatch(n)
		t.s.unseen = append(t.s.unseen, n)
	}
}

// judgeUnseen makes objects be judged as soon as possible, now that their values can be seen.
func (s *Sequencer) judgeUnseen() {
	for _, n := range s.scratch.unseen {
		if s.cfg.Tree.Node(n.ID) != n { // of a dry run
			continue
		}
		if s.clock.unseen == nil {
			s.clock.unseen = map[belfry.ID]bool{}
		}
		s.clock.unseen[n.ID] = true
		s.clock.set(n.ID, s.Now())
	}
}

// lookAtWatch makes an object be looked at when its monitoring period begins or ends, and at once when it did so unseen.
func (s *Sequencer) lookAtWatch(n *meta.Node, w *status.Watch) {
	now := s.Now()
	if w.Quiet(now) != n.State.OffHours {
		s.clock.set(n.ID, now)
		return
	}
	s.clock.set(n.ID, w.Change(now))
}

// passWatch lets the monitoring period of an object begin or end, if its time has come.
func (t *Tx) passWatch(n *meta.Node) {
	if n.Kind != belfry.KindObject {
		return
	}
	i := t.s.draft(n)
	s, w := t.s.drafts[i].state, t.rules(n).Watch
	quiet := w.Quiet(t.Now)
	if quiet == s.OffHours {
		return
	}
	at := t.Now
	if w != nil {
		at = min(max(w.Since(t.Now), s.Since), t.Now) // not before what has been told already
	}
	next, c := status.Quieten(s, quiet, at, t.Now)
	t.begin()
	t.take(i, next, c, at)
}

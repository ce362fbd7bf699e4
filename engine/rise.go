package engine

import (
	"belfry"
	"belfry/meta"
)

// rise gathers views whose content has changed, so that each adds up once, when all that stands in it is settled. What
// happens at one moment must not show in between: an object that moves from one view to another is never missing in the
// view around both, and an acknowledgment there does not end.
type rise struct {
	at     map[*meta.Node]belfry.Time
	levels [][]*meta.Node // by depth
}

// Together lets things happen at one moment: views add up when all of them are done.
func (t *Tx) Together(f func()) {
	if t.rise != nil {
		f()
		return
	}
	t.begin()
	t.rise = &rise{at: map[*meta.Node]belfry.Time{}}
	f()
	r := t.rise
	for d := len(r.levels) - 1; d >= 0; d-- { // the deepest first; what changes there is added further up
		for _, n := range r.levels[d] {
			t.addUpNow(t.s.draft(n), r.at[n])
		}
	}
	t.rise = nil
}

// later makes a view add up at the end.
func (t *Tx) later(n *meta.Node, at belfry.Time) {
	r := t.rise
	if was, ok := r.at[n]; ok {
		r.at[n] = max(was, at)
		return
	}
	r.at[n] = at
	d := 0
	for p := t.Parent(n); p != nil; p = t.Parent(p) {
		d++
	}
	for len(r.levels) <= d {
		r.levels = append(r.levels, nil)
	}
	r.levels[d] = append(r.levels[d], n)
}

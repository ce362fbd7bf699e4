package engine

import (
	"slices"

	"belfry"
	"belfry/meta"
)

// rollupQueue collects views whose content has changed, so that each is rolled up once, after everything inside it. Changes
// made at one moment must not show half-way: an object that moves from one view to another is never missing in the view
// around both, and an acknowledgment there does not end.
type rollupQueue struct {
	at     map[*meta.Node]belfry.Time
	levels [][]*meta.Node // by depth
}

// DeferRollup runs f and rolls views up afterwards, so that all changes in f happen at one moment.
func (t *Tx) DeferRollup(f func()) {
	if t.rollups != nil {
		f()
		return
	}
	t.resetCauses()
	t.rollups = &rollupQueue{at: map[*meta.Node]belfry.Time{}}
	f()
	r := t.rollups
	for d := len(r.levels) - 1; d >= 0; d-- { // deepest first: changes there enqueue views further up
		for _, n := range r.levels[d] {
			t.rollUpNow(t.s.draft(n), r.at[n])
		}
	}
	t.rollups = nil
}

// enqueueRollup queues a view to be rolled up at the end.
func (t *Tx) enqueueRollup(n *meta.Node, at belfry.Time) {
	r := t.rollups
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

// Settle rolls up every view and resource. That changes nothing unless records were lost.
func (s *Sequencer) Settle() error {
	for _, c := range s.cfg.Tree.Access().Customers() {
		err := s.Do(&Command{Customer: c.ID, Alone: true, Urgent: true, Decide: func(t *Tx) error {
			t.settle()
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) settle() {
	var boxes []*meta.Node
	t.Tenant.All(func(n *meta.Node) bool {
		if n.Kind != belfry.KindObject {
			boxes = append(boxes, n)
		}
		return true
	})
	slices.SortFunc(boxes, func(a, b *meta.Node) int { return depth(a) - depth(b) })
	for _, n := range boxes { // modes are inherited from above
		t.applyMode(modeChange{at: t.Now, top: n, all: true})
		t.eachInside(n, func(c *meta.Node) { t.applyMode(modeChange{at: t.Now, top: c, all: true}) })
	}
	slices.Reverse(boxes) // deepest first, since changes are rolled up
	for _, n := range boxes {
		t.rollUp(t.s.draft(n), t.Now)
	}
}

func depth(n *meta.Node) (d int) {
	for ; n.Parent != nil; n = n.Parent {
		d++
	}
	return d
}

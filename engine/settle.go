package engine

import (
	"slices"

	"belfry"
	"belfry/meta"
)

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

package engine

import (
	"slices"

	"belfry"
	"belfry/meta"
)

// Settle lets every view and resource show what follows from its content. In the normal course of things that is so
// already; after records were lost it need not be.
func (s *Sequencer) Settle() error {
	for _, c := range s.cfg.Tree.Customers() {
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
	for _, n := range boxes { // management comes down from above
		t.applyMode(modeChange{at: t.Now, top: n, all: true})
		t.eachInside(n, func(c *meta.Node) { t.applyMode(modeChange{at: t.Now, top: c, all: true}) })
	}
	slices.Reverse(boxes) // the deepest first: what changes there rises by itself
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

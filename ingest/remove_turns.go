package ingest

import (
	"math"

	"belfry"
	"belfry/meta"
)

// Nobody else's rows are decided while the sequencer has a removal. So a removal of many items is done in turns, and what
// stands inside goes before what it stands in. One that is atomic, or repeatable under an Idempotency-Key, is one record
// and therefore one turn, so it is limited. A trial removes nothing and only finds out what would go.
const (
	removeTurn  = 1000
	removeWhole = 10_000
)

// removals removes items in one turn.
type removals struct {
	*tx
	left   int  // how many more may go in this turn
	inside int  // how many have gone so far
	whole  bool // there is no other turn
	trial  bool
}

func newRemovals(t *tx, o Options) *removals {
	r := &removals{tx: t, left: removeTurn, whole: o.Atomic || o.Repeat.Key != "", trial: o.DryRun}
	switch {
	case r.trial:
		r.left = math.MaxInt
	case r.whole:
		r.left = removeWhole
	}
	return r
}

// removeAll removes items with all that stands in them, as far as this turn goes.
func (r *removals) removeAll(list []*meta.Node) (finished bool, bad *belfry.RowError) {
	if r.whole && r.weigh(list, r.left) < 0 {
		return true, rejectf("name", belfry.LimitReached, "more than %d items would go, and a request that is atomic or has an Idempotency-Key removes them all at once; "+
			"send it without either, or remove fewer at a time", removeWhole)
	}
	r.together(func() {
		for _, n := range list {
			if finished = r.removeItem(n); !finished {
				return
			}
		}
	})
	return finished || len(list) == 0, nil
}

// weigh takes what would go with the items off a number; below 0 it stops counting.
func (r *removals) weigh(list []*meta.Node, left int) int {
	for _, n := range list {
		if left = r.weighItem(n, left); left < 0 {
			break
		}
	}
	return left
}

func (r *removals) weighItem(n *meta.Node, left int) int {
	if r.s.gone[n.ID] {
		return left
	}
	left--
	n.Children(func(c *meta.Node) bool {
		left = r.weighItem(c, left)
		return left >= 0
	})
	n.Elements(func(*meta.Node) { left-- })
	return left
}

// removeItem removes an item, or of its content as much as this turn allows.
func (r *removals) removeItem(n *meta.Node) (finished bool) {
	if r.s.gone[n.ID] {
		return true // with one before it
	}
	if left := r.weighItem(n, r.left); left >= 0 {
		r.inside += r.left - left
		r.left = left
		r.remove(n, r.trial)
		return true
	}
	if r.left <= 0 {
		return false
	}
	finished = true
	n.Children(func(c *meta.Node) bool {
		finished = r.removeItem(c)
		return finished
	})
	if finished {
		n.Elements(func(c *meta.Node) { finished = finished && r.removeItem(c) })
	}
	return finished && r.removeItem(n)
}

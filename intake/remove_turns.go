package intake

import (
	"belfry"
	"belfry/meta"
)

// No one else's rows are decided while the sequencer has a removal. So a removal of many items is done in turns, and what
// is inside goes before its parent. One that is atomic, or repeatable under an Idempotency-Key, is one record
// and therefore one turn, so it is limited. So is a dry run, but it can count more than it follows: it does not look into
// large views to see what would go with them.
const (
	removeTurn   = 1000
	removeWhole  = 10_000
	removeLooked = 100_000 // items that a request of one turn looks at
)

// removals removes items in one turn.
type removals struct {
	decision
	left   int  // how many more may go in this turn
	looked int  // at how many items
	whole  bool // there is no other turn
	dryRun bool
}

func newRemovals(t decision, o Options) *removals {
	r := &removals{decision: t, left: removeTurn, whole: o.Atomic || o.Repeat.Key != "", dryRun: o.DryRun}
	if r.oneTurn() {
		r.left = removeWhole
	}
	return r
}

// oneTurn reports that everything must be done in this turn.
func (r *removals) oneTurn() bool { return r.whole || r.dryRun }

// tooManyAtOnce is for what one turn cannot do.
func tooManyAtOnce() *belfry.RowError {
	return belfry.Rejectf("name", belfry.LimitReached, "too much would go at once: a request that is atomic or has an Idempotency-Key removes %d items at most, and a dry run looks at %d; "+
		"send it without any of these, or remove fewer at a time", removeWhole, removeLooked)
}

// removeAll removes items with their content, up to the limit of this turn.
func (r *removals) removeAll(list []*meta.Node) (finished bool, bad *belfry.RowError) {
	if r.dryRun {
		r.try(list)
		return true, nil
	}
	if r.whole && r.weigh(list, r.left) < 0 {
		return true, tooManyAtOnce()
	}
	r.DeferRollup(func() {
		for _, n := range list {
			if finished = r.removeItem(n); !finished {
				return
			}
		}
	})
	return finished || len(list) == 0, nil
}

// try treats items and their content as removed, up to a limit.
func (r *removals) try(list []*meta.Node) {
	for _, n := range list {
		left := r.weighItem(n, r.left)
		if left >= 0 {
			r.left = left
		}
		r.TryRemove(n, left >= 0)
	}
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
	if r.RemovedInRound(n) {
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
	if r.RemovedInRound(n) {
		return true // with one before it
	}
	if left := r.weighItem(n, r.left); left >= 0 {
		r.left = left
		r.Remove(n)
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

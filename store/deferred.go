package store

import (
	"cmp"
	"slices"
	"time"

	"belfry"
)

// A commit to a file costs nearly the same whatever its size, and a few events beside much data need as many commits as the
// data. So batches that are small compared with others are deferred for a moment and stored together: when there are many,
// when the first of them has waited long enough, or when a query needs them.
//
// A record with a deferred batch does not count as moved. After a crash it is replayed, and the files that have their part of
// it skip it.
const (
	maxDefer        = time.Second
	maxDeferredRows = 4000
	largeFactor     = 20 // a batch is small if another collection has this many times its rows
)

// deferred has batches of records that have otherwise been moved.
type deferred struct {
	batches []*belfry.Batch
	rows    int
	since   time.Time
	urgent  bool // some of them are partly stored, see Store.Append
}

// first returns the position of the first record that is not completely moved.
func (h *deferred) first() belfry.Position { return h.batches[0].Pos }

func (h *deferred) empty() bool { return len(h.batches) == 0 }

// remaining returns how long the batches may still wait.
func (h *deferred) remaining() time.Duration {
	if h.urgent {
		return 0
	}
	return maxDefer - elapsed(h.since)
}

// addPartial adds batches with rows that are not yet stored. They wait only until the queue has been checked.
func (h *deferred) addPartial(left []*belfry.Batch) {
	if len(left) == 0 {
		return
	}
	if h.empty() {
		h.since = time.Now()
	}
	h.urgent = true
	h.batches = append(left, h.batches...)
	slices.SortStableFunc(h.batches, func(a, b *belfry.Batch) int { return cmp.Compare(a.Pos, b.Pos) })
}

// has reports whether rows of a customer in a collection are deferred, from records up to pos.
func (h *deferred) has(of rowSet, pos belfry.Position) bool {
	return slices.ContainsFunc(h.batches, func(b *belfry.Batch) bool {
		return b.Pos <= pos && b.Customer == of.customer && b.Collection == of.collection
	})
}

// split divides batches into those to store now and those to defer. Batches deferred before are stored too, unless they
// may still wait.
func (h *deferred) split(batches []*belfry.Batch, wanted bool) (now []*belfry.Batch, later deferred) {
	rows := map[string]int{}
	largest := 0
	for _, b := range batches {
		rows[b.Collection] += b.Len()
		largest = max(largest, rows[b.Collection])
	}
	small := func(b *belfry.Batch) bool {
		return b.Collection != belfry.Dimension && largeFactor*rows[b.Collection] <= largest // names must be stored before rows that use them
	}
	later = deferred{batches: h.batches, rows: h.rows, since: h.since}
	for _, b := range batches {
		if small(b) {
			later.rows += b.Len()
		}
	}
	if wanted || later.rows > maxDeferredRows || !h.empty() && h.remaining() <= 0 || h.mustComeFirst(batches, small) {
		return append(h.batches[:len(h.batches):len(h.batches)], batches...), deferred{}
	}
	if h.empty() {
		later.since = time.Now()
	}
	later.batches = later.batches[:len(later.batches):len(later.batches)]
	for _, b := range batches {
		if small(b) {
			later.batches = append(later.batches, b)
		} else {
			now = append(now, b)
		}
	}
	return now, later
}

// mustComeFirst reports whether a deferred batch must be stored before one of the batches that are not small: a file
// accepts batches in order, and would skip one that comes late.
func (h *deferred) mustComeFirst(batches []*belfry.Batch, small func(*belfry.Batch) bool) bool {
	return slices.ContainsFunc(batches, func(b *belfry.Batch) bool {
		return !small(b) && slices.ContainsFunc(h.batches, func(o *belfry.Batch) bool { return o.Collection == b.Collection })
	})
}

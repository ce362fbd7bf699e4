package store

import (
	"cmp"
	"slices"
	"time"

	"belfry"
)

// A commit costs a file nearly the same whatever it holds, and a few events beside much data cost as many commits as the
// data do. So batches that are small in the company of large ones are held back for a moment, and go in together: when they
// have become many, when the first of them has waited long enough, or when a query wants them.
//
// A record of which a batch is held is not yet moved. After a crash it comes again, and the files that have their part of
// it pass it over.
const (
	heldFor  = time.Second
	heldRows = 4000
	company  = 20 // times as many rows make company
)

// held are batches of records that have otherwise been moved.
type held struct {
	batches []*belfry.Batch
	rows    int
	since   time.Time
	hurry   bool // some of them have been begun, see Divided
}

// from is the position of the first record that is not moved as a whole.
func (h *held) from() belfry.Position { return h.batches[0].Pos }

func (h *held) empty() bool { return len(h.batches) == 0 }

// left is how long there is still time.
func (h *held) left() time.Duration {
	if h.hurry {
		return 0
	}
	return heldFor - past(h.since)
}

// addBegun adds batches of which rows are left. They wait no longer than it takes to see what else has come.
func (h *held) addBegun(left []*belfry.Batch) {
	if len(left) == 0 {
		return
	}
	if h.empty() {
		h.since = time.Now()
	}
	h.hurry = true
	h.batches = append(left, h.batches...)
	slices.SortStableFunc(h.batches, func(a, b *belfry.Batch) int { return cmp.Compare(a.Pos, b.Pos) })
}

// has tells whether rows of a customer in a collection are held, from records up to pos.
func (h *held) has(of rowsOf, pos belfry.Position) bool {
	return slices.ContainsFunc(h.batches, func(b *belfry.Batch) bool {
		return b.Pos <= pos && b.Customer == of.customer && b.Collection == of.collection
	})
}

// part divides batches into those that go in now and those that are held back. What was held before goes in, too, unless
// there is still time.
func (h *held) part(batches []*belfry.Batch, wanted bool) (now []*belfry.Batch, later held) {
	rows := map[string]int{}
	most := 0
	for _, b := range batches {
		rows[b.Collection] += b.Len()
		most = max(most, rows[b.Collection])
	}
	small := func(b *belfry.Batch) bool {
		return b.Collection != belfry.Dimension && company*rows[b.Collection] <= most // names come before what they name
	}
	later = held{batches: h.batches, rows: h.rows, since: h.since}
	for _, b := range batches {
		if small(b) {
			later.rows += b.Len()
		}
	}
	if wanted || later.rows > heldRows || !h.empty() && h.left() <= 0 || h.precede(batches, small) {
		return append(h.batches[:len(h.batches):len(h.batches)], batches...), held{}
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

// precede tells whether something is held that must go in before one of the batches that is not: a file takes its batches
// in their order, and would pass over one that comes late.
func (h *held) precede(batches []*belfry.Batch, small func(*belfry.Batch) bool) bool {
	return slices.ContainsFunc(batches, func(b *belfry.Batch) bool {
		return !small(b) && slices.ContainsFunc(h.batches, func(o *belfry.Batch) bool { return o.Collection == b.Collection })
	})
}

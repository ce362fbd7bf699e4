package folder

import (
	"fmt"
	"math"
	"slices"

	"belfry"

	"belfry/journal"
)

// evidence is how far the parts of an instance have come. The start and Verify judge by it whether records of the journal are
// lost, so they cannot disagree.
//
// Records are lost if the journal has damage, or ends before its own note of the end, before the metadata or before the rows. A
// note of the end that is missing, unusable or older than the journal says nothing, so it is no sign of a loss. Records that the
// metadata and the rows have are not lost.
type evidence struct {
	journal  *journal.Journal
	stored   belfry.Position // the metadata have the records up to here
	moved    belfry.Position // the row store has the records up to here
	noted    belfry.Position // the same as the metadata have noted it, which is more if the row store is older than they are
	accepted map[string]bool // parts whose loss has been accepted
}

// older says why the metadata cannot be used with the journal and the rows; empty when they can. The row store has records up
// to rows; 0 if that is not known.
func (e *evidence) older(rows belfry.Position) string {
	begins, reached, next := e.journal.Bounds()
	if known := e.known(); next <= known { // where the journal goes on
		next = belfry.PositionOf(known.Epoch()+1, 0)
	}
	switch {
	case e.stored < begins:
		return fmt.Sprintf("the metadata have the records up to %s, and the journal begins after %s: the metadata are older than the journal", e.stored, begins)
	case rows >= next:
		return fmt.Sprintf("the rows have come to %s, and the journal ends at %s: journal and metadata are older than the rows", rows, reached)
	}
	return ""
}

// known is the highest position of which the metadata know.
func (e *evidence) known() belfry.Position { return max(e.stored, e.noted) }

// lost returns a gap, unless it has arrived everywhere.
func (e *evidence) lost(g gap) []gap {
	if g.to <= min(e.stored, e.moved) || e.accepted[LossJournal] {
		return nil
	}
	return []gap{g}
}

// damaged is what is lost by a damage.
func (e *evidence) damaged(d journal.Damage) []gap {
	if d.From == 0 || d.Torn {
		return nil
	}
	to := d.To
	if to == 0 {
		to = d.From | math.MaxUint32
	}
	return e.lost(gap{d.From, to, d.String(), d.Segment})
}

// unused is what is lost by a record that is there but cannot be used.
func (e *evidence) unused(pos belfry.Position) []gap {
	return e.lost(gap{from: pos, to: pos, why: unusable(pos)})
}

// gaps is everything that is lost, as far as the journal and the metadata tell.
func (e *evidence) gaps() (list []gap) {
	for _, d := range e.journal.Damaged() {
		list = append(list, e.damaged(d)...)
	}
	list = append(list, e.end(e.known(), "the metadata")...)
	if begins, _, _ := e.journal.Bounds(); e.moved < begins && !e.accepted[LossRows] && !e.accepted[LossMetadata] {
		why := fmt.Sprintf("the journal begins after %s, and the rows have been stored up to %s: segments are missing", begins, e.moved)
		list = append(list, e.lost(gap{from: e.moved + 1, to: begins, why: why})...)
	}
	return list
}

// end is what is lost at the end of the journal, if it does not have the records up to pos, which another part has.
func (e *evidence) end(pos belfry.Position, who string) []gap {
	last, ok := e.journal.LastValid(pos)
	found := func(d journal.Damage) bool { return !d.Torn && last < d.From && pos <= d.To }
	if ok || e.accepted[LossMetadata] || slices.ContainsFunc(e.journal.Damaged(), found) {
		return nil
	}
	why := fmt.Sprintf("the journal ends at %s, before what %s have (%s): records are missing at the end", last, who, pos)
	return e.lost(gap{from: last + 1, to: pos | math.MaxUint32, why: why}) // nobody knows how many followed
}

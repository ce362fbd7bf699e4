package folder

import (
	"fmt"
	"math"
	"slices"

	"belfry"

	"belfry/journal"
)

// evidence is how far each part of an instance has come. The start and Verify use it to decide whether journal records are lost,
// so they agree.
// Records are lost if the journal is damaged, begins after the last record of the rows, or ends before its own end file, the
// metadata or the rows. A missing, unusable or older end file proves nothing. Records that both the metadata and the rows have
// are not lost.
type evidence struct {
	journal  *journal.Journal
	stored   belfry.Position // the metadata have the records up to here
	moved    belfry.Position // the row store has the records up to here
	noted    belfry.Position // moved according to the metadata; higher if the row store is an older copy
	accepted map[string]bool // parts whose loss was accepted
}

// older returns why the metadata cannot be used with the journal and the rows; empty if they can. The row store has records up to
// rows; 0 if unknown.
func (e *evidence) older(rows belfry.Position) string {
	begins, reached, next := e.journal.Bounds()
	if known := e.known(); next <= known { // where the journal will continue
		next = belfry.PositionOf(known.Epoch()+1, 0)
	}
	switch {
	case e.stored < begins:
		return fmt.Sprintf("the metadata have the records up to %s, and the journal begins after %s: the metadata are older than the journal", e.stored, begins)
	case rows >= next:
		return fmt.Sprintf("the rows have the records up to %s, and the journal ends at %s: journal and metadata are older than the rows", rows, reached)
	}
	return ""
}

// known is the highest position in the metadata.
func (e *evidence) known() belfry.Position { return max(e.stored, e.noted) }

// lost returns g, unless both stores have all of it.
func (e *evidence) lost(g gap) []gap {
	if g.to <= min(e.stored, e.moved) || e.accepted[LossJournal] {
		return nil
	}
	return []gap{g}
}

// damaged returns the gap of a damage.
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

// unused returns the gap of an intact record that cannot be used.
func (e *evidence) unused(pos belfry.Position) []gap {
	return e.lost(gap{from: pos, to: pos, why: unusable(pos)})
}

// gaps returns all losses that follow from the journal and the metadata.
func (e *evidence) gaps() (list []gap) {
	for _, d := range e.journal.Damaged() {
		list = append(list, e.damaged(d)...)
	}
	list = append(list, e.end(e.known(), "the metadata")...)
	if begins, _, _ := e.journal.Bounds(); e.moved < begins && !e.accepted[LossRows] && !e.accepted[LossMetadata] {
		why := fmt.Sprintf("the journal begins after %s, and the row store has the records up to %s: segments are missing", begins, e.moved)
		list = append(list, e.lost(gap{from: e.moved + 1, to: begins, why: why})...)
	}
	return list
}

// end returns the gap at the end of the journal if another part has records up to pos and the journal does not.
func (e *evidence) end(pos belfry.Position, who string) []gap {
	last, ok := e.journal.LastValid(pos)
	found := func(d journal.Damage) bool { return !d.Torn && last < d.From && pos <= d.To }
	if ok || e.accepted[LossMetadata] || slices.ContainsFunc(e.journal.Damaged(), found) {
		return nil
	}
	why := fmt.Sprintf("the journal ends at %s, before what %s have (%s): records are missing at the end", last, who, pos)
	return e.lost(gap{from: last + 1, to: pos | math.MaxUint32, why: why}) // the number of lost records is unknown
}

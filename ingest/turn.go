package ingest

// A row that changes the status of its object changes everything around it, too, a hundred views if they stand in each
// other. So what a turn of the sequencer may take is bounded by what follows from its rows as well as by their number:
// nobody else's rows are decided meanwhile. Each change is an event, which is what is counted; those about objects are
// not, since there are no more of them than rows. Open rows, which mostly create something, are counted by themselves.
const (
	turnEvents  = 5_000  // after which the rest of a chunk waits for another turn
	turnOpen    = 256    // open rows, the same
	wholeEvents = 20_000 // of a body that is one record, which is refused beyond that
)

// takeTurns lets rows wait for another turn when this one has done enough.
func (t *Tx) takeTurns() { t.most, t.turns = turnEvents, true }

// LimitEvents bounds the events above objects that the transaction may cause, see spent.
func (t *Tx) LimitEvents(most int) { t.most = most }

// spent tells that a turn has done enough.
func (t *Tx) spent() bool { return t.most > 0 && t.events.above >= t.most }

// nextOpen tells whether another open row may be decided in this turn, and counts it.
func (t *Tx) nextOpen() bool {
	if t.spent() || t.turns && t.opened == turnOpen {
		return false
	}
	t.opened++
	return true
}

// openNow is how many of the open rows that are left may be decided in this turn. Of a body that is applied as a whole, most may
// turn out to be wrong.
func (t *Tx) openNow(left int) int {
	if t.turns {
		return min(left, turnOpen-t.opened)
	}
	return min(left, chunkRows)
}

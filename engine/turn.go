package engine

// A row that changes the status of its object changes everything around it, too, a hundred views if they stand in each
// other. So what a turn of the sequencer may take is bounded by what follows from its rows as well as by their number:
// nobody else's rows are decided meanwhile. Each change is an event, which is what is counted; those about objects are
// not, since there are no more of them than rows. Open rows, which mostly create something, are counted by themselves.
const (
	TurnEvents  = 5_000  // after which the rest of a chunk waits for another turn
	TurnOpen    = 256    // open rows, the same
	WholeEvents = 20_000 // of a body that is one record, which is refused beyond that
)

// TakeTurns lets rows wait for another turn when this one has done enough.
func (t *Tx) TakeTurns() { t.maxEvents, t.inTurns = TurnEvents, true }

// LimitEvents bounds the events above objects that the transaction may cause, see Spent.
func (t *Tx) LimitEvents(most int) { t.maxEvents = most }

// Spent tells that a turn has done enough.
func (t *Tx) Spent() bool { return t.maxEvents > 0 && t.events.above >= t.maxEvents }

// NextOpen tells whether another open row may be decided in this turn, and counts it.
func (t *Tx) NextOpen() bool {
	if t.Spent() || t.inTurns && t.openDone == TurnOpen {
		return false
	}
	t.openDone++
	return true
}

// mostExpected is for how many open rows of a body that is applied as a whole room is made: most of them may turn out to be wrong.
const mostExpected = 16_384

// openNow is how many of the open rows that are left are likely to be decided in this turn.
func (t *Tx) openNow(left int) int {
	if t.inTurns {
		return min(left, TurnOpen-t.openDone)
	}
	return min(left, mostExpected)
}

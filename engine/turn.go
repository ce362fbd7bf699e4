package engine

import "slices"

// While a turn runs, no other command is decided, so its length is limited. A row that changes the status of its object can
// change up to MaxDepth views above it. So events about views and resources are counted; those about objects are not, because
// there are no more of them than rows. Undecided rows, most of which create an item, have their own limit.
const (
	TurnEvents    = 5_000  // after which the rest of a chunk waits for another turn
	TurnUndecided = 256    // undecided rows, the same
	WholeEvents   = 20_000 // of a body that is one record; a larger one is refused
)

// Turn bounds what a transaction does in one turn of the sequencer.
type Turn struct{ t *Tx }

// Turn returns the bounds of the transaction's turn.
func (t *Tx) Turn() Turn { return Turn{t} }

// Split makes rows wait for another turn once this one is full.
func (u Turn) Split() { u.t.maxEvents, u.t.inTurns = TurnEvents, true }

// LimitEvents sets the number of events about views and resources after which the turn is full.
func (u Turn) LimitEvents(most int) { u.t.maxEvents = most }

// Full reports whether the turn has reached its limit of events.
func (u Turn) Full() bool { return u.t.maxEvents > 0 && u.t.events.Above() >= u.t.maxEvents }

// NextRow reports whether another undecided row fits into the turn, and counts it.
func (u Turn) NextRow() bool {
	if u.Full() || u.t.inTurns && u.t.undecidedDone == TurnUndecided {
		return false
	}
	u.t.undecidedDone++
	return true
}

// Expect allocates memory for rows most of which create an item with this many parts. Growing step by step would copy it
// several times.
func (u Turn) Expect(rows, parts int) {
	rows = u.t.undecidedNow(rows)
	u.t.rec.Items = slices.Grow(u.t.rec.Items, rows*(1+parts))
	u.t.rec.States = slices.Grow(u.t.rec.States, rows)
	u.t.s.made = slices.Grow(u.t.s.made, rows)
	u.t.s.drafts = slices.Grow(u.t.s.drafts, rows)
	u.t.events.Grow(rows)
}

// mostExpected limits what Expect allocates for a body that is one record, since most of its rows may be wrong.
const mostExpected = 16_384

// undecidedNow returns how many of the undecided rows left are likely to fit into this turn.
func (t *Tx) undecidedNow(left int) int {
	if t.inTurns {
		return min(left, TurnUndecided-t.undecidedDone)
	}
	return min(left, mostExpected)
}

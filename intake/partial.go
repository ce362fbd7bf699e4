package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"belfry"
	"belfry/engine"
)

// partialError is the error that ended a body of which a part had been applied.
type partialError struct {
	shown *belfry.Error // to the client
	cause error
}

func (e *partialError) Error() string {
	if e.shown.Code == belfry.Internal {
		return e.shown.Message + ": " + e.cause.Error()
	}
	return e.shown.Error()
}

func (e *partialError) Unwrap() []error { return []error{e.shown, e.cause} }

// withPart adds to the error that ended a body what became of the rows before: those of the report, which are the first ones of the body. A row
// of a removal may have been carried out in part, which is not counted.
func withPart(ctx context.Context, err error, r *belfry.Report, removes bool) error {
	e, ok := errors.AsType[*belfry.Error](err)
	if err == nil || !ok && ctx.Err() != nil { // the client has gone
		return err
	}
	told := ""
	switch {
	case r.Rows > 0:
		told = partText(r, removes)
	case removes && ok && strings.HasPrefix(e.Message, engine.NothingStored):
		told = "not all of this body was carried out"
	default:
		return err
	}
	shown := belfry.Error{Code: belfry.Internal, Message: told}
	if ok {
		shown = *e
		if e.Doubtful {
			told += "; the compressed data are damaged, so what was stored may differ from what was sent: look at these rows, " +
				"and send with atomic or an Idempotency-Key, which store nothing of a damaged body"
		}
		shown.Message = told + ": " + strings.TrimPrefix(e.Message, engine.NothingStored)
	}
	return &partialError{&shown, err}
}

// partText says what became of the first rows of a body, and what is to be done about the others. The number of stored rows alone would not show
// which they are, if others among them were rejected.
func partText(r *belfry.Report, removes bool) string {
	first, them, done := fmt.Sprintf("first %d rows of this body have", r.Rows), "them", "stored"
	if r.Rows == 1 {
		first, them = "first row of this body has", "it"
	}
	if removes {
		done = "carried out"
	}
	became := fmt.Sprintf("%d %s", r.Accepted, done)
	if r.Rejected > 0 {
		became += fmt.Sprintf(", %d rejected", r.Rejected)
	}
	if r.Discarded > 0 {
		became += fmt.Sprintf(", %d discarded", r.Discarded)
	}
	return fmt.Sprintf("the %s been processed: %s; send the rows after %s again", first, became, them)
}

// firstOutcome is what became of the first rows of a chunk, up to the first that is left for another turn. Some rows after that one may have been refused
// or discarded already, or have made a view; whoever sends them again comes to the same.
func (c *chunk) firstOutcome() outcome {
	all := c.outcome()
	if !c.more {
		return all
	}
	left := c.firstLeft()
	first := outcome{stored: all.stored}
	for i := range c.undecided.rows[:c.undecided.next] {
		if r := &c.undecided.rows[i]; r.row > left && r.kind == viewRow && !r.refused { // the others are stored with data and logs, in their order
			first.stored--
		}
	}
	for _, row := range c.discardedRows {
		if row < left {
			first.discarded++
		}
	}
	first.rejected = int(left) - 1 - c.rowsBefore - first.stored - first.discarded
	return first
}

// firstLeft is the number of the first row that is left for another turn.
func (c *chunk) firstLeft() int32 {
	left := int32(math.MaxInt32)
	if c.undecided.left() > 0 {
		left = c.undecided.rows[c.undecided.next].row
	}
	for _, origins := range [][]origin{c.data.origins, c.logs.origins} {
		if len(origins) > 0 {
			left = min(left, origins[0].row)
		}
	}
	return left
}

// ready is how many data rows and log lines precede the first row that has not been decided: rows are stored in the order of the body.
func (c *chunk) ready() (rows, lines int) {
	if c.undecided.left() == 0 {
		return len(c.data.nodes), len(c.logs.nodes)
	}
	undecided := c.undecided.rows[c.undecided.next].row
	return before(c.data.origins, undecided), before(c.logs.origins, undecided)
}

// before is how many of the origins, which are in order, precede a row.
func before(origins []origin, row int32) int {
	n, _ := slices.BinarySearchFunc(origins, row, func(o origin, row int32) int { return cmp.Compare(o.row, row) })
	return n
}

// addTo adds the rows to the report of a request that has failed.
func (t outcome) addTo(r *belfry.Report) {
	r.Rows += t.stored + t.rejected + t.discarded
	r.Accepted += t.stored
	r.Rejected += t.rejected
	r.Discarded += t.discarded
}

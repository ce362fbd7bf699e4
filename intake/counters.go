package intake

import (
	"context"
	"sync/atomic"

	"belfry"
)

// Counters say what became of every row that came in: received = stored + rejected + discarded + tried + the lost ones.
type Counters struct {
	Received, Stored, Rejected, Discarded atomic.Int64
	Tried                                 atomic.Int64 // of dry runs and refused atomic bodies
	Lost                                  [lostReasons]atomic.Int64
}

type lostReason int

// Why rows that had been read were not stored. None of them was acknowledged.
const (
	lostBroken     lostReason = iota // the body broke off, or its sender has lost its rights
	lostOverloaded                   // too much was waiting already
	lostStorage                      // the journal could not be written
	lostRate                         // the customer has sent more than it may
	lostRefused                      // the request was refused when its rows were decided
	lostReasons
)

// LostReasons names the entries of Counters.Lost.
var LostReasons = [lostReasons]string{"broken_body", "overloaded", "storage", "row_rate", "refused"}

// lostReasonOf returns the reason for refusing rows in which no error had been found.
func lostReasonOf(err error) lostReason {
	switch belfry.CodeOf(err) {
	case belfry.Overloaded:
		return lostOverloaded
	case belfry.RateLimited:
		return lostRate
	case belfry.StorageUnavailable:
		return lostStorage
	}
	return lostBroken // the client has gone, or has lost its rights
}

// lostReasonOfCommand says why rows were not stored whose command failed.
func lostReasonOfCommand(err error) lostReason {
	switch belfry.CodeOf(err) {
	case belfry.Internal:
		return lostStorage
	case belfry.Overloaded, belfry.RateLimited, belfry.StorageUnavailable:
		return lostReasonOf(err)
	}
	return lostRefused
}

// Counters returns the live counters.
func (in *Intake) Counters() *Counters { return &in.counters }

// lostReasonOfBody says why a body was not applied to its end.
func lostReasonOfBody(ctx context.Context, err error) lostReason {
	if ctx.Err() == nil && belfry.CodeOf(err) == belfry.Internal {
		return lostStorage
	}
	return lostReasonOf(err)
}

// countChunk counts the rows of a chunk whose command has ended with an error, or with none.
func (in *Intake) countChunk(customer belfry.CustomerID, c *chunk, err error) {
	if err != nil {
		in.countLost(customer, c.rows, lostReasonOfCommand(err))
		return
	}
	in.counters.add(c.rows, c.outcome())
}

// countLost counts rows that were read and are not stored.
func (in *Intake) countLost(customer belfry.CustomerID, rows int, why lostReason) {
	in.counters.Received.Add(int64(rows))
	in.addLost(customer, rows, why)
}

// countPart counts a chunk that was given up after some turns: what these have decided counts, and the other rows are lost.
func (in *Intake) countPart(customer belfry.CustomerID, rows int, t outcome, why lostReason) {
	in.counters.add(rows, t)
	in.addLost(customer, rows-t.stored-t.rejected-t.discarded, why)
}

func (in *Intake) addLost(customer belfry.CustomerID, rows int, why lostReason) {
	in.counters.Lost[why].Add(int64(rows))
	if rows > 0 {
		var f shortfall
		f.lost[why] = rows
		in.shortfalls.add(customer, f)
	}
}

// outcome is what became of the rows of a chunk so far.
type outcome struct {
	stored, rejected, discarded int
}

func (c *chunk) outcome() outcome {
	return outcome{c.report.Accepted, c.rejected.count, c.report.Discarded}
}

// add counts rows that were received, and what became of them.
func (n *Counters) add(rows int, t outcome) {
	n.Received.Add(int64(rows))
	n.Stored.Add(int64(t.stored))
	n.Rejected.Add(int64(t.rejected))
	n.Discarded.Add(int64(t.discarded))
}

// addTried counts a chunk whose effects were rolled back.
func (n *Counters) addTried(c *chunk) {
	n.Received.Add(int64(c.rows))
	n.Tried.Add(int64(c.rows))
}

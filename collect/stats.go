package collect

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"belfry"
)

// ReceiverStats counts what happened to the messages of a receiver: received = kept + filtered + dropped, once all are
// processed.
type ReceiverStats struct {
	Received, Kept, Filtered atomic.Int64
	Dropped                  [DropReasons]atomic.Int64
	Failed                   atomic.Int64 // kept unchanged because the script failed
	Cut                      atomic.Int64 // received, but truncated

	totals   *Totals
	reported statsSnapshot // the last report
}

// Drop is the reason why a message was lost.
type Drop int

// The reasons.
const (
	DropKernel      Drop = iota // the kernel's receive buffer was full
	DropSource                  // the sender is not in an allowed network
	DropAccess                  // wrong community, user or password
	DropMalformed               // the packet cannot be parsed
	DropOverloaded              // the inbox was full
	DropRate                    // over the customer's rate limit
	DropStorage                 // it could not be stored
	DropDiscarded               // the management mode discards it
	DropConnections             // too many connections
	DropFault                   // a panic while it was processed
	DropReasons

	// dropNone: a request that was answered and contains nothing to keep. It counts as filtered, because nothing is lost.
	dropNone Drop = -1
)

var dropNames = [DropReasons]string{"kernel", "source", "access", "malformed", "overloaded", "row_rate", "storage", "discarded", "connections", "fault"}

func (d Drop) String() string { return dropNames[d] }

// Totals are the counters of all receivers since the start.
type Totals struct {
	Received, Kept, Filtered, Failed, Cut atomic.Int64
	Dropped                               [DropReasons]atomic.Int64
	Reset                                 atomic.Int64 // connections reset by the sender
}

// NewStats returns the counters of a new receiver.
func (e *Env) NewStats() *ReceiverStats { return &ReceiverStats{totals: &e.Totals} }

// Receive counts messages that arrived.
func (a *ReceiverStats) Receive(n int) {
	a.Received.Add(int64(n))
	a.totals.Received.Add(int64(n))
}

// Keep counts messages that were stored.
func (a *ReceiverStats) Keep(n int) {
	a.Kept.Add(int64(n))
	a.totals.Kept.Add(int64(n))
}

// Filter counts messages that filter or script rejected.
func (a *ReceiverStats) Filter(n int) {
	a.Filtered.Add(int64(n))
	a.totals.Filtered.Add(int64(n))
}

// Fail counts messages for which the script failed.
func (a *ReceiverStats) Fail(n int) {
	a.Failed.Add(int64(n))
	a.totals.Failed.Add(int64(n))
}

// Shorten counts messages that were truncated.
func (a *ReceiverStats) Shorten(n int) {
	a.Cut.Add(int64(n))
	a.totals.Cut.Add(int64(n))
}

// Drop counts messages that were lost.
func (a *ReceiverStats) Drop(why Drop, n int) {
	a.Dropped[why].Add(int64(n))
	a.totals.Dropped[why].Add(int64(n))
}

// dropReason returns the reason for an error of Intake.Receive.
func dropReason(err error) Drop {
	switch belfry.CodeOf(err) {
	case belfry.Overloaded:
		return DropOverloaded
	case belfry.RateLimited:
		return DropRate
	}
	return DropStorage
}

// statsSnapshot are the counters at one moment, in the order of the indicators of the receiver's object.
type statsSnapshot [6]int64

func (a *ReceiverStats) snapshot() statsSnapshot {
	dropped := int64(0)
	for i := range a.Dropped {
		dropped += a.Dropped[i].Load()
	}
	return statsSnapshot{a.Received.Load(), a.Kept.Load(), a.Filtered.Load(), dropped, a.Failed.Load(), a.Cut.Load()}
}

// reportEvery is the interval that the class of the receiver's object expects.
const reportEvery = 60 * time.Second

// report stores what was counted since the last report as values of the receiver's objects.
func (a *ReceiverStats) report(ctx context.Context, e *Env, t Task) (err error) {
	now := a.snapshot()
	row := belfry.Row{Type: "data", Resource: t.Name}
	for i := range now {
		row.Indicators = append(row.Indicators, belfry.Cell{N: i + 1, Text: strconv.FormatInt(now[i]-a.reported[i], 10)})
	}
	for _, name := range t.Objects {
		row.Object = name
		err = errors.Join(err, e.send(ctx, t.Customer, &row))
	}
	if err == nil {
		a.reported = now // otherwise the next report has them
	}
	return err
}

// send stores one row.
func (e *Env) send(ctx context.Context, c belfry.CustomerID, row *belfry.Row) error {
	return e.Intake.Feed(ctx, belfry.Whole(c), []*belfry.Row{row}, false)
}

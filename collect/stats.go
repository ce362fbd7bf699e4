package collect

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"belfry"
)

// ReceiverStats says what became of every message that a receiver was sent: received = kept + filtered + dropped. What is still
// being worked on has been received and is not yet booked.
type ReceiverStats struct {
	Received, Kept, Filtered atomic.Int64
	Dropped                  [DropReasons]atomic.Int64
	Failed                   atomic.Int64 // of the messages that were kept: the script failed, so they are as they came
	Cut                      atomic.Int64 // of the messages that were received: they were too long, and their end is lost

	totals *Totals
	reported statsSnapshot // what the receiver's own object knows; Report's, and then Conclude's
}

// Drop is why a message was not kept although no filter said so.
type Drop int

// The reasons.
const (
	DropKernel      Drop = iota // the system had no room for the packet
	DropSource                  // it came from where the receiver takes nothing from
	DropAccess                  // community, user or password were wrong
	DropMalformed               // a packet that is none
	DropOverloaded              // it came faster than it could be stored
	DropRate                    // the customer has sent more than it may
	DropStorage                 // it could not be stored
	DropDiscarded               // the management of the resource says not to store
	DropConnections             // there was no room for its connection
	DropReasons

	// dropNone is no reason: what came was a question that has been answered, with nothing in it to keep. It counts as
	// filtered, because nothing is lost.
	dropNone Drop = -1
)

var dropNames = [DropReasons]string{"kernel", "source", "access", "malformed", "overloaded", "row_rate", "storage", "discarded", "connections"}

func (d Drop) String() string { return dropNames[d] }

// Totals are the accounts of all receivers together, since the start.
type Totals struct {
	Received, Kept, Filtered, Failed, Cut atomic.Int64
	Dropped                               [DropReasons]atomic.Int64
	Reset                                 atomic.Int64 // connections that their senders reset
}

// NewStats opens the account of a receiver.
func (e *Env) NewStats() *ReceiverStats { return &ReceiverStats{totals: &e.Totals} }

// Receive books messages that came in.
func (a *ReceiverStats) Receive(n int) {
	a.Received.Add(int64(n))
	a.totals.Received.Add(int64(n))
}

// Keep books messages that were stored.
func (a *ReceiverStats) Keep(n int) {
	a.Kept.Add(int64(n))
	a.totals.Kept.Add(int64(n))
}

// Filter books messages that filter or script did not want.
func (a *ReceiverStats) Filter(n int) {
	a.Filtered.Add(int64(n))
	a.totals.Filtered.Add(int64(n))
}

// Fail books messages whose script failed.
func (a *ReceiverStats) Fail(n int) {
	a.Failed.Add(int64(n))
	a.totals.Failed.Add(int64(n))
}

// Shorten books messages whose end is lost.
func (a *ReceiverStats) Shorten(n int) {
	a.Cut.Add(int64(n))
	a.totals.Cut.Add(int64(n))
}

// Drop books messages that are lost.
func (a *ReceiverStats) Drop(why Drop, n int) {
	a.Dropped[why].Add(int64(n))
	a.totals.Dropped[why].Add(int64(n))
}

// dropReason tells why the sink did not take messages.
func dropReason(err error) Drop {
	switch belfry.CodeOf(err) {
	case belfry.Overloaded:
		return DropOverloaded
	case belfry.RateLimited:
		return DropRate
	}
	return DropStorage
}

// statsSnapshot is an account at one moment.
type statsSnapshot struct{ received, kept, filtered, dropped, failed, cut int64 }

func (a *ReceiverStats) snapshot() (t statsSnapshot) {
	t = statsSnapshot{received: a.Received.Load(), kept: a.Kept.Load(), filtered: a.Filtered.Load(), failed: a.Failed.Load(), cut: a.Cut.Load()}
	for i := range a.Dropped {
		t.dropped += a.Dropped[i].Load()
	}
	return t
}

// reportEvery is how often a receiver's own object gets values; its class expects them in that interval.
const reportEvery = 60 * time.Second

// Report tells the object of a receiver, at once and then every minute until ctx ends, what came in since the last time and
// what became of it. So losing messages is an alarm like any other.
func (a *ReceiverStats) Report(ctx context.Context, e *Env, task func() Task) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		if err := a.report(ctx, e, task()); err != nil && ctx.Err() == nil {
			e.Log.Warn("a receiver's own figures were not stored", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ReportLast tells the object what came in since the last report, once all of it is booked: whoever changes a receiver or
// stops the service loses no figures. A receiver that was removed has no object any more, which is no fault.
func (a *ReceiverStats) ReportLast(ctx context.Context, e *Env, t Task) {
	if a.snapshot() == a.reported {
		return
	}
	if err := a.report(ctx, e, t); err != nil {
		e.Log.Debug("a receiver's last figures were not stored", "err", err)
	}
}

func (a *ReceiverStats) report(ctx context.Context, e *Env, t Task) (err error) {
	now, last := a.snapshot(), a.reported
	row := belfry.Row{Type: "data", Resource: t.Name}
	for i, n := range []int64{
		now.received - last.received, now.kept - last.kept, now.filtered - last.filtered, now.dropped - last.dropped, now.failed - last.failed, now.cut - last.cut,
	} {
		row.Indicators = append(row.Indicators, belfry.Cell{N: i + 1, Text: strconv.FormatInt(n, 10)})
	}
	for _, name := range t.Objects {
		row.Object = name
		err = errors.Join(err, send(ctx, e.Sink, t.Customer, &row))
	}
	if err == nil {
		a.reported = now // else they are told with the next ones
	}
	return err
}

// send hands over one row.
func send(ctx context.Context, s Sink, c belfry.CustomerID, row *belfry.Row) error {
	return s.Feed(ctx, belfry.Whole(c), []*belfry.Row{row}, false)
}

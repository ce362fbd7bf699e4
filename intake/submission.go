package intake

import (
	"context"
	"time"

	"belfry"
	"belfry/engine"
)

// submission is a chunk of a body that was submitted to the sequencer.
type submission struct {
	who      engine.Sender
	chunk    *chunk
	command  *engine.Command // nil: nothing was submitted
	removes  bool
	reserved int     // items that the turn may create, see reserveItems
	made     int     // items that the turns before it have
	outcome  outcome // of all rows so far
	first    outcome // of the rows up to the first that was left for another turn, see chunk.firstOutcome
}

// reserve waits until the chunk may be submitted.
func (s *submission) reserve(ctx context.Context, in *Intake, underWay bool) error {
	return s.who.Pause(ctx, func(ctx context.Context) error {
		if err := in.reserveRows(ctx, s.who.Customer, s.removes, s.chunk.rows, underWay); err != nil {
			return err
		}
		return s.reserveItems(ctx, in)
	})
}

// reserveItems waits until a turn may create what its rows need.
func (s *submission) reserveItems(ctx context.Context, in *Intake) (err error) {
	if !s.removes {
		s.reserved, err = in.reserveItems(ctx, s.who.Customer, min(s.chunk.undecided.left(), engine.TurnUndecided))
	}
	return err
}

// wait waits for the chunk to be decided, in as many turns as that takes, and adds it to the report.
func (s *submission) wait(ctx context.Context, in *Intake, r *belfry.Report) error {
	if s.command == nil {
		return nil
	}
	<-s.command.Done
	s.endTurn(in)
	for s.command.Err == nil && s.chunk.more {
		s.command.Err = s.who.Pause(ctx, func(ctx context.Context) error {
			if err := mustEnd(ctx); err != nil {
				return err
			}
			if err := in.engine.WaitForRoom(ctx, s.who.Customer, engine.TurnEvents); err != nil {
				return err
			}
			return s.reserveItems(ctx, in)
		})
		if s.command.Err == nil {
			s.command.Err = in.engine.Do(s.command.Again())
			s.endTurn(in)
		}
	}
	memory := s.chunk.undecided.reuse()
	in.undecidedPool.Put(&memory)
	if s.command.Err != nil {
		in.countPart(s.who.Customer, s.chunk.rows, s.outcome, lostReasonOfBody(ctx, s.command.Err))
		s.first.addTo(r)
		return s.command.Err
	}
	in.counters.add(s.chunk.rows, s.outcome)
	s.chunk.addTo(r)
	return nil
}

// endTurn refunds what a turn has not created of the items reserved for it, and keeps what became of the rows.
func (s *submission) endTurn(in *Intake) {
	made := s.chunk.report.Created.Sum()
	in.refundItems(s.who.Customer, s.reserved, made-s.made)
	s.reserved, s.made = 0, made
	if s.command.Err == nil {
		s.outcome, s.first = s.chunk.outcome(), s.chunk.firstOutcome()
	}
}

// reserveRows waits until there is room for rows and counts them against the customer's rate. Above the rate, a body under way
// waits and everything else is refused.
func (in *Intake) reserveRows(ctx context.Context, c belfry.CustomerID, removes bool, rows int, underWay bool) error {
	stored := rows
	if removes {
		stored = 0
	}
	if err := mustEnd(ctx); err != nil {
		return err
	}
	if underWay && ctx.Err() != nil { // what was read before is stored; the client has gone
		return context.Cause(ctx)
	}
	if err := in.engine.WaitForRoom(ctx, c, stored); err != nil {
		return err
	}
	return in.chargeRate(ctx, c, rows, underWay)
}

// chargeRate counts rows against the customer's rate.
func (in *Intake) chargeRate(ctx context.Context, c belfry.CustomerID, rows int, underWay bool) error {
	for {
		rate := in.engine.Limits().Rate
		wait := in.pace.reserve(c, rows, rate, in.engine.Clock())
		if wait <= 0 || !underWay {
			return tooFast(rate, wait)
		}
		in.Waited(c, wait)
		select {
		case <-time.After(wait):
		case <-in.closing:
			return engine.ErrStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// addTo sums a decided chunk into the report of its request.
func (c *chunk) addTo(r *belfry.Report) {
	r.Rows += c.rows
	r.AddDone(&c.report)
	for _, e := range c.rejected.list {
		r.Reject(e)
	}
	r.Rejected += c.rejected.count - len(c.rejected.list)
	r.Truncated = r.Truncated || r.Rejected > len(r.Errors)
}

package intake

import (
	"context"
	"errors"

	"belfry"
	"belfry/engine"
	"belfry/meta"
)

// applyWhole reads a body to its end and applies all of it in one record, or nothing.
func (in *Intake) applyWhole(ctx context.Context, who engine.Sender, b body, o Options) (code int, answer []byte, err error) {
	held := in.newWholeBody(who.Customer)
	defer held.Release()
	c, err := readWhole(b, func(c *chunk, text int) error {
		if err := mustEnd(ctx); err != nil {
			return err
		}
		return held.check(c, text)
	})
	if err != nil {
		in.countLost(who.Customer, c.rows, lostReasonOf(err))
		return 0, nil, err
	}
	reserved := 0
	err = who.Pause(ctx, func(ctx context.Context) error {
		err := in.reserveRows(ctx, who.Customer, o.removes, c.rows, false)
		if err == nil && !o.removes && !o.DryRun {
			reserved, err = in.reserveItems(ctx, who.Customer, c.undecided.left())
		}
		return err
	})
	if err != nil {
		in.refundItems(who.Customer, reserved, 0)
		in.countLost(who.Customer, c.rows, lostReasonOf(err))
		return 0, nil, err
	}
	alone := o.removes || o.DryRun || o.Atomic || in.mayOverrun(who.Customer, c)
	cmd := &engine.Command{Customer: who.Customer, Views: who.Views, Rows: c.cost(), Alone: alone, Decide: func(t *engine.Tx) error {
		if alone {
			t.Turn().LimitEvents(engine.WholeEvents)
		}
		t.By = who.Actor()
		if b.decide(decision{t, in}, c); c.more {
			return tooMuch()
		}
		report := &belfry.Report{}
		c.addTo(report)
		if o.Atomic && report.Rejected > 0 {
			code, answer = report.Refused()
			return engine.ErrRolledBack
		}
		code, answer = report.Answer()
		if o.DryRun {
			return engine.ErrRolledBack
		}
		t.Reply(who, o.Repeat, engine.Reply{Status: code, Body: answer})
		return nil
	}}
	err = in.engine.Do(cmd)
	in.refundItems(who.Customer, reserved, c.report.Created.Sum())
	if errors.Is(err, engine.ErrRolledBack) {
		in.counters.addTried(c)
		return code, answer, in.engine.Remember(who, o.Repeat, engine.Reply{Status: code, Body: answer})
	}
	in.countChunk(who.Customer, c, err)
	return code, answer, err
}

// tooMuch is for a body that must be one record and would take too long.
func tooMuch() error {
	return belfry.Errorf(belfry.BodyTooLarge, "the rows of this body change the status of views and resources more than %d times, which is too much for a request "+
		"that is atomic, a dry run, or has an Idempotency-Key; send it in parts, or without", engine.WholeEvents)
}

// mayOverrun reports whether the rows of a body may change views and resources more often than a record may. Such a body has its
// round to itself, so that it can be refused without harm to others.
func (in *Intake) mayOverrun(customer belfry.CustomerID, c *chunk) bool {
	const above = 2 * engine.MaxDepth // views of a resource in views of the customer
	if c.rows*above <= engine.WholeEvents {
		return false
	}
	left := engine.WholeEvents - above*c.undecided.len()
	in.tree.Read(customer, func(*meta.Tenant) {
		for _, n := range c.data.nodes {
			for ; n != nil && left > 0; n = n.Parent {
				left--
			}
		}
	})
	return left <= 0
}

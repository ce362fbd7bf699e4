package intake

import (
	"context"
	"errors"
	"io"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
)

// Options are the parameters of a bulk request.
type Options struct {
	Format     belfry.Format       // of a body of Send
	Collection *catalog.Collection // of its rows; nil for rows that say with type what they are
	DryRun     bool
	Atomic     bool
	Recursive  bool // of a removal: with the content
	ChangeOnly bool // of provisioning: what does not exist is not created
	// Repeat makes the request safe to repeat; zero when the client sent no Idempotency-Key.
	Repeat engine.Repeat

	alone bool // each chunk must have its round to itself
}

// Send takes a body of data, log and createview rows, or of rows of a collection, and answers with the report of what became of each.
func (in *Intake) Send(ctx context.Context, who engine.Sender, r io.Reader, o Options) (code int, answer []byte, err error) {
	return in.bulk(ctx, who, o, func() (body, error) {
		if c := o.Collection; c != nil && c.Name != belfry.ObjectData && c.Name != belfry.ObjectLog {
			return in.newCollectionBody(c, who.Scope, r, o.Format)
		}
		return in.newReader(who.Scope, r, o)
	})
}

// bulk answers a request whose body is rows, whatever they are about.
func (in *Intake) bulk(ctx context.Context, who engine.Sender, o Options, open func() (body, error)) (code int, answer []byte, err error) {
	if o.DryRun {
		o.Repeat = engine.Repeat{} // it changes nothing, so the key stays free for the request itself
	}
	unread := !o.DryRun
	defer func() {
		if unread {
			in.TurnedAway(who.Customer, err)
		}
	}()
	if err := in.pace.enter(who.Customer, in.engine.Limits().Rate, in.engine.Clock()); err != nil {
		return 0, nil, err
	}
	run := func() (int, []byte, error) {
		b, err := open()
		if err != nil {
			return 0, nil, err
		}
		unread = false
		if o.DryRun || o.Atomic || o.Repeat.Key != "" {
			code, answer, err := in.applyWhole(ctx, who, b, o)
			return code, answer, Stopped(ctx, err)
		}
		report := &belfry.Report{}
		code, answer, err := in.applyStream(ctx, who, b, o, report)
		_, removes := b.(*removalBody)
		return code, answer, partly(ctx, Stopped(ctx, err), report, removes)
	}
	if o.Repeat.Key != "" {
		reply, err := in.engine.Once(ctx, who, o.Repeat, func() (engine.Reply, error) {
			code, answer, err := run()
			return engine.Reply{Status: code, Body: answer}, err
		})
		return reply.Status, reply.Body, Stopped(ctx, err)
	}
	return run()
}

// applyStream applies a body chunk by chunk, reading the next while the sequencer has the one before. If the body could not be applied
// to its end, the report has what became of its first rows.
func (in *Intake) applyStream(ctx context.Context, who engine.Sender, b body, o Options, report *belfry.Report) (int, []byte, error) {
	last := pending{}
	part := oneChunk()
	part.bytes = filled(in.engine.Limits()).ChunkBytes
	_, removes := b.(*removalBody)
	for {
		c, readErr := b.read(part)
		ended := errors.Is(readErr, io.EOF)
		if readErr != nil && !ended {
			_ = last.finish(ctx, in, report) // nothing acknowledges it, but it counts
			in.lost(who.Customer, c.rows, lostReasonOf(readErr))
			return 0, nil, readErr
		}
		next := pending{who: who, chunk: c, removes: removes}
		err := who.Pause(ctx, func(ctx context.Context) error {
			if err := in.room(ctx, who.Customer, removes, c.rows, last.command != nil); err != nil {
				return err
			}
			return next.reserveItems(ctx, in)
		})
		if err != nil {
			_ = last.finish(ctx, in, report)
			in.lost(who.Customer, c.rows, lostReasonOf(err))
			return 0, nil, err
		}
		if err := last.finish(ctx, in, report); err != nil {
			in.lost(who.Customer, c.rows, unfinished(ctx, err))
			return 0, nil, err
		}
		if err := mostlyWrong(report); err != nil && !ended {
			in.lost(who.Customer, c.rows, lostBroken)
			return 0, nil, err
		}
		last = next
		last.command = &engine.Command{Customer: who.Customer, Views: who.Views, Rows: c.cost(), Alone: o.alone, Decide: func(t *engine.Tx) error {
			t.By = who.Actor()
			t.Turn().Split()
			b.apply(decision{t, in}, c)
			return nil
		}}
		if err := in.engine.Submit(last.command); err != nil {
			in.lost(who.Customer, c.rows, lostStorage)
			return 0, nil, err
		}
		if ended {
			if err := last.finish(ctx, in, report); err != nil {
				return 0, nil, err
			}
			code, answer := report.Answer()
			return code, answer, nil
		}
	}
}

// mostRejected is the number of rejected rows after which the rest of a body is not read, if few were accepted. A small
// compressed body can have a hundred million of them, a minute of processor time.
const mostRejected = 1_000_000

// mostlyWrong is the error for a body that is not worth being read to its end.
func mostlyWrong(r *belfry.Report) error {
	if r.Rejected < mostRejected || 4*(r.Accepted+r.Discarded) >= r.Rejected {
		return nil
	}
	first := ""
	if len(r.Errors) > 0 {
		first = ": " + r.Errors[0].Message
	}
	return belfry.Errorf(belfry.BodyTooLarge, "of the first %d rows of the body %d were accepted and %d rejected%s; the rest was not read; correct it and send it again", r.Rows, r.Accepted, r.Rejected, first)
}

// room waits until there is room for rows and counts them against the customer's rate. Above the rate, a body under way
// waits and everything else is refused.
func (in *Intake) room(ctx context.Context, c belfry.CustomerID, removes bool, rows int, underWay bool) error {
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
	return in.paced(ctx, c, rows, underWay)
}

// paced counts rows against the customer's rate.
func (in *Intake) paced(ctx context.Context, c belfry.CustomerID, rows int, underWay bool) error {
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

// pending is a chunk that was submitted to the sequencer.
type pending struct {
	who      engine.Sender
	chunk    *chunk
	command  *engine.Command
	removes  bool
	reserved int // items that the turn may create, see reserveItems
	made     int // items that the turns before it have
	settled  outcome
	first    outcome // of the rows up to the first that was left for another turn, see chunk.dealt
}

// reserveItems waits until a turn may create what its rows need.
func (p *pending) reserveItems(ctx context.Context, in *Intake) (err error) {
	if !p.removes {
		p.reserved, err = in.reserveItems(ctx, p.who.Customer, min(p.chunk.open.left(), engine.TurnOpen))
	}
	return err
}

// decided settles what was reserved for the turn.
func (p *pending) decided(in *Intake) {
	made := p.chunk.report.Created.Sum()
	in.created(p.who.Customer, p.reserved, made-p.made)
	p.reserved, p.made = 0, made
	if p.command.Err == nil {
		p.settled, p.first = p.chunk.outcome(), p.chunk.dealt()
	}
}

// finish waits for the chunk to be decided and adds it to the report.
func (p *pending) finish(ctx context.Context, in *Intake, r *belfry.Report) error {
	if p.command == nil {
		return nil
	}
	<-p.command.Done
	p.decided(in)
	for p.command.Err == nil && p.chunk.more {
		p.command.Err = p.who.Pause(ctx, func(ctx context.Context) error {
			if err := mustEnd(ctx); err != nil {
				return err
			}
			if err := in.engine.WaitForRoom(ctx, p.who.Customer, engine.TurnEvents); err != nil {
				return err
			}
			return p.reserveItems(ctx, in)
		})
		if p.command.Err == nil {
			p.command.Err = in.engine.Do(p.command.Again())
			p.decided(in)
		}
	}
	room := p.chunk.open.reuse()
	in.opens.Put(&room)
	if p.command.Err != nil {
		in.cut(p.who.Customer, p.chunk.rows, p.settled, unfinished(ctx, p.command.Err))
		p.first.addTo(r)
		return p.command.Err
	}
	in.counters.book(p.chunk.rows, p.settled)
	p.chunk.addTo(r)
	return nil
}

// unfinished says why a body was not applied to its end.
func unfinished(ctx context.Context, err error) lostReason {
	if ctx.Err() == nil && belfry.CodeOf(err) == belfry.Internal {
		return lostStorage
	}
	return lostReasonOf(err)
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
		in.lost(who.Customer, c.rows, lostReasonOf(err))
		return 0, nil, err
	}
	_, removes := b.(*removalBody)
	reserved := 0
	err = who.Pause(ctx, func(ctx context.Context) error {
		err := in.room(ctx, who.Customer, removes, c.rows, false)
		if err == nil && !removes && !o.DryRun {
			reserved, err = in.reserveItems(ctx, who.Customer, c.open.left())
		}
		return err
	})
	if err != nil {
		in.created(who.Customer, reserved, 0)
		in.lost(who.Customer, c.rows, lostReasonOf(err))
		return 0, nil, err
	}
	alone := o.alone || o.DryRun || o.Atomic || in.mayOverrun(who.Customer, c)
	cmd := &engine.Command{Customer: who.Customer, Views: who.Views, Rows: c.cost(), Alone: alone, Decide: func(t *engine.Tx) error {
		if alone {
			t.Turn().LimitEvents(engine.WholeEvents)
		}
		t.By = who.Actor()
		if b.apply(decision{t, in}, c); c.more {
			return tooMuch()
		}
		report := &belfry.Report{}
		c.addTo(report)
		if o.Atomic && report.Rejected > 0 {
			code, answer = report.Refused()
			return engine.ErrTakenBack
		}
		code, answer = report.Answer()
		if o.DryRun {
			return engine.ErrTakenBack
		}
		t.Reply(who, o.Repeat, engine.Reply{Status: code, Body: answer})
		return nil
	}}
	err = in.engine.Do(cmd)
	in.created(who.Customer, reserved, c.report.Created.Sum())
	if errors.Is(err, engine.ErrTakenBack) {
		in.counters.taken(c)
		return code, answer, in.engine.Remember(who, o.Repeat, engine.Reply{Status: code, Body: answer})
	}
	in.count(who.Customer, c, err)
	return code, answer, err
}

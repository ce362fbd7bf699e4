package intake

import (
	"context"
	"errors"
	"io"

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
	CreateOnly bool // of provisioning: what exists is not changed
	// Repeat makes the request safe to repeat; zero when the client sent no Idempotency-Key.
	Repeat engine.Repeat

	pt      *catalog.PackageType // of a body of Provision or Remove
	removes bool                 // the rows name what to remove
}

// Send takes a body of data, log and createview rows, or of rows of a collection, and answers with the report of what became of each.
// A body whose effects must be one record is read to its end first; of others the error says what became of the first rows.
func (in *Intake) Send(ctx context.Context, who engine.Sender, r io.Reader, o Options) (code int, answer []byte, err error) {
	if o.DryRun {
		o.Repeat = engine.Repeat{} // it changes nothing, so the key stays free for the request itself
	}
	stored, err := in.begin(ctx, who, o)
	if err != nil {
		return 0, nil, in.refuse(who, o, err)
	}
	if stored != nil {
		return stored.Status, stored.Body, nil
	}
	defer in.engine.EndOnce(who, o.Repeat)
	b, err := in.open(ctx, who, r, o)
	if err != nil {
		return 0, nil, in.refuse(who, o, err)
	}
	if o.DryRun || o.Atomic || o.Repeat.Key != "" {
		code, answer, err = in.applyWhole(ctx, who, b, o)
		return code, answer, Stopped(ctx, err)
	}
	report := &belfry.Report{}
	if err := in.stream(ctx, who, b, o, report); err != nil {
		return 0, nil, withPart(ctx, Stopped(ctx, err), report, o.removes)
	}
	code, answer = report.Answer()
	return code, answer, nil
}

// Provision is Send for a CSV body of what one package makes: it creates or changes that.
func (in *Intake) Provision(ctx context.Context, who engine.Sender, packageType string, r io.Reader, o Options) (code int, answer []byte, err error) {
	if o.pt, err = in.packageType(packageType); err != nil {
		return 0, nil, err
	}
	return in.Send(ctx, who, r, o)
}

// Remove is Send for a CSV body that names what a package has made: it takes that away. What was recorded about it stays.
func (in *Intake) Remove(ctx context.Context, who engine.Sender, packageType string, r io.Reader, o Options) (code int, answer []byte, err error) {
	if o.pt, err = in.packageType(packageType); err != nil {
		return 0, nil, err
	}
	o.removes = true
	return in.Send(ctx, who, r, o)
}

// begin refuses a request whose customer is above its rate, and returns the reply to one that was answered before.
func (in *Intake) begin(ctx context.Context, who engine.Sender, o Options) (stored *engine.Reply, err error) {
	if err := in.pace.enter(who.Customer, in.engine.Limits().Rate, in.engine.Clock()); err != nil {
		return nil, err
	}
	stored, err = in.engine.BeginOnce(ctx, who, o.Repeat)
	return stored, Stopped(ctx, err)
}

// refuse counts a request that is refused before any of its rows is read, unless it is a dry run, and returns the error.
func (in *Intake) refuse(who engine.Sender, o Options, err error) error {
	if !o.DryRun {
		in.CountRefused(who.Customer, err)
	}
	return err
}

// open opens a body and reads its header.
func (in *Intake) open(ctx context.Context, who engine.Sender, r io.Reader, o Options) (body, error) {
	switch c := o.Collection; {
	case o.removes:
		return in.newRemovalBody(who, r, o)
	case o.pt != nil:
		return in.newPackageBody(ctx, who, r, o)
	case c != nil && c.Name != belfry.ObjectData && c.Name != belfry.ObjectLog:
		return in.newCollectionBody(c, who.Scope, r, o.Format)
	}
	return in.newSendBody(who.Scope, r, o)
}

// stream applies a body chunk by chunk, reading the next while the sequencer has the one before. If the body could not be applied
// to its end, the report has what became of its first rows.
func (in *Intake) stream(ctx context.Context, who engine.Sender, b body, o Options, report *belfry.Report) error {
	last := submission{}
	part := chunkLimits()
	part.bytes = filled(in.engine.Limits()).ChunkBytes
	for ended := false; !ended; {
		c, err := b.read(part)
		if ended = errors.Is(err, io.EOF); ended {
			err = nil
		}
		next := submission{who: who, chunk: c, removes: o.removes}
		if err == nil {
			err = next.reserve(ctx, in, last.command != nil)
		}
		if err != nil {
			_ = last.wait(ctx, in, report) // nothing acknowledges it, but it counts
			in.countLost(who.Customer, c.rows, lostReasonOf(err))
			return err
		}
		if err := last.wait(ctx, in, report); err != nil {
			in.countLost(who.Customer, c.rows, lostReasonOfBody(ctx, err))
			return err
		}
		if err := mostlyWrong(report); err != nil && !ended {
			in.countLost(who.Customer, c.rows, lostBroken)
			return err
		}
		next.command = &engine.Command{Customer: who.Customer, Views: who.Views, Rows: c.cost(), Alone: o.removes, Decide: func(t *engine.Tx) error {
			t.By = who.Actor()
			t.Turn().Split()
			b.decide(decision{t, in}, c)
			return nil
		}}
		if err := in.engine.Submit(next.command); err != nil {
			in.countLost(who.Customer, c.rows, lostStorage)
			return err
		}
		last = next
	}
	return last.wait(ctx, in, report)
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

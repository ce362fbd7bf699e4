package collect

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/collect/script"
)

// receiver carries messages of one format from a port to package intake:
//
//	port ──► inbox ──► workers: read, filter, script ──► batch ──► intake
//
// While a batch is being committed, the next messages gather in the inbox, so batches grow with the load. Workers read in
// parallel and store in order, so rows are in the order in which messages arrived.
//
// When the resource is changed, the same receiver continues: its setup is swapped, it moves to another port if need be, and messages that
// are still in the inbox are filtered by the new setup.
type receiver[M any] struct {
	env    *Env
	task   Task // at the start
	format messageFormat[M]

	stats       *ReceiverStats
	inbox       *inbox
	current     atomic.Pointer[setup[M]]
	faults      chan error             // end the receiver
	lastFailure atomic.Pointer[string] // of the script, as it was logged
}

// messageFormat is what differs between kinds of receivers.
type messageFormat[M any] interface {
	// configure parses the answers of a resource: how to read what arrives, and where to listen.
	configure(e *Env, answers map[string]string) (messageReader[M], portSpec, error)
	// check validates the answers that other receivers do not have. The column is the one that is wrong.
	check(answers map[string]string) (column string, err error)
	// parse reads a text to try filter and script with.
	parse(e *Env, answers map[string]string, text string) (M, error)
	// unparsed returns a message that the reader could not read, as it came; false if there is no field for it.
	unparsed(raw) (M, bool)
	// batch returns messages as columns of their collection, without times.
	batch(messages []M) belfry.Batch

	// sender returns the field with the address of the sender.
	sender(*M) *string
	// size returns the total length of the texts in bytes.
	size(*M) int
	// blank sets the numbers to "unknown".
	blank(*M)
	// validate checks the numbers of a message that was made by a script or for a trial.
	validate(*M) error
}

// messageReader reads the messages of one receiver.
type messageReader[M any] interface {
	// read parses a message, or says why it is dropped. A reply is sent once the message is stored or filtered out.
	read(in raw) (m M, reply *informReply, why Drop, ok bool)
}

// setup is the configuration of a receiver. It never changes.
type setup[M any] struct {
	task    Task
	spec    portSpec
	allow   networks
	reader  messageReader[M]
	kills   *atomic.Int32 // worker processes that had to be killed because of the script
	binding *binding
}

const (
	receiverWorkers = 2
	receiverBatch   = 1 << 13
	stopTimeout     = 5 * time.Second // to store what has arrived when the receiver is stopped
	reportTimeout   = 2 * time.Second // and then to report the counters
)

// receiverKind is the entry in Kinds of receivers of one format.
func receiverKind[M any](f messageFormat[M]) Kind {
	return Kind{
		adapts: true,
		New: func(e *Env, t Task) (Collector, error) {
			return &receiver[M]{env: e, task: t, format: f, stats: e.NewStats()}, nil
		},
		inspect: func(ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error) {
			if _, err := parseNetworks(answers["allow"]); err != nil {
				return "allow", err
			}
			if column, err := f.check(answers); err != nil {
				return column, err
			}
			return checkPipeline(ctx, e, f, c, answers)
		},
		try: func(ctx context.Context, e *Env, task Task, t trial) (*Tried, error) { return try(ctx, e, task, t, f) },
	}
}

// Run receives until ctx ends, and then stores what has arrived. Changes of the resource come on changes.
func (r *receiver[M]) Run(ctx context.Context, changes <-chan Task) error {
	s, err := r.configure(ctx, r.task)
	if err != nil {
		return err
	}
	r.inbox, r.faults = newInbox(s.inboxLimit()), make(chan error, receiverWorkers)
	s.binding = newBinding(ctx, s.task, r.stats, r.inbox, s.allow)
	if err := r.env.attach(s.binding, s.spec); err != nil {
		return err
	}
	r.current.Store(s)
	late, cancel := context.WithCancel(context.Background())
	defer cancel()
	var workers, reports sync.WaitGroup
	for range receiverWorkers {
		workers.Go(func() { r.run(func() { r.work(late) }) })
	}
	reporting, stopReports := context.WithCancel(ctx)
	reports.Go(func() { r.run(func() { r.report(reporting) }) })
	defer func() { // after a panic, too
		r.env.detach(r.current.Load().binding)
		r.inbox.close()
		stop := time.AfterFunc(stopTimeout, cancel)
		defer stop.Stop()
		workers.Wait()
		stopReports()
		reports.Wait()
		r.reportLast()
	}()
	return r.follow(ctx, changes)
}

// run runs one of the receiver's goroutines. A panic in it ends the receiver.
func (r *receiver[M]) run(f func()) {
	err := r.env.guard(func() error {
		f()
		return nil
	})
	if err != nil {
		r.fail(err)
	}
}

// reportLast reports what was counted since the last report, once everything is. It may fail because the resource was removed.
func (r *receiver[M]) reportLast() {
	if r.stats.snapshot() == r.stats.reported {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	if err := r.stats.report(ctx, r.env, r.current.Load().task); err != nil {
		r.env.Log.Debug("a receiver's last figures were not stored", "err", err)
	}
}

// waits reports whether senders can wait, so that nothing has to be dropped.
func (s *setup[M]) waits() bool { return s.spec.protocol == "tcp" }

func (s *setup[M]) inboxLimit() int {
	if s.waits() {
		return inboxStream
	}
	return inboxPackets
}

// report sends the counters to the receiver's own object, at once and then every minute, so that lost messages raise an alarm.
func (r *receiver[M]) report(ctx context.Context) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		if err := r.stats.report(ctx, r.env, r.current.Load().task); err != nil && ctx.Err() == nil {
			r.env.Log.Warn("a receiver's own figures were not stored", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// follow applies changes of the resource until ctx ends or the receiver fails.
func (r *receiver[M]) follow(ctx context.Context, changes <-chan Task) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.faults:
			return err
		case err := <-r.current.Load().binding.faults:
			return err
		case t := <-changes:
			if err := r.change(ctx, t); err != nil {
				return err
			}
		}
	}
}

// configure makes the setup of a task, and tries its filter and script.
func (r *receiver[M]) configure(ctx context.Context, t Task) (s *setup[M], err error) {
	if t.Denied {
		return nil, notGranted(t.Answers["listen"])
	}
	s = &setup[M]{task: t, kills: new(atomic.Int32)}
	if s.reader, s.spec, err = r.format.configure(r.env, t.Answers); err != nil {
		return nil, err
	}
	if s.allow, err = parseNetworks(t.Answers["allow"]); err != nil {
		return nil, err
	}
	column, err := checkPipeline(ctx, r.env, r.format, t.Customer, t.Answers)
	if err != nil && column == "filter" {
		err = switchedOff{err} // it was accepted under other limits, and a retry does not help
	}
	return s, err
}

// change swaps the setup. If the port changes, the new one is opened before the old one is closed, unless the old one is in the way.
func (r *receiver[M]) change(ctx context.Context, t Task) error {
	old := r.current.Load()
	s, err := r.configure(ctx, t)
	if err != nil {
		return err
	}
	r.inbox.setLimit(s.inboxLimit())
	if s.spec.same(&old.spec) {
		b := *old.binding
		b.allow, s.binding = s.allow, &b
		r.current.Store(s)
		return b.port.rebind(&b)
	}
	s.binding = newBinding(ctx, t, r.stats, r.inbox, s.allow)
	if err = r.env.attach(s.binding, s.spec); err == nil {
		r.current.Store(s)
	}
	r.env.detach(old.binding)
	if err != nil {
		err = r.env.attach(s.binding, s.spec)
		r.current.Store(s)
	}
	return err
}

// work processes messages until the inbox is closed and empty.
func (r *receiver[M]) work(ctx context.Context) {
	w := &worker[M]{receiver: r}
	defer func() {
		if w.pipeline != nil {
			w.pipeline.close()
		}
	}()
	for raws, t := r.inbox.next(nil); len(raws) > 0; raws, t = r.inbox.next(raws) {
		r.run(func() { w.process(ctx, raws, t) })
	}
}

// worker is one of the goroutines that process the messages of a receiver.
type worker[M any] struct {
	*receiver[M]
	setup    *setup[M]
	pipeline *pipeline[M]
	out      batch[M]
}

// process processes a chunk.
func (w *worker[M]) process(ctx context.Context, raws []raw, t ticket) {
	if w.storeChunk(ctx, raws, t) {
		for _, reply := range w.out.replies {
			reply.send()
		}
	}
	if w.pipeline != nil && w.pipeline.off() {
		w.fail(switchedOff{script.ErrOff})
	}
}

// storeChunk reads, filters and stores a chunk, and reports whether it is safe.
func (w *worker[M]) storeChunk(ctx context.Context, raws []raw, t ticket) bool {
	w.out.reset(len(raws))
	defer func() {
		<-t.before // also after a panic, to keep the order
		close(t.stored)
		w.stats.Drop(DropFault, w.out.open) // after a panic only
	}()
	if ctx.Err() != nil { // there is no time to run the script for each of them
		w.stats.Drop(DropOverloaded, len(raws))
		w.out.open = 0
		return false
	}
	if now := w.current.Load(); now != w.setup {
		w.setup = now
		w.pipeline = w.newPipeline(ctx, now, w.pipeline)
	}
	for part := range slices.Chunk(raws, script.BatchSize) {
		w.read(ctx, w.setup, w.pipeline, part, &w.out)
	}
	<-t.before
	return w.store(ctx, w.setup, &w.out)
}

// fail ends the receiver with an error, unless it is ending with another one.
func (r *receiver[M]) fail(err error) {
	select {
	case r.faults <- err:
	default:
	}
}

// newPipeline makes the pipeline of a setup and closes the old one. It was tried before, so it can fail only for reasons of the
// machine; then messages are stored unchanged until the receiver is restarted.
func (r *receiver[M]) newPipeline(ctx context.Context, s *setup[M], old *pipeline[M]) *pipeline[M] {
	if old != nil {
		old.close()
	}
	p, _, err := newPipeline(ctx, r.env, r.format, s.task.Customer, s.task.Answers, s.kills)
	if err != nil {
		r.fail(err)
		return &pipeline[M]{broken: err}
	}
	return p
}

// batch holds the messages that are stored together. Its slices are reused.
type batch[M any] struct {
	messages []M
	times    []belfry.Time
	replies  []*informReply

	open int // of the chunk, not counted as kept, filtered or dropped yet

	read        []M // before filter and script
	readTimes   []belfry.Time
	readReplies []*informReply
}

// reset empties the batch. The times are allocated, because the record keeps those of the last one.
func (l *batch[M]) reset(n int) {
	clear(l.messages)
	clear(l.replies)
	l.messages, l.replies, l.times, l.open = l.messages[:0], l.replies[:0], make([]belfry.Time, 0, n), n
}

// read reads messages, applies filter and script, and adds those that are kept to the batch.
func (r *receiver[M]) read(ctx context.Context, s *setup[M], p *pipeline[M], raws []raw, l *batch[M]) {
	clear(l.read)
	clear(l.readReplies)
	l.read, l.readTimes, l.readReplies = l.read[:0], l.readTimes[:0], l.readReplies[:0]
	for i := range raws {
		if raws[i].fullSize > 0 {
			r.stats.Shorten(1)
		}
		m, reply, why, ok := r.parse(s.reader, raws[i])
		switch {
		case ok:
			l.read, l.readTimes, l.readReplies = append(l.read, m), append(l.readTimes, raws[i].at), append(l.readReplies, reply)
		case why == dropNone:
			r.stats.Filter(1)
			l.open--
		default:
			r.stats.Drop(why, 1)
			l.open--
		}
	}
	verdicts := p.apply(ctx, l.read)
	for i := range l.read {
		if verdicts != nil && !r.applyVerdict(ctx, s, &verdicts[i], &l.read[i]) {
			r.stats.Filter(1)
			l.open--
		} else {
			l.messages, l.times = append(l.messages, l.read[i]), append(l.times, l.readTimes[i])
		}
		if l.readReplies[i] != nil {
			l.replies = append(l.replies, l.readReplies[i])
		}
	}
}

// parse reads a message. One that makes the reader panic is kept unparsed if its format can, and else dropped.
func (r *receiver[M]) parse(reader messageReader[M], in raw) (m M, reply *informReply, why Drop, ok bool) {
	err := r.env.guard(func() error {
		m, reply, why, ok = reader.read(in)
		return nil
	})
	if err == nil {
		return m, reply, why, ok
	}
	if m, ok = r.format.unparsed(in); ok {
		r.stats.Fail(1)
	}
	return m, nil, DropMalformed, ok
}

// applyVerdict stores what the script sends about objects, and reports whether the message is kept. If one of these rows is
// refused, the script has failed and the message is restored.
func (r *receiver[M]) applyVerdict(ctx context.Context, s *setup[M], v *verdict[M], m *M) (keep bool) {
	if v.failed == nil && len(v.feeds) > 0 {
		if v.failed = r.env.feed(ctx, s.task, v.feeds); v.failed != nil {
			v.rejectedBy, *m = "", *v.original
		}
	}
	if v.failed != nil {
		r.stats.Fail(1)
		text := v.failed.Error()
		if last := r.lastFailure.Swap(&text); last == nil || *last != text {
			r.env.Log.Warn("a message is kept as it came", "resource", s.task.Resource, "err", v.failed)
		}
	}
	return v.rejectedBy == ""
}

// store stores a batch and reports whether it is safe. It retries while the rows cannot be stored; meanwhile messages
// gather in the inbox.
func (r *receiver[M]) store(ctx context.Context, s *setup[M], l *batch[M]) bool {
	if len(l.messages) == 0 {
		return true
	}
	rows := r.format.batch(l.messages)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		b := &belfry.Batch{Collection: rows.Collection, Times: l.times, Columns: slices.Clone(rows.Columns)}
		kept, err := r.env.Intake.Receive(ctx, s.task.Customer, s.task.Resource, b, s.waits())
		if err == nil {
			r.stats.Keep(kept)
			r.stats.Drop(DropDiscarded, len(l.messages)-kept)
			l.open = 0
			return true
		}
		why := dropReason(err)
		if code := belfry.CodeOf(err); why == DropRate || code == belfry.UnknownResource || ctx.Err() != nil {
			r.stats.Drop(why, len(l.messages))
			l.open = 0
			return false
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

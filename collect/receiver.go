package collect

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// receiver carries messages of one kind from a port to the sink:
//
//	port ──► inbox ──► workers: read, filter, script ──► batch ──► sink
//
// While a batch is on its way into the journal, the next messages gather in the inbox; so the more arrive, the larger are
// the batches. Workers read beside each other and store in turn, so rows are in the order in which messages arrived.
//
// When the resource is changed, the receiver stays: it gets another setup, and another port if need be, and what is in the inbox
// is judged by the new one.
type receiver[M any] struct {
	env        *Env
	task       Task // with which it begins
	collection string
	prepare    func(*Env, Task) (*setup[M], error)

	stats *ReceiverStats
	inbox   *inbox
	current atomic.Pointer[setup[M]]
	faults  chan error             // that end the receiver
	lastFailure    atomic.Pointer[string] // the last failure of the script that was logged
}

// setup is what the answers of a resource make of its receiver. It never changes.
type setup[M any] struct {
	task  Task
	spec  portSpec
	allow networks
	wait  bool // the sender can wait, so nothing is dropped because of haste
	kind  messageKind[M]
	kills *atomic.Int32 // workers that the script has cost

	binding *binding // at its port
}

// messageKind makes messages of what arrives, and columns of messages.
type messageKind[M any] interface {
	// read makes a message of what came, or says why there is none. What it gives back as stored, if anything, is called once
	// the message is safe or a filter did not want it: a sender that asked for an answer gets it then, and not before.
	read(b *binding, in raw) (m M, stored func(), why Drop, ok bool)
	columns([]M) []belfry.Column
}

const (
	receiverWorkers = 2
	receiverBatch   = 1 << 13
	stopTimeout       = 5 * time.Second // to store what has arrived when the receiver is stopped
	reportTimeout     = 2 * time.Second // and then to tell what became of it
)

// Run receives until ctx ends, and then stores what has arrived. Changes of the resource come on changes.
func (r *receiver[M]) Run(ctx context.Context, changes <-chan Task) error {
	s, err := r.configure(ctx, r.task)
	if err != nil {
		return err
	}
	r.inbox, r.faults = newInbox(s.room()), make(chan error, receiverWorkers)
	s.binding = r.bindingOf(ctx, s)
	if err := r.env.ports.attach(s.binding, s.spec, s.allow); err != nil {
		return err
	}
	r.current.Store(s)
	late, cancel := context.WithCancel(context.Background())
	defer cancel()
	var workers, reports sync.WaitGroup
	for range receiverWorkers {
		workers.Go(func() { r.work(late) })
	}
	reporting, stopReports := context.WithCancel(ctx)
	defer stopReports()
	reports.Go(func() { r.stats.Report(reporting, r.env, r.taskNow) })
	fault := r.follow(ctx, changes)
	if b := r.current.Load().binding; b != nil {
		r.env.ports.detach(b)
	}
	r.inbox.close()
	stop := time.AfterFunc(stopTimeout, cancel)
	defer stop.Stop()
	workers.Wait()
	stopReports()
	reports.Wait()
	final, cancelFinal := context.WithTimeout(context.Background(), reportTimeout)
	defer cancelFinal()
	r.stats.ReportLast(final, r.env, r.taskNow())
	return fault
}

func (s *setup[M]) room() int {
	if s.wait {
		return inboxStream
	}
	return inboxPackets
}

func (r *receiver[M]) taskNow() Task { return r.current.Load().task }

func (r *receiver[M]) bindingOf(ctx context.Context, s *setup[M]) *binding {
	return &binding{customer: s.task.Customer, resource: s.task.Resource, stats: r.stats, inbox: r.inbox, over: ctx.Done()}
}

// follow changes the receiver when its resource is changed, until ctx ends or something is wrong with it.
func (r *receiver[M]) follow(ctx context.Context, changes <-chan Task) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.faults:
			return err
		case t := <-changes:
			if err := r.change(ctx, t); err != nil {
				return err
			}
		}
	}
}

// configure makes the setup of a task, once its filter and script have been tried.
func (r *receiver[M]) configure(ctx context.Context, t Task) (*setup[M], error) {
	if t.Denied {
		return nil, notGranted(t.Answers["listen"])
	}
	s, err := r.prepare(r.env, t)
	if err != nil {
		return nil, err
	}
	if s.allow, err = parseNetworks(t.Answers["allow"]); err != nil {
		return nil, err
	}
	s.task, s.kills = t, new(atomic.Int32)
	column, err := checkPipeline[M](ctx, r.env, t.Customer, t.Answers)
	if err != nil && column == "filter" {
		err = switchedOff{err} // it was accepted when limits were other ones, and does not get better by itself
	}
	return s, err
}

// change gives the receiver another setup. A port that it needs then is opened before the old one is left, unless they are in
// each other's way.
func (r *receiver[M]) change(ctx context.Context, t Task) error {
	old := r.current.Load()
	s, err := r.configure(ctx, t)
	if err != nil {
		return err
	}
	r.inbox.setLimit(s.room())
	if s.spec.same(&old.spec) {
		s.binding = old.binding
		r.current.Store(s)
		return s.binding.port.bind(s.binding, s.allow)
	}
	s.binding = r.bindingOf(ctx, s)
	if err := r.env.ports.attach(s.binding, s.spec, s.allow); err == nil {
		r.current.Store(s)
		r.env.ports.detach(old.binding)
		return nil
	}
	r.env.ports.detach(old.binding)
	if err := r.env.ports.attach(s.binding, s.spec, s.allow); err != nil {
		s.binding = nil // it has none to leave
		r.current.Store(s)
		return err
	}
	r.current.Store(s)
	return nil
}

// work takes messages out of the inbox until it is closed and empty.
func (r *receiver[M]) work(ctx context.Context) {
	var raws []raw
	var load batch[M]
	var s *setup[M]
	var p *pipeline[M]
	defer func() {
		if p != nil {
			p.close()
		}
	}()
	for {
		var turn ticket
		if raws, turn = r.inbox.next(raws); len(raws) == 0 {
			return
		}
		if ctx.Err() != nil { // too late to ask a script about each of them
			r.stats.Drop(DropOverloaded, len(raws))
			close(turn.stored)
			continue
		}
		if now := r.current.Load(); now != s {
			s = now
			p = r.pipeline(ctx, s, p)
		}
		load.reset(len(raws))
		for part := raws; len(part) > 0; {
			n := min(len(part), runMessages)
			r.process(ctx, s, p, part[:n], &load)
			part = part[n:]
		}
		<-turn.before
		safe := r.store(ctx, s, &load)
		close(turn.stored)
		if safe {
			for _, f := range load.stored {
				f()
			}
		}
		if p.off() {
			select {
			case r.faults <- switchedOff{errScriptOff}:
			default: // somebody said it already
			}
		}
	}
}

// pipeline makes the one of a setup, in the place of another. It was tried before, so it can fail only for reasons of the
// machine; then messages are kept as they come until the receiver is run again.
func (r *receiver[M]) pipeline(ctx context.Context, s *setup[M], old *pipeline[M]) *pipeline[M] {
	if old != nil {
		old.close()
	}
	p, _, err := newPipeline[M](ctx, r.env, s.task.Customer, s.task.Answers, s.kills)
	if err != nil {
		select {
		case r.faults <- err:
		default:
		}
		return &pipeline[M]{broken: err}
	}
	return p
}

// batch is what goes to the sink at once.
type batch[M any] struct {
	messages []M
	times    []belfry.Time
	stored   []func()

	read  []M // a part of them, before filter and script
	of    []belfry.Time
	calls []func()
}

// reset makes it ready for so many messages. The times of the last ones belong to the sink.
func (l *batch[M]) reset(n int) {
	clear(l.messages)
	clear(l.stored)
	l.messages, l.stored, l.times = l.messages[:0], l.stored[:0], make([]belfry.Time, 0, n)
}

// process reads messages, asks filter and script about them, and puts those that are to be kept into the load.
func (r *receiver[M]) process(ctx context.Context, s *setup[M], p *pipeline[M], raws []raw, l *batch[M]) {
	clear(l.read)
	clear(l.calls)
	l.read, l.of, l.calls = l.read[:0], l.of[:0], l.calls[:0]
	for i := range raws {
		if raws[i].fullSize > 0 {
			r.stats.Shorten(1)
		}
		m, stored, why, ok := s.kind.read(s.binding, raws[i])
		if !ok {
			r.countRejected(why)
			continue
		}
		l.read, l.of, l.calls = append(l.read, m), append(l.of, raws[i].at), append(l.calls, stored)
	}
	verdicts := p.apply(ctx, l.read)
	for i := range l.read {
		if verdicts != nil && !r.applyVerdict(ctx, s, &verdicts[i], &l.read[i]) {
			r.stats.Filter(1)
		} else {
			l.messages, l.times = append(l.messages, l.read[i]), append(l.times, l.of[i])
		}
		if l.calls[i] != nil {
			l.stored = append(l.stored, l.calls[i])
		}
	}
}

// applyVerdict does what filter and script said of a message, and tells whether it is kept. If what the script feeds is refused, the
// script has failed, and the message is again what it was before.
func (r *receiver[M]) applyVerdict(ctx context.Context, s *setup[M], v *verdict[M], m *M) (keep bool) {
	if v.failed == nil && len(v.feeds) > 0 {
		if v.failed = r.env.feed(ctx, s.task, v.feeds); v.failed != nil {
			v.rejectedBy, *m = "", *v.original
		}
	}
	if v.failed != nil {
		r.stats.Fail(1)
		r.logFailure(s, v.failed)
	}
	return v.rejectedBy == ""
}

// countRejected books what is no message to keep.
func (r *receiver[M]) countRejected(why Drop) {
	if why == dropNone {
		r.stats.Filter(1)
		return
	}
	r.stats.Drop(why, 1)
}

// logFailure logs a failure of filter or script, the same one once.
func (r *receiver[M]) logFailure(s *setup[M], failed error) {
	text := failed.Error()
	if last := r.lastFailure.Swap(&text); last == nil || *last != text {
		r.env.Log.Warn("a message is kept as it came", "resource", s.task.Resource, "err", failed)
	}
}

// store hands messages to the sink and tells whether they are safe. When they cannot be stored now, that is tried again:
// meanwhile others gather.
func (r *receiver[M]) store(ctx context.Context, s *setup[M], l *batch[M]) bool {
	if len(l.messages) == 0 {
		return true
	}
	columns := s.kind.columns(l.messages)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		b := &belfry.Batch{Collection: r.collection, Times: l.times, Columns: append([]belfry.Column(nil), columns...)}
		kept, err := r.env.Sink.Receive(ctx, s.task.Customer, s.task.Resource, b, s.wait)
		if err == nil {
			r.stats.Keep(kept)
			r.stats.Drop(DropDiscarded, len(l.messages)-kept)
			return true
		}
		why := dropReason(err)
		if code := belfry.CodeOf(err); why == DropRate || code == belfry.UnknownResource || ctx.Err() != nil {
			r.stats.Drop(why, len(l.messages))
			return false
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

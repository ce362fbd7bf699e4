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
// the batches.
type receiver[M any] struct {
	env     *Env
	task    Task
	account *Account
	inbox   *inbox
	desk    *desk // at its port
	wait    bool  // the sender can wait, so nothing is dropped because of haste

	join func(*desk) (leave func(), err error)
	// read makes a message of what came, or says why there is none. What it gives back as stored, if anything, is called once
	// the message is safe or a filter did not want it: a sender that asked for an answer gets it then, and not before.
	read  func(d *desk, in raw) (m M, stored func(), why Drop, ok bool)
	batch func([]M) []belfry.Column

	collection string
	told       atomic.Pointer[string] // the last failure of the script that was logged
}

const (
	receiverWorkers = 2
	receiverBatch   = 1 << 13
	lastWords       = 5 * time.Second // to store what has arrived when the receiver is stopped
	lastFigures     = 2 * time.Second // and then to tell what became of it
)

// Run receives until ctx ends, and then stores what has arrived.
func (r *receiver[M]) Run(ctx context.Context) error {
	r.inbox = newInbox(inboxMessages)
	if r.wait {
		r.inbox = newInbox(inboxPatient)
	}
	d := &desk{resource: r.task.Resource, account: r.account, take: r.take, inherit: r.inherit, over: ctx.Done(), all: r.task.stopping, storing: make(chan struct{}, receiverWorkers)}
	var err error
	if d.allow, err = parseNetworks(r.task.Answers["allow"]); err != nil {
		return err
	}
	sieves, err := r.sieves()
	if err != nil {
		return err
	}
	r.desk = d
	leave, err := r.join(d)
	if err != nil {
		closeAll(sieves)
		return err
	}
	late, cancel := context.WithCancel(context.Background())
	defer cancel()
	var workers sync.WaitGroup
	for _, s := range sieves {
		workers.Go(func() { r.work(late, d, s) })
	}
	workers.Go(func() { r.account.Report(ctx, r.env, r.task) })
	r.task.begin()
	<-ctx.Done()
	leave()
	workers.Go(r.task.leave)
	r.inbox.close()
	stop := time.AfterFunc(lastWords, cancel)
	defer stop.Stop()
	r.bequeath(late)
	workers.Wait()
	final, cancel := context.WithTimeout(context.Background(), lastFigures)
	defer cancel()
	r.account.Conclude(final, r.env, r.task)
	return nil
}

// sieves makes one for each worker.
func (r *receiver[M]) sieves() (all []*sieve[M], err error) {
	for range receiverWorkers {
		s, _, err := newSieve[M](r.task.Answers)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func closeAll[M any](sieves []*sieve[M]) {
	for _, s := range sieves {
		s.close()
	}
}

func (r *receiver[M]) take(ctx context.Context, all []raw, wait bool) {
	lost := r.inbox.put(ctx, all, wait)
	if lost == 0 {
		return
	}
	if next := r.desk.next.Load(); next != nil { // it came while this receiver was changed
		next.take(ctx, all[len(all)-lost:], wait)
		return
	}
	r.account.Drop(DropOverloaded, lost)
}

// bequeath leaves what nobody has looked at yet to the receiver that has taken this one's place, if there is one: so however
// often a receiver is changed, there is one that works, with one inbox.
func (r *receiver[M]) bequeath(ctx context.Context) {
	next := r.desk.next.Load()
	if next == nil {
		return
	}
	for _, pile := range r.inbox.leave() {
		r.account.Drop(DropOverloaded, next.inherit(ctx, pile))
	}
}

func (r *receiver[M]) inherit(ctx context.Context, all []raw) (lost int) {
	lost = r.inbox.put(ctx, all, true)
	if next := r.desk.next.Load(); lost > 0 && next != nil {
		return next.inherit(ctx, all[len(all)-lost:])
	}
	return lost
}

// work takes messages out of the inbox until it is closed and empty.
func (r *receiver[M]) work(ctx context.Context, d *desk, s *sieve[M]) {
	defer s.close()
	var raws []raw
	var load load[M]
	for {
		if raws = r.inbox.take(raws); len(raws) == 0 {
			return
		}
		if ctx.Err() != nil { // too late to ask a script about each of them
			r.account.Drop(DropOverloaded, len(raws))
			continue
		}
		load.empty(len(raws))
		for i := range raws {
			r.sift(ctx, d, s, raws[i], &load)
		}
		if r.store(ctx, &load) {
			for _, f := range load.stored {
				f()
			}
		}
	}
}

// load is what goes to the sink at once.
type load[M any] struct {
	messages []M
	times    []belfry.Time
	stored   []func()
}

// empty makes it ready for so many messages. The times of the last ones belong to the sink.
func (l *load[M]) empty(n int) {
	clear(l.messages)
	clear(l.stored)
	l.messages, l.stored, l.times = l.messages[:0], l.stored[:0], make([]belfry.Time, 0, n)
}

// sift reads a message, asks filter and script about it, and puts it with the others if it is to be kept.
func (r *receiver[M]) sift(ctx context.Context, d *desk, s *sieve[M], in raw, l *load[M]) {
	m, stored, why, ok := r.read(d, in)
	if !ok {
		r.refuse(why)
		return
	}
	v := s.judge(&m)
	if v.failed == nil && len(v.feeds) > 0 {
		v.failed = r.env.feed(ctx, r.task, v.feeds)
	}
	if v.failed != nil {
		r.account.Fail(1)
		r.tell(v.failed)
	}
	if stored != nil {
		l.stored = append(l.stored, stored)
	}
	if v.by != "" {
		r.account.Filter(1)
		return
	}
	l.messages, l.times = append(l.messages, m), append(l.times, in.at)
}

// refuse books what is no message to keep.
func (r *receiver[M]) refuse(why Drop) {
	if why == dropNothing {
		r.account.Filter(1)
		return
	}
	r.account.Drop(why, 1)
}

// tell logs a failure of filter or script, the same one once.
func (r *receiver[M]) tell(failed error) {
	text := failed.Error()
	if last := r.told.Swap(&text); last == nil || *last != text {
		r.env.Log.Warn("a message is kept as it came", "resource", r.task.Resource, "err", failed)
	}
}

// store hands messages to the sink and tells whether they are safe. When they cannot be stored now, that is tried again:
// meanwhile others gather.
func (r *receiver[M]) store(ctx context.Context, l *load[M]) bool {
	if len(l.messages) == 0 {
		return true
	}
	columns := r.batch(l.messages)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		b := &belfry.Batch{Collection: r.collection, Times: l.times, Columns: append([]belfry.Column(nil), columns...)}
		kept, err := r.send(ctx, b)
		if err == nil {
			r.account.Keep(kept)
			r.account.Drop(DropDiscarded, len(l.messages)-kept)
			return true
		}
		why := dropOf(err)
		if code := belfry.CodeOf(err); why == DropRate || code == belfry.UnknownResource || ctx.Err() != nil {
			r.account.Drop(why, len(l.messages))
			return false
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// send hands a batch to the sink, when it is its turn.
func (r *receiver[M]) send(ctx context.Context, b *belfry.Batch) (kept int, err error) {
	select {
	case r.desk.storing <- struct{}{}:
	case <-ctx.Done():
		return 0, belfry.Errorf(belfry.Overloaded, "others are still being stored")
	}
	defer func() { <-r.desk.storing }()
	return r.env.Sink.Receive(ctx, r.task.Customer, r.task.Resource, b, r.wait)
}

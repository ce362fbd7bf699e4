package limit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// Slot is a slot of a limiter that a request holds. A request loses it while it waits: for its client, because the body comes slowly or
// the answer is not read, or until its customer may create more items. It does no work then, and others need the slot. Before it
// continues, it waits for a slot again.
type Slot struct {
	limiter  *Limiter
	customer belfry.CustomerID
	slots    int
	ctx      context.Context
	cancel   context.CancelCauseFunc // of ctx
	maxWait  time.Duration           // how long to wait for the slot again
	waits    *Waits
	abort    func() // ends the wait for the client; it is called by breakOff
	evicted  atomic.Bool
	stopped  atomic.Pointer[error]

	mu    sync.Mutex
	timer *time.Timer
	held  bool
	away  bool // waiting
	rests bool // not for its client; set while nothing waits

	ending sync.Mutex // of abort
	left   bool       // the request has ended
}

// Acquire waits until ctx, limited to wait, ends for a slot; false when there is none. The request may wait for as long as maxWait
// for the slot again after it was lost. Release releases it, and must be called in either case.
func (l *Limiter) Acquire(ctx context.Context, c belfry.CustomerID, slots int, wait, maxWait time.Duration, waits *Waits) (*Slot, bool) {
	p := &Slot{limiter: l, customer: c, slots: slots, maxWait: maxWait, waits: waits, abort: func() {}}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p.held = l.Enter(ctx, c, slots)
	return p, p.held
}

// Context returns a context that ends with the request, or before when the request is evicted or stopped.
func (p *Slot) Context() context.Context { return p.ctx }

// errEvicted is for a request that had to make room for another one. It is the cause with which its context ends.
var errEvicted = belfry.Errorf(belfry.Overloaded, "too many requests of this customer wait, for a client that sends or takes nothing or until the customer may create more items, and this one has waited longest; send fewer at a time and without pauses, and ask for less")

// slotKept is how long a request may wait before it loses its slot.
const slotKept = 100 * time.Millisecond

// Rest calls f, which does not wait for the client. The client has done nothing wrong, so the request does not evict another one:
// while too many wait it keeps its slot. The error is that of f, or says that there was no slot after it; a request that cannot
// continue needs none.
func (p *Slot) Rest(f func(context.Context) error) (err error) {
	p.rests = true
	defer func() { p.rests = false }()
	held := p.pause(func() { err = f(p.ctx) })
	switch {
	case held:
		return err
	case p.evicted.Load():
		return p.resume()
	case err != nil:
		p.waits.end(p)
		return err
	}
	if err = p.resume(); err != nil && p.ctx.Err() != nil && !p.evicted.Load() {
		return context.Cause(p.ctx) // the client has gone, or the service stops
	}
	return err
}

// Wait calls f, which waits for the client. The error says that there was no slot when f returned.
func (p *Slot) Wait(f func()) error {
	if p.pause(f) {
		return nil
	}
	return p.resume()
}

// pause calls f, which waits, and reports whether the slot is still held.
func (p *Slot) pause(f func()) (held bool) {
	p.mu.Lock()
	p.away = true
	if p.timer == nil {
		p.timer = time.AfterFunc(slotKept, p.lose)
	} else {
		p.timer.Reset(slotKept)
	}
	p.mu.Unlock()
	f()
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
	return p.held
}

// resume takes a slot again after it was lost.
func (p *Slot) resume() error {
	if p.evicted.Load() { // it must not wait for a slot with what it holds
		return errEvicted
	}
	p.waits.end(p)
	ctx, cancel := context.WithTimeout(p.ctx, p.maxWait)
	defer cancel()
	if !p.limiter.Enter(ctx, p.customer, p.slots) {
		if err := p.Stopped(); err != nil {
			return err
		}
		return belfry.Errorf(belfry.Overloaded, "the request lost its slot while it waited, and none was free when it could continue; send it without pauses, or try again shortly")
	}
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
	return nil
}

// lose gives up the slot if the request still waits.
func (p *Slot) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.away || !p.held:
	case p.waits.begin(p, WaitsPerSlot*p.slots):
		p.held = false
		p.limiter.Leave(p.customer)
	default:
		p.timer.Reset(slotKept)
	}
}

// Release ends the request.
func (p *Slot) Release() {
	p.mu.Lock()
	held := p.held
	p.held = false
	p.mu.Unlock()
	if held {
		p.limiter.Leave(p.customer)
	}
	p.waits.end(p)
	p.cancel(nil)
	p.ending.Lock()
	defer p.ending.Unlock()
	p.left = true
}

// breakOff ends the wait for the client. Once the request has ended it does nothing: the connection may serve another by then.
func (p *Slot) breakOff() {
	p.ending.Lock()
	defer p.ending.Unlock()
	if !p.left {
		p.abort()
	}
}

// Stop ends the request, and its wait for the client.
func (p *Slot) Stop(cause error) {
	p.stopped.CompareAndSwap(nil, &cause)
	p.cancel(cause) // first: a request that begins to wait for the client after breakOff checks Stopped
	p.breakOff()
}

// Stopped returns the cause with which the request was stopped; nil if it was not.
func (p *Slot) Stopped() error {
	if cause := p.stopped.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Evicted reports whether the request had to make room for another one.
func (p *Slot) Evicted() bool { return p.evicted.Load() }

// OnBreak sets the function that ends the wait for the client.
func (p *Slot) OnBreak(how func()) {
	p.ending.Lock()
	defer p.ending.Unlock()
	p.abort = how
}

// Waits are the requests that wait without a slot. Each holds a part of a body or of an answer in
// memory, so there is a limit; beyond it, the customer with most of them loses the one that has waited longest.
type Waits struct {
	mu   sync.Mutex
	list []*Slot // longest first
}

// WaitsPerSlot is how many requests may wait without a slot, for each slot.
const WaitsPerSlot = 4

// Count returns how many requests wait.
func (w *Waits) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

// begin adds a wait, and reports whether it could.
func (w *Waits) begin(p *Slot, limit int) bool {
	w.mu.Lock()
	if p.rests && !w.hasRoom(p.customer, limit) {
		w.mu.Unlock()
		return false
	}
	w.list = append(w.list, p)
	var victim *Slot
	if len(w.list) > limit && !p.rests {
		victim = w.victim()
		w.list = slices.DeleteFunc(w.list, func(o *Slot) bool { return o == victim })
	}
	w.mu.Unlock()
	if victim != nil {
		victim.evicted.Store(true)
		victim.breakOff()
		victim.cancel(errEvicted)
	}
	return true
}

// hasRoom reports whether one more of a customer may wait without evicting another: a quarter more than the limit, for customers with
// few. The mutex is held.
func (w *Waits) hasRoom(c belfry.CustomerID, limit int) bool {
	has := 0
	for _, p := range w.list {
		if p.customer == c {
			has++
		}
	}
	reserve, few := Reserved(limit)
	return len(w.list) < limit || len(w.list) < limit+reserve && has < few
}

// victim returns the request to evict: of the customer with the most waits, the one that has waited longest. The mutex is held.
func (w *Waits) victim() *Slot {
	by := map[belfry.CustomerID]int{}
	for _, p := range w.list {
		by[p.customer]++
	}
	victim := w.list[0]
	for _, p := range w.list {
		if by[p.customer] > by[victim.customer] {
			victim = p
		}
	}
	return victim
}

func (w *Waits) end(p *Slot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(o *Slot) bool { return o == p })
}

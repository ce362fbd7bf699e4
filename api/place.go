package api

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// place is the place of a request in a limiter. A request that waits for its client, because the body comes slowly or
// the answer is not read, or that waits until its customer may create more, loses the place for that time: it does no work, and others
// need the place. When it can go on, it waits for a place again.
type place struct {
	limiter  *limiter
	customer belfry.CustomerID
	places   int
	ctx      context.Context
	stop     context.CancelCauseFunc // of ctx
	maxWait  time.Duration           // how long to wait for the place again
	waits    *waits
	abort    func()       // ends the wait for the client; it is called by breakOff
	valid    func() error // says why nothing more may be told, see request.stillMay
	evicted  atomic.Bool

	mu    sync.Mutex
	timer *time.Timer
	held  bool
	away  bool // waiting
	rests bool // for something else than its client; set while nothing waits

	ending sync.Mutex // of abort
	left   bool       // the request has ended
}

// errEvicted is for a request that had to make room for another one. It is the cause with which its context ends.
var errEvicted = belfry.Errorf(belfry.Overloaded, "too many requests of this customer wait, for a client that sends or takes nothing or until the customer may create more items, and this one has waited longest; send fewer at a time and without pauses, and ask for less")

// placeKept is how long a request may wait before it loses its place.
const placeKept = 100 * time.Millisecond

// rest calls f, which waits for something else than the client. Its client has done nothing wrong, so it does not take the wait of
// another request away: while too many wait it keeps its place. The error is that of f, or says that there was no place after it; who
// cannot go on needs none.
func (p *place) rest(f func(context.Context) error) (err error) {
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

// wait calls f, which waits. The error says that there was no place when it came back.
func (p *place) wait(f func()) error {
	if p.pause(f) {
		return nil
	}
	return p.resume()
}

// pause calls f, which waits, and tells whether the place is still there.
func (p *place) pause(f func()) (held bool) {
	p.mu.Lock()
	p.away = true
	if p.timer == nil {
		p.timer = time.AfterFunc(placeKept, p.lose)
	} else {
		p.timer.Reset(placeKept)
	}
	p.mu.Unlock()
	f()
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
	return p.held
}

// resume takes a place again after it was lost.
func (p *place) resume() error {
	if p.evicted.Load() { // it must not wait for a place with what it holds
		return errEvicted
	}
	p.waits.end(p)
	ctx, cancel := context.WithTimeout(p.ctx, p.maxWait)
	defer cancel()
	if !p.limiter.enter(ctx, p.customer, p.places) {
		if err := p.stopped(); err != nil {
			return err
		}
		return belfry.Errorf(belfry.Overloaded, "the request lost its place while it waited, and there was none when it could go on; send it without pauses, or try again shortly")
	}
	p.mu.Lock()
	p.held = true
	p.mu.Unlock()
	return nil
}

// lose gives the place up if the request still waits.
func (p *place) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.away || !p.held:
	case p.waits.begin(p, waitsPerPlace*p.places):
		p.held = false
		p.limiter.leave(p.customer)
	default:
		p.timer.Reset(placeKept)
	}
}

// leave ends the request.
func (p *place) leave() {
	p.mu.Lock()
	held := p.held
	p.held = false
	p.mu.Unlock()
	if held {
		p.limiter.leave(p.customer)
	}
	p.waits.end(p)
	p.stop(nil)
	p.ending.Lock()
	defer p.ending.Unlock()
	p.left = true
}

// breakOff ends the wait for the client. Once the request has ended it does nothing: the connection may serve another by then.
func (p *place) breakOff() {
	p.ending.Lock()
	defer p.ending.Unlock()
	if !p.left {
		p.abort()
	}
}

// breaksOff says how the wait for the client is ended.
func (p *place) breaksOff(how func()) {
	p.ending.Lock()
	defer p.ending.Unlock()
	p.abort = how
}

// waits are the requests without a place that wait. Each holds a part of a body or of an answer in
// memory, so there is a limit; beyond it, the customer with most of them loses the one that has waited longest.
type waits struct {
	mu   sync.Mutex
	list []*place // longest first
}

// waitsPerPlace is how many requests may wait without a place, for each place.
const waitsPerPlace = 4

// begin adds a wait, and tells whether it could.
func (w *waits) begin(p *place, most int) bool {
	w.mu.Lock()
	if p.rests && !w.roomy(p.customer, most) {
		w.mu.Unlock()
		return false
	}
	w.list = append(w.list, p)
	var victim *place
	if len(w.list) > most && !p.rests {
		victim = w.most()
		w.list = slices.DeleteFunc(w.list, func(o *place) bool { return o == victim })
	}
	w.mu.Unlock()
	if victim != nil {
		victim.evicted.Store(true)
		victim.breakOff()
		victim.stop(errEvicted)
	}
	return true
}

// roomy tells whether one more of a customer may wait without making another go: a quarter more than most, for customers who have
// few. The mutex is held.
func (w *waits) roomy(c belfry.CustomerID, most int) bool {
	has := 0
	for _, p := range w.list {
		if p.customer == c {
			has++
		}
	}
	reserve, few := reserved(most)
	return len(w.list) < most || len(w.list) < most+reserve && has < few
}

// most is the longest wait of the customer with most of them. The mutex is held.
func (w *waits) most() *place {
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

func (w *waits) end(p *place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = slices.DeleteFunc(w.list, func(o *place) bool { return o == p })
}

package status

import (
	"context"
	"runtime"
	"sync"

	"belfry"
)

// Turns limits work of one kind, such as evaluating queries, to one processor per customer, however much of it a
// customer has at once. Work is done in turns of a fraction of a millisecond. The first of them needs no waiting, so that
// short work never waits for long work.
type Turns struct {
	mu sync.Mutex
	by map[belfry.CustomerID]*customerTurn
}

// customerTurn is shared by all goroutines that work for a customer.
type customerTurn struct {
	sem  chan struct{} // full while one works; the others get it in order of arrival
	refs int           // goroutines that work or wait; guarded by Turns.mu
}

// Turn is the work of one goroutine.
type Turn struct {
	ctx      context.Context
	turns    *Turns // nil: no limit
	customer belfry.CustomerID
	shared   *customerTurn
	held     bool
}

// Begin begins work, which ends with ctx. With a nil Turns it never waits.
func (t *Turns) Begin(ctx context.Context, c belfry.CustomerID) *Turn {
	turn := &Turn{ctx: ctx, turns: t, customer: c}
	if t != nil {
		turn.shared = t.join(c)
	}
	return turn
}

// Pause lets others work and waits for the next turn. It returns an error when ctx has ended; then only End may be
// called.
func (t *Turn) Pause() error {
	t.release()
	runtime.Gosched() // sends and other requests go first
	t.acquire()
	return t.ctx.Err()
}

// End releases the turn.
func (t *Turn) End() {
	t.release()
	if t.turns != nil {
		t.turns.leave(t.customer)
	}
}

func (t *Turn) acquire() {
	if t.turns == nil {
		return
	}
	select {
	case t.shared.sem <- struct{}{}: // usually there is no one else
		t.held = true
		return
	default:
	}
	select {
	case t.shared.sem <- struct{}{}:
		t.held = true
	case <-t.ctx.Done():
	}
}

func (t *Turn) release() {
	if t.held {
		<-t.shared.sem
		t.held = false
	}
}

func (t *Turns) join(c belfry.CustomerID) *customerTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[belfry.CustomerID]*customerTurn{}
	}
	if t.by[c] == nil {
		t.by[c] = &customerTurn{sem: make(chan struct{}, 1)}
	}
	t.by[c].refs++
	return t.by[c]
}

func (t *Turns) leave(c belfry.CustomerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[c].refs--; t.by[c].refs == 0 {
		delete(t.by, c)
	}
}

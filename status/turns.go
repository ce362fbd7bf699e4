package status

import (
	"context"
	"runtime"
	"sync"

	"belfry"
)

// Turns keeps work of one kind, such as the evaluation of queries, to one processor for each customer, however much of it a
// customer has at once. It is done in turns, each a fraction of a millisecond long, so that short work does not wait for long work.
type Turns struct {
	mu sync.Mutex
	by map[belfry.CustomerID]*customerTurn
}

// customerTurn is shared by all who work for a customer.
type customerTurn struct {
	place chan struct{} // full while somebody works; those who wait get it in the order in which they came
	users int           // that work or wait; Turns.mu guards it
}

// Turn is held by one goroutine while it works.
type Turn struct {
	ctx      context.Context
	turns    *Turns // nil makes nobody wait
	customer belfry.CustomerID
	shared   *customerTurn
	held     bool
}

// Begin waits for a turn, unless ctx ends. With a nil Turns there is no need to wait.
func (t *Turns) Begin(ctx context.Context, c belfry.CustomerID) (*Turn, error) {
	turn := &Turn{ctx: ctx, turns: t, customer: c}
	if t == nil {
		return turn, nil
	}
	turn.shared = t.join(c)
	turn.acquire()
	if err := ctx.Err(); err != nil {
		turn.End()
		return nil, err
	}
	return turn, nil
}

// Pause lets others work and waits for the next turn. It fails when ctx has ended; then only End is left to call.
func (t *Turn) Pause() error {
	t.release()
	runtime.Gosched() // sends and other requests go first
	t.acquire()
	return t.ctx.Err()
}

// End gives the turn back for good.
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
	case t.shared.place <- struct{}{}: // mostly nobody else is there
		t.held = true
		return
	default:
	}
	select {
	case t.shared.place <- struct{}{}:
		t.held = true
	case <-t.ctx.Done():
	}
}

func (t *Turn) release() {
	if t.held {
		<-t.shared.place
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
		t.by[c] = &customerTurn{place: make(chan struct{}, 1)}
	}
	t.by[c].users++
	return t.by[c]
}

func (t *Turns) leave(c belfry.CustomerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[c].users--; t.by[c].users == 0 {
		delete(t.by, c)
	}
}

package status

import (
	"context"
	"runtime"
	"sync"

	"belfry"
)

// Turns keeps the evaluation of queries to one processor for each customer, however many queries a customer asks at once.
// Its queries take turns, each a fraction of a millisecond long, so that a short one does not wait for a long one.
type Turns struct {
	mu sync.Mutex
	by map[belfry.CustomerID]*queryTurn
}

// queryTurn belongs to one customer. Whoever evaluates holds its mutex.
type queryTurn struct {
	sync.Mutex
	queries int // that run or wait; Turns.mu guards it
}

// begin waits for the first turn of a query. Between two of its turns the query calls pause, which fails when ctx has
// ended; at its end it calls end. A nil Turns makes nobody wait.
func (t *Turns) begin(ctx context.Context, c belfry.CustomerID) (pause func() error, end func()) {
	if t == nil {
		return func() error { runtime.Gosched(); return ctx.Err() }, func() {}
	}
	mine := t.join(c)
	mine.Lock()
	pause = func() error {
		mine.Unlock()
		runtime.Gosched() // sends and other requests go first
		mine.Lock()
		return ctx.Err()
	}
	return pause, func() {
		mine.Unlock()
		t.leave(c)
	}
}

func (t *Turns) join(c belfry.CustomerID) *queryTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[belfry.CustomerID]*queryTurn{}
	}
	if t.by[c] == nil {
		t.by[c] = &queryTurn{}
	}
	t.by[c].queries++
	return t.by[c]
}

func (t *Turns) leave(c belfry.CustomerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[c].queries--; t.by[c].queries == 0 {
		delete(t.by, c)
	}
}

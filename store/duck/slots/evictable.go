package slots

import (
	"context"
	"errors"
	"sync"
)

// Evictable has the running statements of queries. Storing rows comes first: if the engine has too little memory
// for both, queries are ended.
type Evictable struct {
	mu      sync.Mutex
	running map[*Query]struct{}
	blocked chan struct{} // closed when queries may start again; nil while they may
	idle    chan struct{} // closed when the last query ends while new ones are blocked
}

// Query is a running statement.
type Query struct{ cancel context.CancelCauseFunc }

// ErrEvicted ends a query whose memory was needed.
var ErrEvicted = errors.New("the memory is needed for rows to be stored")

// Enter waits until queries may start. The context it returns is cancelled with ErrEvicted when the query must end.
func (q *Evictable) Enter(ctx context.Context) (context.Context, *Query, error) {
	for {
		q.mu.Lock()
		blocked := q.blocked
		if blocked == nil {
			inner, cancel := context.WithCancelCause(ctx)
			started := &Query{cancel}
			if q.running == nil {
				q.running = map[*Query]struct{}{}
			}
			q.running[started] = struct{}{}
			q.mu.Unlock()
			return inner, started, nil
		}
		q.mu.Unlock()
		select {
		case <-blocked:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// Leave ends the use of the engine by a query.
func (q *Evictable) Leave(ended *Query) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, ended)
	ended.cancel(nil)
	if q.blocked != nil && len(q.running) == 0 {
		close(q.idle)
	}
}

// Evict ends all running queries.
func (q *Evictable) Evict() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for running := range q.running {
		running.cancel(ErrEvicted)
	}
}

// Clear blocks new queries and waits until none runs, or ctx ends; with evict, it ends those that run. any reports whether
// any ran. One caller at a time; it calls open to allow queries again.
func (q *Evictable) Clear(ctx context.Context, evict bool) (open func(), any bool) {
	q.mu.Lock()
	q.blocked, q.idle = make(chan struct{}), make(chan struct{})
	blocked, idle := q.blocked, q.idle
	any = len(q.running) > 0
	q.mu.Unlock()
	if evict {
		q.Evict()
	}
	if any {
		select {
		case <-idle:
		case <-ctx.Done():
		}
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.blocked = nil
		close(blocked)
	}, any
}

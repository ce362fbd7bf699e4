package duck

import (
	"context"
	"errors"
	"sync"
)

// runs are the statements of queries that are under way. What stores rows comes before them: when the engine has too
// little memory for both, they are ended.
type runs struct {
	mu      sync.Mutex
	running map[*run]struct{}
	shut    chan struct{} // closed when the door opens again; nil while it is open
	ended   chan struct{} // closed when a run ends while the door is shut
}

type run struct{ cancel context.CancelCauseFunc }

// errEvicted ends a query whose memory was needed.
var errEvicted = errors.New("the memory is needed for rows to be stored")

// enter waits for an open door. The context it gives ends, with errEvicted as its cause, when the run must go.
func (r *runs) enter(ctx context.Context) (context.Context, *run, error) {
	for {
		r.mu.Lock()
		shut := r.shut
		if shut == nil {
			inner, cancel := context.WithCancelCause(ctx)
			me := &run{cancel}
			if r.running == nil {
				r.running = map[*run]struct{}{}
			}
			r.running[me] = struct{}{}
			r.mu.Unlock()
			return inner, me, nil
		}
		r.mu.Unlock()
		select {
		case <-shut:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (r *runs) leave(me *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, me)
	me.cancel(nil)
	if r.shut != nil && len(r.running) == 0 {
		close(r.ended)
	}
}

// evict tells all that are inside to go.
func (r *runs) evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for me := range r.running {
		me.cancel(errEvicted)
	}
}

// clear shuts the door and waits until nobody is inside, or ctx ends; with evict they are told to go. any tells whether
// there was somebody. One caller at a time; it opens the door again with the function it gets.
func (r *runs) clear(ctx context.Context, evict bool) (open func(), any bool) {
	r.mu.Lock()
	r.shut, r.ended = make(chan struct{}), make(chan struct{})
	shut, ended := r.shut, r.ended
	any = len(r.running) > 0
	r.mu.Unlock()
	if evict {
		r.evict()
	}
	if any {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shut = nil
		close(shut)
	}, any
}

package engine

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// unsettled names a reassessment that no request waits for.
type unsettled struct {
	customer belfry.CustomerID
	what     string
}

// reassessQueue is the queue of Sequencer.finishBehind: reassessments that windows and moves have left. Their marks are in the tree, so
// a restart loses none.
type reassessQueue struct {
	*sync.Mutex
	left map[belfry.CustomerID]map[string]bool
	busy map[belfry.CustomerID]bool // a goroutine works on it
	more chan struct{}
}

func newReassessQueue() reassessQueue {
	return reassessQueue{new(sync.Mutex), map[belfry.CustomerID]map[string]bool{}, map[belfry.CustomerID]bool{}, make(chan struct{}, 1)}
}

func (b *reassessQueue) add(list ...unsettled) {
	if len(list) == 0 {
		return
	}
	b.Lock()
	defer b.Unlock()
	for _, u := range list {
		if b.left[u.customer] == nil {
			b.left[u.customer] = map[string]bool{}
		}
		b.left[u.customer][u.what] = true
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// begin lists the customers with work and no goroutine on it, and marks them busy.
func (b *reassessQueue) begin() (list []belfry.CustomerID) {
	b.Lock()
	defer b.Unlock()
	for c := range b.left {
		if !b.busy[c] {
			b.busy[c] = true
			list = append(list, c)
		}
	}
	return list
}

// claim takes the work of a customer. If there is none, the customer is no longer busy.
func (b *reassessQueue) claim(c belfry.CustomerID) (list []string) {
	b.Lock()
	defer b.Unlock()
	for what := range b.left[c] {
		list = append(list, what)
	}
	if delete(b.left, c); len(list) == 0 {
		delete(b.busy, c)
	}
	return list
}

// deferRest queues a reassessment for when the round is committed; empty: none.
func (t *Tx) deferRest(what string) {
	if what != "" {
		t.s.left = append(t.s.left, unsettled{t.Tenant.ID, what})
	}
}

// deferRest queues reassessments that a request could not finish.
func (s *Sequencer) deferRest(c belfry.CustomerID, list []string) {
	for _, what := range list {
		s.queue.add(unsettled{c, what})
	}
}

// finishBehind works on the queue until ctx ends, with a goroutine for each customer.
func (s *Sequencer) finishBehind(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-s.queue.more:
		case <-ctx.Done():
			return
		}
		for _, c := range s.queue.begin() {
			wg.Go(func() { s.finishOf(ctx, c) })
		}
	}
}

// finishOf runs the reassessments of a customer, and retries those that cannot be stored.
func (s *Sequencer) finishOf(ctx context.Context, c belfry.CustomerID) {
	for list := s.queue.claim(c); len(list) > 0; list = s.queue.claim(c) {
		if err := s.reassessAll(c, list); err == nil {
			continue
		}
		s.deferRest(c, list)
		select {
		case <-time.After(time.Duration(tickAgain) * time.Microsecond):
		case <-ctx.Done():
			return
		}
	}
}

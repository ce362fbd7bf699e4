package engine

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// unsettled names what is to be reassessed while no request waits for it.
type unsettled struct {
	customer belfry.CustomerID
	what     string
}

// behind is what windows and moves have left to Sequencer.finishBehind. The marks are in the tree, so a restart loses nothing.
type behind struct {
	*sync.Mutex
	left map[belfry.CustomerID]map[string]bool
	busy map[belfry.CustomerID]bool // somebody is at it
	more chan struct{}
}

func newBehind() behind {
	return behind{new(sync.Mutex), map[belfry.CustomerID]map[string]bool{}, map[belfry.CustomerID]bool{}, make(chan struct{}, 1)}
}

func (b *behind) add(list ...unsettled) {
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

// begin lists customers of whom something is left and at which nobody is; the caller is from then on.
func (b *behind) begin() (list []belfry.CustomerID) {
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

// claim gives what is left of a customer to whoever is at it. When there is nothing, nobody is any more.
func (b *behind) claim(c belfry.CustomerID) (list []string) {
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

// finishLater lets what a window or a move has not finished be done when the round is committed; empty is nothing.
func (t *Tx) finishLater(what string) {
	if what != "" {
		t.s.left = append(t.s.left, unsettled{t.Tenant.ID, what})
	}
}

// finishLater is the same for what a request could not finish.
func (s *Sequencer) finishLater(c belfry.CustomerID, list []string) {
	for _, what := range list {
		s.behind.add(unsettled{c, what})
	}
}

// finishBehind does what is left, each customer's by itself, until ctx ends.
func (s *Sequencer) finishBehind(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-s.behind.more:
		case <-ctx.Done():
			return
		}
		for _, c := range s.behind.begin() {
			wg.Go(func() { s.finishOf(ctx, c) })
		}
	}
}

// finishOf does what is left of a customer. What cannot be stored is tried again later.
func (s *Sequencer) finishOf(ctx context.Context, c belfry.CustomerID) {
	for list := s.behind.claim(c); len(list) > 0; list = s.behind.claim(c) {
		if err := s.reassessAll(c, list); err == nil {
			continue
		}
		s.finishLater(c, list)
		select {
		case <-time.After(time.Duration(tickAgain) * time.Microsecond):
		case <-ctx.Done():
			return
		}
	}
}

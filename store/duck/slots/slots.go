// Package slots limits how many statements of queries run at a time, and ends them when their memory is needed.
package slots

import (
	"context"
	"slices"
	"sync"

	"belfry"
)

// Slots limit how many statements run at a time, and share the engine between customers. A customer with no running
// statement may use a few slots beyond the limit, so that one that fills the slots with long statements does not block
// the others. Waiting customers take turns.
type Slots struct {
	Limit int // statements of all customers
	Extra int // beyond Limit, for customers with none running

	mu      sync.Mutex
	running int
	by      map[belfry.CustomerID]*slotQueue
	turns   []*slotQueue // customers that wait, each once
}

// slotQueue has the running and waiting statements of one customer.
type slotQueue struct {
	customer belfry.CustomerID
	running  int
	waiting  []chan struct{} // closed when it has a slot
}

// Enter waits for a slot, which Leave releases.
func (s *Slots) Enter(ctx context.Context, c belfry.CustomerID) error {
	s.mu.Lock()
	if s.by == nil {
		s.by = map[belfry.CustomerID]*slotQueue{}
	}
	q := s.by[c]
	if q == nil {
		q = &slotQueue{customer: c}
		s.by[c] = q
	}
	if len(q.waiting) == 0 && s.fits(q) && (len(s.turns) == 0 || q.running == 0) {
		s.acquire(q)
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if q.waiting = append(q.waiting, turn); len(q.waiting) == 1 {
		s.turns = append(s.turns, q)
	}
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(q.waiting, turn)
	if i < 0 { // it got a slot at the same moment
		s.release(q)
		return ctx.Err()
	}
	if q.waiting = slices.Delete(q.waiting, i, i+1); len(q.waiting) == 0 {
		s.turns = slices.DeleteFunc(s.turns, func(o *slotQueue) bool { return o == q })
	}
	s.forget(q)
	return ctx.Err()
}

// Leave releases a slot.
func (s *Slots) Leave(c belfry.CustomerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(s.by[c])
}

// Count returns how many statements run.
func (s *Slots) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

func (s *Slots) fits(q *slotQueue) bool {
	return s.running < s.Limit || q.running == 0 && s.running < s.Limit+s.Extra
}

func (s *Slots) acquire(q *slotQueue) {
	s.running++
	q.running++
}

// release frees a slot and assigns the free slots: first to customers with nothing running, then in turn.
func (s *Slots) release(q *slotQueue) {
	s.running--
	q.running--
	for {
		next := slices.IndexFunc(s.turns, func(o *slotQueue) bool { return o.running == 0 && s.fits(o) })
		if next < 0 {
			next = slices.IndexFunc(s.turns, s.fits)
		}
		if next < 0 {
			break
		}
		o := s.turns[next]
		s.turns = slices.Delete(s.turns, next, next+1)
		s.acquire(o)
		close(o.waiting[0])
		if o.waiting = o.waiting[1:]; len(o.waiting) > 0 {
			s.turns = append(s.turns, o)
		}
	}
	s.forget(q)
}

func (s *Slots) forget(q *slotQueue) {
	if q.running == 0 && len(q.waiting) == 0 {
		delete(s.by, q.customer)
	}
}

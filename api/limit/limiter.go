// Package limit decides how many requests and logins run at a time, and which of those that wait is next. It knows customers
// and addresses, and nothing of HTTP.
package limit

import (
	"context"
	"slices"
	"sync"

	"belfry"
)

// Limiter bounds how many requests run at a time. Each customer has its own queue, in the order of arrival.
//
// By default every customer has slots of its own. In a shared limiter there are slots for all customers together: one
// that becomes free goes to the queues in turn, and some are reserved for customers that hold few or none, so that a
// customer that takes all slots, or keeps them for long, does not shut out the others.
//
//	slots   ████████████████████ for all customers    ░░░░░ for those that hold few
type Limiter struct {
	Shared bool
	Queue  int // how many may wait for each slot; 0: queuePerSlot

	mu      sync.Mutex
	tenants map[belfry.CustomerID]*tenantQueue
	turns   []*tenantQueue // of a shared limiter: those with waiters, each once
	active  int
	waiting int
	refused int
}

// tenantQueue has the requests of one customer.
type tenantQueue struct {
	active  int
	waiters []*waiter
}

type waiter struct {
	slots    int // the limit when the wait began
	admitted chan struct{}
}

const (
	// queuePerSlot is how many may wait for each slot: more of them would not get one in time.
	queuePerSlot = 16
	// LongQueue is a Queue for requests that have a slot in another limiter, or a connection, which bounds their number already.
	LongQueue = 1 << 20
)

// Reserved returns how many slots there are in addition for customers with few, and how many of these one customer may have.
func Reserved(slots int) (all, each int) {
	all = max(1, slots/4)
	return all, max(1, all/4)
}

// Enter takes a slot, and waits for one until ctx ends; false when there was none, or too many wait. Leave gives it back.
func (l *Limiter) Enter(ctx context.Context, c belfry.CustomerID, slots int) bool {
	l.mu.Lock()
	q := l.tenant(c)
	if l.admit(q, slots) {
		l.mu.Unlock()
		return true
	}
	limit := l.Queue
	if limit == 0 {
		limit = queuePerSlot
	}
	if len(q.waiters) >= slots*limit {
		l.refused++
		l.mu.Unlock()
		return false
	}
	w := &waiter{slots, make(chan struct{})}
	if q.waiters = append(q.waiters, w); l.Shared && len(q.waiters) == 1 {
		l.turns = append(l.turns, q)
	}
	l.waiting++
	l.mu.Unlock()
	select {
	case <-w.admitted:
		return true
	case <-ctx.Done():
		return !l.withdraw(c, w)
	}
}

// Try takes a slot if there is one now.
func (l *Limiter) Try(c belfry.CustomerID, slots int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.tenant(c)
	defer l.forget(c, q)
	return l.admit(q, slots)
}

// admit takes a slot if there is one and no request waits for it. The mutex is held.
func (l *Limiter) admit(q *tenantQueue, slots int) bool {
	if len(q.waiters) > 0 || !l.fits(q, slots) {
		return false
	}
	l.active++
	q.active++
	return true
}

func (l *Limiter) tenant(c belfry.CustomerID) *tenantQueue {
	q := l.tenants[c]
	if q == nil {
		if l.tenants == nil {
			l.tenants = map[belfry.CustomerID]*tenantQueue{}
		}
		q = &tenantQueue{}
		l.tenants[c] = q
	}
	return q
}

func (l *Limiter) fits(q *tenantQueue, slots int) bool {
	if !l.Shared {
		return q.active < slots
	}
	all, each := Reserved(slots)
	return l.active < slots || l.active < slots+all && q.active < each
}

// Leave gives a slot back, and admits those that can have it.
func (l *Limiter) Leave(c belfry.CustomerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.tenants[c]
	l.active--
	q.active--
	if l.Shared {
		l.admitInTurn()
	} else {
		for len(q.waiters) > 0 && l.fits(q, q.waiters[0].slots) {
			l.admitFirst(q)
		}
	}
	l.forget(c, q)
}

// admitInTurn admits the first of each queue in turn while there are slots. When only reserved ones are left it
// skips the queues that cannot have those: there are no more queues than connections.
func (l *Limiter) admitInTurn() {
	for i := 0; i < len(l.turns); {
		q := l.turns[i]
		if !l.fits(q, q.waiters[0].slots) {
			i++
			continue
		}
		l.admitFirst(q)
		l.turns = slices.Delete(l.turns, i, i+1)
		if len(q.waiters) > 0 {
			l.turns = append(l.turns, q)
		}
	}
}

func (l *Limiter) admitFirst(q *tenantQueue) {
	l.active++
	q.active++
	close(q.waiters[0].admitted)
	q.waiters = q.waiters[1:]
	l.waiting--
}

// withdraw ends a wait; false when it was admitted in the meantime.
func (l *Limiter) withdraw(c belfry.CustomerID, w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.tenants[c]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiters, w)
	if i < 0 {
		return false
	}
	q.waiters = slices.Delete(q.waiters, i, i+1)
	l.waiting--
	l.refused++
	if len(q.waiters) == 0 {
		l.turns = slices.DeleteFunc(l.turns, func(o *tenantQueue) bool { return o == q })
	}
	l.forget(c, q)
	return true
}

// forget drops the queue of a customer that neither has a slot nor waits for one.
func (l *Limiter) forget(c belfry.CustomerID, q *tenantQueue) {
	if q.active == 0 && len(q.waiters) == 0 {
		delete(l.tenants, c)
	}
}

// Of counts the requests of a customer.
func (l *Limiter) Of(c belfry.CustomerID) (active, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.tenants[c]; q != nil {
		return q.active, len(q.waiters)
	}
	return 0, 0
}

// Counts counts the requests of all customers.
func (l *Limiter) Counts() (active, waiting, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active, l.waiting, l.refused
}

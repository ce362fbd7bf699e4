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
// By default every customer has places of its own. In a shared limiter there are places for all customers together: one
// that becomes free goes to the queues in turn, and some are reserved for customers that hold few or none, so that a
// customer that takes all places, or keeps them for long, does not shut out the others.
//
//	places   ████████████████████ for all customers    ░░░░░ for those that hold few
type Limiter struct {
	Shared bool
	Queue  int // how many may wait for each place; 0: queuePerPlace

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
	places   int // the limit when the wait began
	admitted chan struct{}
}

const (
	// queuePerPlace is how many may wait for each place: more of them would not get one in time.
	queuePerPlace = 16
	// LongQueue is a Queue for requests that have a place in another limiter, or a connection, which bounds their number already.
	LongQueue = 1 << 20
)

// Reserved returns how many places there are in addition for customers with few, and how many of these one customer may have.
func Reserved(places int) (all, each int) {
	all = max(1, places/4)
	return all, max(1, all/4)
}

// Enter takes a place, and waits for one until ctx ends; false when there was none, or too many wait. Leave gives it back.
func (l *Limiter) Enter(ctx context.Context, c belfry.CustomerID, places int) bool {
	l.mu.Lock()
	q := l.tenant(c)
	if l.admit(q, places) {
		l.mu.Unlock()
		return true
	}
	limit := l.Queue
	if limit == 0 {
		limit = queuePerPlace
	}
	if len(q.waiters) >= places*limit {
		l.refused++
		l.mu.Unlock()
		return false
	}
	w := &waiter{places, make(chan struct{})}
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

// Try takes a place if there is one now.
func (l *Limiter) Try(c belfry.CustomerID, places int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.tenant(c)
	defer l.forget(c, q)
	return l.admit(q, places)
}

// admit takes a place if there is one and no request waits for it. The mutex is held.
func (l *Limiter) admit(q *tenantQueue, places int) bool {
	if len(q.waiters) > 0 || !l.fits(q, places) {
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

func (l *Limiter) fits(q *tenantQueue, places int) bool {
	if !l.Shared {
		return q.active < places
	}
	all, each := Reserved(places)
	return l.active < places || l.active < places+all && q.active < each
}

// Leave gives a place back, and admits those that can have it.
func (l *Limiter) Leave(c belfry.CustomerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.tenants[c]
	l.active--
	q.active--
	if l.Shared {
		l.admitInTurn()
	} else {
		for len(q.waiters) > 0 && l.fits(q, q.waiters[0].places) {
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
		if !l.fits(q, q.waiters[0].places) {
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

// forget drops the queue of a customer that neither has a place nor waits for one.
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

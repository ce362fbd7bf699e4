package engine

import (
	"sync"
	"time"

	"belfry"
)

// activity records the customer that was active last, and the last other one before it.
type activity struct {
	mu          sync.Mutex
	last, other visit
}

type visit struct {
	customer belfry.CustomerID
	at       time.Time
}

// ActiveFor is how long a customer counts as active after a request.
const ActiveFor = time.Second

// Active notes a request of a customer.
func (s *Sequencer) Active(c belfry.CustomerID) {
	if c == 0 { // the service itself
		return
	}
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last.customer != c {
		a.other = a.last
	}
	a.last = visit{c, time.Now()}
}

// OthersActive reports whether a customer other than c is active.
func (s *Sequencer) OthersActive(c belfry.CustomerID) bool {
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.last
	if v.customer == c {
		v = a.other
	}
	return v.customer != 0 && time.Since(v.at).Abs() < ActiveFor
}

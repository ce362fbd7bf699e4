package collect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"belfry"
)

// Turns go round between customers: the one whose last turn is longest ago is next. A script cannot be taken off its process in
// the middle of a call, so a customer whose scripts are slow or have to be killed would still make the others wait. Each such
// turn is an offence. After it the customer's turns wait for a while, longer with each offence, and its scripts get less time.

const (
	slowCall      = 500 * time.Millisecond * raceFactor // one call of a script that takes longer is an offence
	slowTrial     = scriptTime * raceFactor             // the same for somebody who tries a script
	offencePause  = time.Second                         // after the first offence; it doubles with each
	offenceLonger = 10 * time.Second                    // the longest pause, less than inspectWithin
	offenceForget = time.Minute                         // without another one, after which the record is empty
)

// workerRequest is one use of a customer's process.
type workerRequest struct {
	customer belfry.CustomerID
	alone    bool // nobody else may use the process meanwhile
	proven   bool // a script whose last turn was good waits for the first pause at most, so that others' faults cost it little

	granted chan *scriptWorker
	strict  bool // the customer had offences when the turn was given
	slow    bool // the script took too long
}

// scriptCustomer is what is known about a customer who uses scripts.
type scriptCustomer struct {
	id       belfry.CustomerID
	waiting  []*workerRequest // that wait, oldest first
	served   int              // number of its last turn; a new customer is placed just before the one that was served last
	offences int
	last     time.Time // of the offences
}

// acquire waits for a turn.
func (s *scriptWorkers) acquire(ctx context.Context, turn *workerRequest) (*scriptWorker, error) {
	turn.granted = make(chan *scriptWorker, 1)
	s.mu.Lock()
	c := s.customer(turn.customer)
	c.waiting = append(c.waiting, turn)
	s.assign()
	s.mu.Unlock()
	select {
	case w := <-turn.granted:
		return w, nil
	case <-ctx.Done():
		s.mu.Lock()
		c.waiting = slices.DeleteFunc(c.waiting, func(t *workerRequest) bool { return t == turn })
		s.mu.Unlock()
		select {
		case w := <-turn.granted: // in the same moment
			s.release(w, false, false)
		default:
			s.mu.Lock()
			s.assign() // it may have been in the way of others
			s.mu.Unlock()
		}
		return nil, ctx.Err()
	}
}

// customer finds what is known about a customer, or begins to know it.
func (s *scriptWorkers) customer(id belfry.CustomerID) *scriptCustomer {
	if s.customers == nil {
		s.customers, s.live = map[belfry.CustomerID]*scriptCustomer{}, map[belfry.CustomerID]*scriptWorker{}
	}
	c := s.customers[id]
	if c == nil {
		c = &scriptCustomer{id: id, served: s.served - 1}
		s.customers[id] = c
	}
	return c
}

// assign gives the turns that can be given. A customer who waits for a process stops those whose last turn was later: else
// customers who have a process and use it all the time would keep the others out.
func (s *scriptWorkers) assign() {
	now := time.Now()
	s.forget()
	var waiting []*scriptCustomer
	var next time.Time
	for _, c := range s.customers {
		if len(c.waiting) == 0 {
			continue
		}
		waiting = append(waiting, c)
		if end := s.nextEnd(c, now); !end.IsZero() && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	slices.SortFunc(waiting, func(a, b *scriptCustomer) int {
		return cmp.Or(cmp.Compare(a.served, b.served), cmp.Compare(a.id, b.id))
	})
	for _, c := range waiting {
		if !s.serve(c, now) {
			break
		}
	}
	if s.wake != nil {
		s.wake.Stop()
	}
	if !next.IsZero() {
		s.wake = time.AfterFunc(next.Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.assign()
		})
	}
}

// serve gives a customer the turns that it can have now, in the order in which they were asked for. It is false if the customer
// has to wait for a process.
func (s *scriptWorkers) serve(c *scriptCustomer, now time.Time) bool {
	for i := 0; i < len(c.waiting); {
		t := c.waiting[i]
		if now.Before(s.pauseEnd(c, t.proven)) {
			i++
			continue
		}
		w := s.live[c.id]
		if (w == nil || w.users == 0) && c.offends(now) && s.offendersBusy(now) {
			return true
		}
		if w == nil {
			if !s.makeRoom() {
				return false
			}
			w = &scriptWorker{customer: c.id}
			s.live[c.id] = w
		}
		if w.alone || t.alone && w.users > 0 {
			return true
		}
		if w.timer != nil {
			w.timer.Stop()
		}
		w.users++
		w.alone = t.alone
		s.served += 2 // the numbers between are for new customers
		c.served, t.strict = s.served, c.offends(now)
		c.waiting = slices.Delete(c.waiting, i, i+1)
		t.granted <- w
	}
	return true
}

// offendersBusy tells whether customers with offences use as many processes as they may: all but one, unless there is only one.
func (s *scriptWorkers) offendersBusy(now time.Time) bool {
	n := 0
	for id, w := range s.live {
		if w.users > 0 && s.customers[id].offends(now) {
			n++
		}
	}
	return n >= max(1, s.workers()-1)
}

// forget removes what is known about customers who have nothing to do with scripts any more.
func (s *scriptWorkers) forget() {
	now := time.Now()
	for id, c := range s.customers {
		if len(c.waiting) == 0 && s.live[id] == nil && !c.offends(now) {
			delete(s.customers, id)
		}
	}
}

// penalty tells whether a customer has offences, and how long its next trial has to wait.
func (s *scriptWorkers) penalty(customer belfry.CustomerID) (wait time.Duration, offends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if c := s.customers[customer]; c != nil && c.offends(now) {
		return max(0, s.pauseEnd(c, false).Sub(now)), true
	}
	return 0, false
}

// offend notes an offence.
func (c *scriptCustomer) offend(now time.Time) {
	if !c.offends(now) {
		c.offences = 0
	}
	c.offences++
	c.last = now
}

// offends tells whether there was an offence that is not forgotten.
func (c *scriptCustomer) offends(now time.Time) bool {
	return c.offences > 0 && now.Sub(c.last) < offenceForget
}

// nextEnd is when the first turn that waits for the end of a pause may be given; zero: none does.
func (s *scriptWorkers) nextEnd(c *scriptCustomer, now time.Time) (next time.Time) {
	if !now.Before(s.pauseEnd(c, false)) { // the longer one
		return next
	}
	for _, t := range c.waiting {
		if end := s.pauseEnd(c, t.proven); now.Before(end) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}

// pauseEnd is when the customer's next turn may be given.
func (s *scriptWorkers) pauseEnd(c *scriptCustomer, proven bool) time.Time {
	if c.offences == 0 {
		return time.Time{}
	}
	pause := s.pause
	if pause == 0 {
		pause = offencePause
	}
	if !proven {
		pause = min(pause<<min(c.offences-1, 10), offenceLonger)
	}
	return c.last.Add(pause)
}

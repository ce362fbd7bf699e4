package script

import (
	"cmp"
	"context"
	"slices"
	"time"

	"belfry"
)

// The use of processes is granted round-robin: the customer that was served longest ago is next. A running script cannot be preempted,
// so a customer whose scripts are slow or have to be killed would still make the others wait. Each such call is an offence. After
// it the customer's requests are paused, longer with each offence, and its scripts get less time.

const (
	slowCall      = 500 * time.Millisecond * raceFactor // a slower call of a script is an offence
	slowTrial     = defaultMessageTime * raceFactor     // the same for a trial
	offencePause  = time.Second                         // after the first offence; doubles with each
	offenceLonger = 10 * time.Second                    // longest pause; less than inspectWithin
	offenceForget = time.Minute                         // after which offences are forgotten
)

// workerRequest asks for the use of the customer's process.
type workerRequest struct {
	customer belfry.CustomerID
	alone    bool // exclusive use of the process
	proven   bool // the script's last call was good: it waits for the first pause only, so that other scripts harm it little

	granted chan *worker
	strict  bool // the customer had offences when the request was granted
	slow    bool // the script took too long
}

// customer is the queue of a customer and its offences.
type customer struct {
	id       belfry.CustomerID
	waiting  []*workerRequest // oldest first
	served   int              // number of its last grant; a new customer is put just before the last one that was served
	offences int
	last     time.Time // of the last offence
}

// acquire waits until a request is granted.
func (s *Workers) acquire(ctx context.Context, req *workerRequest) (*worker, error) {
	req.granted = make(chan *worker, 1)
	s.mu.Lock()
	c := s.customer(req.customer)
	c.waiting = append(c.waiting, req)
	s.assign()
	s.mu.Unlock()
	select {
	case w := <-req.granted:
		return w, nil
	case <-ctx.Done():
		s.mu.Lock()
		c.waiting = slices.DeleteFunc(c.waiting, func(t *workerRequest) bool { return t == req })
		s.mu.Unlock()
		select {
		case w := <-req.granted: // granted at the same time
			s.release(w, false, false)
		default:
			s.mu.Lock()
			s.assign() // it may have blocked others
			s.mu.Unlock()
		}
		return nil, ctx.Err()
	}
}

// customer returns the entry of a customer, and adds it if need be.
func (s *Workers) customer(id belfry.CustomerID) *customer {
	if s.customers == nil {
		s.customers, s.live = map[belfry.CustomerID]*customer{}, map[belfry.CustomerID]*worker{}
	}
	c := s.customers[id]
	if c == nil {
		c = &customer{id: id, served: s.served - 1}
		s.customers[id] = c
	}
	return c
}

// assign grants all requests that can be granted. A customer that waits for a process blocks those that were served later:
// otherwise customers that use their process all the time would starve the others.
func (s *Workers) assign() {
	now := time.Now()
	s.forget()
	var waiting []*customer
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
	slices.SortFunc(waiting, func(a, b *customer) int {
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

// serve grants the requests of a customer that can be granted now, in order. It returns false if the customer has to wait for a
// process.
func (s *Workers) serve(c *customer, now time.Time) bool {
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
			w = &worker{customer: c.id}
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
		s.served += 2 // leaves a number for new customers
		c.served, t.strict = s.served, c.offends(now)
		c.waiting = slices.Delete(c.waiting, i, i+1)
		t.granted <- w
	}
	return true
}

// offendersBusy reports whether customers with offences use all processes that they may: all but one, or the only one.
func (s *Workers) offendersBusy(now time.Time) bool {
	n := 0
	for id, w := range s.live {
		if w.users > 0 && s.customers[id].offends(now) {
			n++
		}
	}
	return n >= max(1, s.workers()-1)
}

// forget removes customers without requests, process and offences.
func (s *Workers) forget() {
	now := time.Now()
	for id, c := range s.customers {
		if len(c.waiting) == 0 && s.live[id] == nil && !c.offends(now) {
			delete(s.customers, id)
		}
	}
}

// penalty reports whether a customer has offences, and how long its next trial has to wait.
func (s *Workers) penalty(customer belfry.CustomerID) (wait time.Duration, offends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if c := s.customers[customer]; c != nil && c.offends(now) {
		return max(0, s.pauseEnd(c, false).Sub(now)), true
	}
	return 0, false
}

// offend counts an offence.
func (c *customer) offend(now time.Time) {
	if !c.offends(now) {
		c.offences = 0
	}
	c.offences++
	c.last = now
}

// offends reports whether there is an offence that is not forgotten.
func (c *customer) offends(now time.Time) bool {
	return c.offences > 0 && now.Sub(c.last) < offenceForget
}

// nextEnd returns the end of the first pause that a request waits for; zero if none does.
func (s *Workers) nextEnd(c *customer, now time.Time) (next time.Time) {
	if !now.Before(s.pauseEnd(c, false)) { // the longer pause
		return next
	}
	for _, t := range c.waiting {
		if end := s.pauseEnd(c, t.proven); now.Before(end) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}

// pauseEnd returns when the customer's next request may be granted.
func (s *Workers) pauseEnd(c *customer, proven bool) time.Time {
	if c.offences == 0 {
		return time.Time{}
	}
	pause := s.Pause
	if pause == 0 {
		pause = offencePause
	}
	if !proven {
		pause = min(pause<<min(c.offences-1, 10), offenceLonger)
	}
	return c.last.Add(pause)
}

package api

import (
	"context"
	"slices"
	"sync"

	"belfry"
)

// loginPlaces bound how many passwords are checked at a time: each takes a core and 19 MiB for a while. Strangers have some
// places. Those who are known, because they have logged in from their address before or have a session, have one of their own, and
// may take the others, too: then they go first, but not twice in a row while strangers wait. So neither can shut out the other.
type loginPlaces struct {
	mu        sync.Mutex
	own       bool // the place of the known is taken
	common    int  // places taken that are for everybody
	known     []chan bool
	strangers []chan bool // who waits is told whether the place is the own one
	last      bool        // the last common place for which both waited went to somebody known
}

const (
	// commonLogins is how many passwords are checked at a time, beside one of somebody who is known.
	commonLogins = 2
	// loginCrowd is how many may wait in each of the two lines: more of them would only wait in vain.
	loginCrowd = 16 * commonLogins
)

// enter takes a place, or waits for one until ctx ends. Whoever got one gives it back with leave.
func (l *loginPlaces) enter(ctx context.Context, known bool) (leave func(), ok bool) {
	l.mu.Lock()
	switch {
	case known && !l.own:
		l.own = true
		l.mu.Unlock()
		return func() { l.leave(true) }, true
	case l.common < commonLogins:
		l.common++
		l.mu.Unlock()
		return func() { l.leave(false) }, true
	}
	line := &l.strangers
	if known {
		line = &l.known
	}
	if len(*line) >= loginCrowd {
		l.mu.Unlock()
		return nil, false
	}
	turn := make(chan bool, 1)
	*line = append(*line, turn)
	l.mu.Unlock()
	select {
	case own := <-turn:
		return func() { l.leave(own) }, true
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(*line, turn); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
		return nil, false
	}
	own := <-turn // it was handed over at the same moment
	return func() { l.leave(own) }, true
}

// leave hands a place to who is next, or gives it back.
func (l *loginPlaces) leave(own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.next(own)
	switch {
	case len(*line) > 0:
		(*line)[0] <- own
		*line = slices.Delete(*line, 0, 1)
	case own:
		l.own = false
	default:
		l.common--
	}
}

// next is the line whose first gets a place.
func (l *loginPlaces) next(own bool) *[]chan bool {
	switch {
	case own || len(l.strangers) == 0:
		return &l.known
	case len(l.known) == 0:
		return &l.strangers
	}
	if l.last = !l.last; l.last {
		return &l.known
	}
	return &l.strangers
}

// checking has a password checked or hashed as soon as there is a place.
func (s *Server) checking(r *request, known bool, f func() error) error {
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	leave, ok := s.logins.enter(ctx, known)
	if !ok {
		return belfry.Errorf(belfry.Overloaded, "too many people log in at this moment; try again shortly")
	}
	defer leave()
	return f()
}

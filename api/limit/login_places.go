package limit

import (
	"context"
	"slices"
	"sync"
)

// LoginPlaces bound how many passwords are checked at a time: each takes a core and 19 MiB for a while. Some places are for
// all. Users who are known, because they have logged in from their address before or have a session, have one of their own, and
// may take the others, too: then they go first, but not twice in a row while strangers wait. So neither can shut out the other.
type LoginPlaces struct {
	mu        sync.Mutex
	own       bool // the place of the known is taken
	common    int  // places taken that are for all
	known     []chan bool
	strangers []chan bool // each waiter receives whether its place is the own one
	last      bool        // the last common place for which both waited went to a known user
}

// Sizes of LoginPlaces.
const (
	// CommonLogins is how many passwords are checked at a time, beside one of a known user.
	CommonLogins = 2
	// MaxLoginWaiters is how many may wait in each of the two queues: more of them would not get a place in time.
	MaxLoginWaiters = 16 * CommonLogins
)

// Waiting returns how many logins wait for a place.
func (l *LoginPlaces) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known) + len(l.strangers)
}

// Enter takes a place, or waits for one until ctx ends. Leave gives it back.
func (l *LoginPlaces) Enter(ctx context.Context, known bool) (leave func(), ok bool) {
	l.mu.Lock()
	switch {
	case known && !l.own:
		l.own = true
		l.mu.Unlock()
		return func() { l.leave(true) }, true
	case l.common < CommonLogins:
		l.common++
		l.mu.Unlock()
		return func() { l.leave(false) }, true
	}
	line := &l.strangers
	if known {
		line = &l.known
	}
	if len(*line) >= MaxLoginWaiters {
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
	own := <-turn // it was admitted at the same moment
	return func() { l.leave(own) }, true
}

// leave admits the next one, or frees the place.
func (l *LoginPlaces) leave(own bool) {
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

// next returns the queue whose first login gets the free place.
func (l *LoginPlaces) next(own bool) *[]chan bool {
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

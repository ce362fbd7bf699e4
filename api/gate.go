package api

import (
	"context"
	"sync"

	"belfry"
)

// gate lets a limited number in at a time, counted for each customer by itself, in the order of arrival. Who waits too
// long, or finds too many waiting, is sent away.
type gate struct {
	mu    sync.Mutex
	doors map[belfry.CustomerID]*door
	line  int // how many may wait for each place; 0: crowd
}

type door struct {
	inside  int
	waiting []chan struct{}
}

// crowd is how many may wait for each place: more of them would only wait in vain.
const crowd = 16

// workLine is the same for turns to work: who waits for one has a place or a connection already, so it only has to be enough for all of them.
const workLine = 1 << 20

// enter takes a place; ok is false when there was none until ctx ended. Whoever got one gives it back with leave.
func (g *gate) enter(ctx context.Context, c belfry.CustomerID, places int) (ok bool) {
	g.mu.Lock()
	d, ok := g.tryLocked(c, places)
	if ok {
		g.mu.Unlock()
		return true
	}
	line := g.line
	if line == 0 {
		line = crowd
	}
	if len(d.waiting) >= places*line {
		g.mu.Unlock()
		return false
	}
	turn := make(chan struct{})
	d.waiting = append(d.waiting, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
		return !g.withdraw(d, turn)
	}
}

// try takes a place if there is one now.
func (g *gate) try(c belfry.CustomerID, places int) (ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok = g.tryLocked(c, places)
	return ok
}

// tryLocked is try. The mutex is held.
func (g *gate) tryLocked(c belfry.CustomerID, places int) (d *door, ok bool) {
	if d = g.doors[c]; d == nil {
		if g.doors == nil {
			g.doors = map[belfry.CustomerID]*door{}
		}
		d = &door{}
		g.doors[c] = d
	}
	if d.inside >= places {
		return d, false
	}
	d.inside++
	return d, true
}

// withdraw ends the wait; false when the place was handed over in the meantime.
func (g *gate) withdraw(d *door, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, t := range d.waiting {
		if t == turn {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// leave hands the place to the one who waits longest.
func (g *gate) leave(c belfry.CustomerID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.doors[c]
	if len(d.waiting) > 0 {
		close(d.waiting[0])
		d.waiting = d.waiting[1:]
		return
	}
	if d.inside--; d.inside == 0 {
		delete(g.doors, c)
	}
}

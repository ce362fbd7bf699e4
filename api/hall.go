package api

import (
	"context"
	"slices"
	"sync"

	"belfry"
)

// hall is where bulk requests are served: a number of places for all customers together. Each customer waits in a line
// of its own, and a place that becomes free goes to the lines in turn. Some places stand aside for customers who have
// few or none, so that whoever fills the hall, or sits in it for long, does not keep the others out.
//
//	places   ████████████████████ for everybody    ░░░░░ for those who hold few
type hall struct {
	mu      sync.Mutex
	parties map[belfry.CustomerID]*party
	turns   []*party // those with somebody waiting, each once
	inside  int
	waiting int
	refused int
}

// party is what a customer has in the hall and before it.
type party struct {
	inside int
	line   []*guest
}

type guest struct {
	places int // of the hall, as the limit was when the wait began
	turn   chan struct{}
}

// aside is how many places stand aside beside so many, and few how many of them one customer may have.
func aside(places int) (reserve, few int) {
	reserve = max(1, places/4)
	return reserve, max(1, reserve/4)
}

// enter takes a place; false when there was none until ctx ended. Whoever got one gives it back with leave.
func (h *hall) enter(ctx context.Context, c belfry.CustomerID, places int) bool {
	h.mu.Lock()
	p := h.party(c)
	if len(p.line) == 0 && h.fits(p, places) {
		h.seat(p)
		h.mu.Unlock()
		return true
	}
	if len(p.line) >= places*crowd {
		h.refused++
		h.mu.Unlock()
		return false
	}
	g := &guest{places, make(chan struct{})}
	if p.line = append(p.line, g); len(p.line) == 1 {
		h.turns = append(h.turns, p)
	}
	h.waiting++
	h.mu.Unlock()
	select {
	case <-g.turn:
		return true
	case <-ctx.Done():
		return !h.withdraw(c, g)
	}
}

func (h *hall) party(c belfry.CustomerID) *party {
	if h.parties == nil {
		h.parties = map[belfry.CustomerID]*party{}
	}
	p := h.parties[c]
	if p == nil {
		p = &party{}
		h.parties[c] = p
	}
	return p
}

func (h *hall) fits(p *party, places int) bool {
	reserve, few := aside(places)
	return h.inside < places || h.inside < places+reserve && p.inside < few
}

func (h *hall) seat(p *party) {
	h.inside++
	p.inside++
}

// leave gives a place back, and hands over whatever is free.
func (h *hall) leave(c belfry.CustomerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.parties[c]
	h.inside--
	p.inside--
	h.handOver()
	h.forget(c, p)
}

// handOver seats the first of the lines in turn, as far as there are places for them. In a hall that is full but for the
// places aside it looks past the lines that cannot have those: there are no more lines than connections.
func (h *hall) handOver() {
	for i := 0; i < len(h.turns); {
		p := h.turns[i]
		if !h.fits(p, p.line[0].places) {
			i++
			continue
		}
		h.seat(p)
		close(p.line[0].turn)
		p.line = p.line[1:]
		h.waiting--
		h.turns = slices.Delete(h.turns, i, i+1)
		if len(p.line) > 0 {
			h.turns = append(h.turns, p)
		}
	}
}

// withdraw ends a wait; false when the place was handed over in the meantime.
func (h *hall) withdraw(c belfry.CustomerID, g *guest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.parties[c]
	if p == nil {
		return false
	}
	i := slices.Index(p.line, g)
	if i < 0 {
		return false
	}
	p.line = slices.Delete(p.line, i, i+1)
	h.waiting--
	h.refused++
	if len(p.line) == 0 {
		h.turns = slices.DeleteFunc(h.turns, func(q *party) bool { return q == p })
	}
	h.forget(c, p)
	return true
}

// forget keeps nothing of a customer who is neither inside nor waiting.
func (h *hall) forget(c belfry.CustomerID, p *party) {
	if p.inside == 0 && len(p.line) == 0 {
		delete(h.parties, c)
	}
}

// counts are for the metrics.
func (h *hall) counts() (inside, waiting, refused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inside, h.waiting, h.refused
}

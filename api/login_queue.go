package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"belfry"
)

// loginQueues let each address have one login checked at a time. The others of that address wait, and the newest goes first: whoever
// tries many passwords at once keeps others of the same address, who may all come through one proxy, waiting for one check only,
// and not for all of theirs.
type loginQueues struct {
	mu   sync.Mutex
	open map[belfry.Hash]*loginQueue // in which somebody is
}

type loginQueue struct {
	waiting []chan bool // told true when it is their turn, and false when there are too many; the newest is the last
}

// loginQueueLength is how many may wait in a queue. The oldest has to go when there are more.
const loginQueueLength = 100

// enter takes the turn of an address, or waits for it until ctx ends. Whoever got it gives it back with leave.
func (l *loginQueues) enter(ctx context.Context, key belfry.Hash) bool {
	l.mu.Lock()
	at := l.open[key]
	if at == nil {
		if l.open == nil {
			l.open = map[belfry.Hash]*loginQueue{}
		}
		l.open[key] = &loginQueue{}
		l.mu.Unlock()
		return true
	}
	turn := make(chan bool, 1)
	at.waiting = append(at.waiting, turn)
	if len(at.waiting) > loginQueueLength {
		at.waiting[0] <- false
		at.waiting = slices.Delete(at.waiting, 0, 1)
	}
	l.mu.Unlock()
	select {
	case ok := <-turn:
		return ok
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(at.waiting, turn); i >= 0 {
		at.waiting = slices.Delete(at.waiting, i, i+1)
		return false
	}
	return <-turn // it was told something at the same moment
}

// leave gives the turn to the newest of those who wait.
func (l *loginQueues) leave(key belfry.Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.open[key]
	if n := len(at.waiting); n > 0 {
		at.waiting[n-1] <- true
		at.waiting = at.waiting[:n-1]
		return
	}
	delete(l.open, key)
}

// awaitLogin has a login wait until it may be checked: for its turn, and then for the pause that its address has to keep. Who is known
// waits for other logins of the same user alone.
func (s *Server) awaitLogin(r *request, paid ticket, pause time.Duration, known bool) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	key := paid[addressBucket].hash
	if known {
		key, pause = paid[userBucket].hash, 0
	}
	if !s.queues.enter(ctx, key) {
		return nil, belfry.Errorf(belfry.Overloaded, "too many logins from this address wait at this moment; try again shortly")
	}
	rest := time.NewTimer(pause)
	defer rest.Stop()
	select {
	case <-rest.C:
		return func() { s.queues.leave(key) }, nil
	case <-r.ctx().Done():
		s.queues.leave(key)
		return nil, r.ctx().Err()
	}
}

package limit

import (
	"context"
	"slices"
	"sync"

	"belfry"
)

// LoginQueues let one login of each address be checked at a time. The others of that address wait, and the newest goes first: a
// client that tries many passwords at once makes others at the same address, perhaps behind one proxy, wait for one check only,
// and not for all of its own.
type LoginQueues struct {
	mu   sync.Mutex
	open map[belfry.Hash]*loginQueue // those with a login
}

type loginQueue struct {
	waiting []chan bool // each receives true when it is next, and false when there are too many; the newest is the last
}

// loginQueueLength is how many may wait in a queue. The oldest is refused when there are more.
const loginQueueLength = 100

// Enter waits until ctx ends for the turn of a queue. Leave gives it back.
func (l *LoginQueues) Enter(ctx context.Context, key belfry.Hash) bool {
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
	return <-turn // it was decided at the same moment
}

// Leave gives the turn to the newest waiter.
func (l *LoginQueues) Leave(key belfry.Hash) {
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

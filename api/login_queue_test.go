package api

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// Logins of an address are checked one at a time, the newest first; other addresses do not wait.
func TestLoginQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l loginQueues
		a, b := belfry.HashOf("a"), belfry.HashOf("b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if !l.enter(ctx, a) || !l.enter(ctx, b) {
			t.Fatal("an empty queue")
		}
		var mu sync.Mutex
		var order []int
		refused := 0
		for i := range loginQueueLength + 5 {
			go func() {
				ok := l.enter(ctx, a)
				mu.Lock()
				defer mu.Unlock()
				if !ok {
					refused++
					return
				}
				order = append(order, i)
				if i > 100 {
					l.leave(a) // the others find it taken
				}
			}()
			synctest.Wait()
		}
		if refused != 5 {
			t.Errorf("%d had to go", refused)
		}
		l.leave(a)
		synctest.Wait()
		if !slices.Equal(order, []int{104, 103, 102, 101, 100}) {
			t.Errorf("the order was %v", order)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if refused != loginQueueLength {
			t.Errorf("%d gave up", refused)
		}
		l.leave(a)
		l.leave(b)
		if len(l.open) != 0 {
			t.Errorf("%d queues are left", len(l.open))
		}
	})
}

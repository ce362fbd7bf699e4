package limit

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
		var l LoginQueues
		a, b := belfry.HashOf("a"), belfry.HashOf("b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if !l.Enter(ctx, a) || !l.Enter(ctx, b) {
			t.Fatal("an empty queue")
		}
		var mu sync.Mutex
		var order []int
		refused := 0
		for i := range loginQueueLength + 5 {
			go func() {
				ok := l.Enter(ctx, a)
				mu.Lock()
				defer mu.Unlock()
				if !ok {
					refused++
					return
				}
				order = append(order, i)
				if i > 100 {
					l.Leave(a) // the others find it taken
				}
			}()
			synctest.Wait()
		}
		if refused != 5 {
			t.Errorf("%d had to go", refused)
		}
		l.Leave(a)
		synctest.Wait()
		if !slices.Equal(order, []int{104, 103, 102, 101, 100}) {
			t.Errorf("the order was %v", order)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if refused != loginQueueLength {
			t.Errorf("%d gave up", refused)
		}
		l.Leave(a)
		l.Leave(b)
		if len(l.open) != 0 {
			t.Errorf("%d queues are left", len(l.open))
		}
	})
}

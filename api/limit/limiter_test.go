package limit

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"belfry"
)

// TestSharedLimiter: one customer alone has all slots; another is let in all the same, at first on a reserved slot, then in turn.
func TestSharedLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 8 // and two reserved, of which a customer may have one
		h := Limiter{Shared: true}
		now, cancel := context.WithCancel(t.Context())
		cancel() // whoever must wait is sent away
		f := func(c belfry.CustomerID, want bool) {
			t.Helper()
			if got := h.Enter(now, c, slots); got != want {
				t.Fatalf("customer %d let in: %v, want %v", c, got, want)
			}
		}
		for range slots {
			f(1, true)
		}
		f(1, false)
		f(2, true)
		f(2, false)
		f(3, true)
		f(4, false) // even these have an end

		var order []belfry.CustomerID
		wait := func(c belfry.CustomerID) {
			go func() {
				if h.Enter(t.Context(), c, slots) {
					order = append(order, c)
				}
			}()
			synctest.Wait()
		}
		for range 4 {
			wait(1)
		}
		wait(2)
		wait(4)
		leave := func(c belfry.CustomerID, want string) {
			t.Helper()
			h.Leave(c)
			synctest.Wait()
			if got := fmt.Sprint(order); got != want {
				t.Fatalf("after one of customer %d left, %s have come in, want %s", c, got, want)
			}
		}
		leave(1, "[4]") // 1 and 2 are before it and have too many for a reserved slot
		leave(1, "[4]")
		leave(1, "[4]")
		leave(1, "[4 1]")
		leave(1, "[4 1 2]")
		leave(1, "[4 1 2 1]")
		if inside, waiting, refused := h.Counts(); inside != slots || waiting != 2 || refused != 3 {
			t.Errorf("%d inside, %d waiting, %d refused", inside, waiting, refused)
		}
		for _, c := range []belfry.CustomerID{1, 1, 1, 1, 2, 2, 3, 4, 1, 1} {
			h.Leave(c)
			synctest.Wait()
		}
		if len(h.tenants) != 0 || len(h.turns) != 0 || h.active != 0 || h.waiting != 0 {
			t.Errorf("left behind: %+v", &h)
		}
	})
}

// TestSharedLimiterQueue: a long queue is not joined, and who gives up leaves nothing behind.
func TestSharedLimiterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Limiter{Shared: true}
		h.Enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range queuePerSlot {
			go h.Enter(ctx, 1, 1)
		}
		synctest.Wait()
		if h.Enter(t.Context(), 1, 1) {
			t.Error("entered behind a full queue")
		}
		cancel()
		synctest.Wait()
		h.Leave(1)
		if len(h.tenants) != 0 || len(h.turns) != 0 || h.waiting != 0 || h.refused != queuePerSlot+1 {
			t.Errorf("left behind: %+v", &h)
		}
	})
}

// TestLimiter: slots are counted per customer, handed on in order, and a wait that ends leaves nothing behind.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Limiter
		ctx, cancel := context.WithCancel(t.Context())
		if !g.Enter(ctx, 1, 1) || !g.Enter(ctx, 2, 1) {
			t.Fatal("two customers stand in each other's way")
		}
		order := make(chan int, 2)
		for i := range 2 {
			go func() {
				if g.Enter(t.Context(), 1, 1) {
					order <- i
				}
			}()
			synctest.Wait()
		}
		late := make(chan bool)
		go func() { late <- g.Enter(ctx, 1, 1) }()
		synctest.Wait()
		cancel()
		if <-late {
			t.Error("entered although the wait had ended")
		}
		for i := range 2 {
			g.Leave(1)
			if got := <-order; got != i {
				t.Errorf("number %d entered in turn %d", got, i)
			}
		}
		g.Leave(1)
		g.Leave(2)
		if len(g.tenants) != 0 {
			t.Errorf("%d queues are left", len(g.tenants))
		}
	})
}

// TestLimiterQueue: a long queue is not joined.
func TestLimiterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Limiter
		g.Enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range queuePerSlot {
			go g.Enter(ctx, 1, 1)
		}
		synctest.Wait()
		if g.Enter(t.Context(), 1, 1) {
			t.Error("entered behind a full queue")
		}
		cancel()
		synctest.Wait()
	})
}

package api

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"belfry"
)

// TestSharedLimiter: one customer alone has all places; another is let in all the same, at first on a reserved place, then in turn.
func TestSharedLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 8 // and two reserved, of which a customer may have one
		h := limiter{shared: true}
		now, cancel := context.WithCancel(t.Context())
		cancel() // whoever must wait is sent away
		f := func(c belfry.CustomerID, want bool) {
			t.Helper()
			if got := h.enter(now, c, places); got != want {
				t.Fatalf("customer %d let in: %v, want %v", c, got, want)
			}
		}
		for range places {
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
				if h.enter(t.Context(), c, places) {
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
			h.leave(c)
			synctest.Wait()
			if got := fmt.Sprint(order); got != want {
				t.Fatalf("after one of customer %d left, %s have come in, want %s", c, got, want)
			}
		}
		leave(1, "[4]") // 1 and 2 are before it and have too many for a reserved place
		leave(1, "[4]")
		leave(1, "[4]")
		leave(1, "[4 1]")
		leave(1, "[4 1 2]")
		leave(1, "[4 1 2 1]")
		if inside, waiting, refused := h.counts(); inside != places || waiting != 2 || refused != 3 {
			t.Errorf("%d inside, %d waiting, %d refused", inside, waiting, refused)
		}
		for _, c := range []belfry.CustomerID{1, 1, 1, 1, 2, 2, 3, 4, 1, 1} {
			h.leave(c)
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
		h := limiter{shared: true}
		h.enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range queuePerPlace {
			go h.enter(ctx, 1, 1)
		}
		synctest.Wait()
		if h.enter(t.Context(), 1, 1) {
			t.Error("entered behind a full queue")
		}
		cancel()
		synctest.Wait()
		h.leave(1)
		if len(h.tenants) != 0 || len(h.turns) != 0 || h.waiting != 0 || h.refused != queuePerPlace+1 {
			t.Errorf("left behind: %+v", &h)
		}
	})
}

// TestLimiter: places are counted per customer, handed on in order, and a wait that ends leaves nothing behind.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g limiter
		ctx, cancel := context.WithCancel(t.Context())
		if !g.enter(ctx, 1, 1) || !g.enter(ctx, 2, 1) {
			t.Fatal("two customers stand in each other's way")
		}
		order := make(chan int, 2)
		for i := range 2 {
			go func() {
				if g.enter(t.Context(), 1, 1) {
					order <- i
				}
			}()
			synctest.Wait()
		}
		late := make(chan bool)
		go func() { late <- g.enter(ctx, 1, 1) }()
		synctest.Wait()
		cancel()
		if <-late {
			t.Error("entered although the wait had ended")
		}
		for i := range 2 {
			g.leave(1)
			if got := <-order; got != i {
				t.Errorf("number %d entered in turn %d", got, i)
			}
		}
		g.leave(1)
		g.leave(2)
		if len(g.tenants) != 0 {
			t.Errorf("%d queues are left", len(g.tenants))
		}
	})
}

// TestLimiterQueue: a long queue is not joined.
func TestLimiterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g limiter
		g.enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range queuePerPlace {
			go g.enter(ctx, 1, 1)
		}
		synctest.Wait()
		if g.enter(t.Context(), 1, 1) {
			t.Error("entered behind a full queue")
		}
		cancel()
		synctest.Wait()
	})
}

package api

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"belfry"
)

// TestHall: one customer alone has all places; another is let in all the same, at first beside them, then in turn.
func TestHall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 8 // and two aside, of which a customer may have one
		var h hall
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
		leave(1, "[4]") // 1 and 2 are before it and have too many for a place aside
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
		if len(h.parties) != 0 || len(h.turns) != 0 || h.inside != 0 || h.waiting != 0 {
			t.Errorf("left behind: %+v", &h)
		}
	})
}

// TestHallCrowd: a long line is not joined, and who gives up leaves it whole.
func TestHallCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hall
		h.enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range crowd {
			go h.enter(ctx, 1, 1)
		}
		synctest.Wait()
		if h.enter(t.Context(), 1, 1) {
			t.Error("entered behind a crowd")
		}
		cancel()
		synctest.Wait()
		h.leave(1)
		if len(h.parties) != 0 || len(h.turns) != 0 || h.waiting != 0 || h.refused != crowd+1 {
			t.Errorf("left behind: %+v", &h)
		}
	})
}

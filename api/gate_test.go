package api

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestGate: places are counted per customer, handed on in order, and a wait that ends leaves nothing behind.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
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
		if len(g.doors) != 0 {
			t.Errorf("%d doors are left", len(g.doors))
		}
	})
}

// TestGateCrowd: a long line is not joined.
func TestGateCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		g.enter(t.Context(), 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range crowd {
			go g.enter(ctx, 1, 1)
		}
		synctest.Wait()
		if g.enter(t.Context(), 1, 1) {
			t.Error("entered behind a crowd")
		}
		cancel()
		synctest.Wait()
	})
}

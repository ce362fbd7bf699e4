package slots

import (
	"context"
	"testing"
	"testing/synctest"

	"belfry"
)

// TestSlots: a customer that fills the slots and queues for more does not block another, and waiting customers take
// turns.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Slots{Limit: 2, Extra: 2}
		var order []belfry.CustomerID
		enter := func(c belfry.CustomerID) {
			go func() {
				if s.Enter(t.Context(), c) == nil {
					order = append(order, c)
				}
			}()
			synctest.Wait()
		}
		want := func(list ...belfry.CustomerID) {
			t.Helper()
			synctest.Wait()
			if len(order) != len(list) {
				t.Fatalf("got in: %v, want %v", order, list)
			}
			for i := range list {
				if order[i] != list[i] {
					t.Fatalf("got in: %v, want %v", order, list)
				}
			}
		}
		for range 4 {
			enter(1)
		}
		want(1, 1) // two wait
		enter(2)
		want(1, 1, 2) // the other customer does not
		enter(2)
		enter(3)
		want(1, 1, 2, 3)
		enter(4)
		want(1, 1, 2, 3) // all are taken
		s.Leave(1)
		want(1, 1, 2, 3, 4) // before customers with running statements
		s.Leave(2)
		s.Leave(3)
		want(1, 1, 2, 3, 4, 2) // a customer with nothing running comes before one that has waited longer
		s.Leave(2)
		s.Leave(4)
		want(1, 1, 2, 3, 4, 2, 1)
		s.Leave(1)
		s.Leave(1)
		s.Leave(1)
		want(1, 1, 2, 3, 4, 2, 1, 1)
		if s.Count() != 0 && len(s.by) != 1 {
			t.Errorf("%d run, %v", s.Count(), s.by)
		}
	})
}

// TestSlotsGivenUp: a cancelled wait leaves nothing behind.
func TestSlotsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Slots{Limit: 1}
		if err := s.Enter(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Enter(ctx, 2) }()
		synctest.Wait()
		cancel()
		if err := <-done; err == nil {
			t.Error("it got in")
		}
		s.Leave(1)
		if s.Count() != 0 || len(s.by) != 0 || len(s.turns) != 0 {
			t.Errorf("%d run, %v, %v", s.Count(), s.by, s.turns)
		}
	})
}

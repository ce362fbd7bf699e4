package limit

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

// TestLoginPlaces: strangers who fill all their places and their line do not keep those waiting who are known. Places for which both
// wait are given in turns.
func TestLoginPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l LoginPlaces
		enter := func(known bool) func() {
			t.Helper()
			leave, ok := l.Enter(t.Context(), known)
			if !ok {
				t.Fatal("no place")
			}
			return leave
		}
		common := []func(){enter(false), enter(false)}
		order, next := make(chan string, 100), make(chan func(), 100)
		ctx, cancel := context.WithCancel(t.Context())
		line := func(name string, known bool) {
			if leave, ok := l.Enter(ctx, known); ok {
				order <- name
				next <- leave
			}
		}
		for range MaxLoginWaiters {
			go line("stranger", false)
		}
		synctest.Wait()
		if _, ok := l.Enter(t.Context(), false); ok {
			t.Error("a stranger found a place behind a full queue")
		}
		own := enter(true) // at once, or the test would hang
		for range 3 {
			go line("known", true)
		}
		synctest.Wait()
		own()
		synctest.Wait()
		for _, leave := range common {
			leave()
			synctest.Wait()
		}
		for range 2 {
			(<-next)()
			synctest.Wait()
		}
		got := []string{}
		for range len(order) {
			got = append(got, <-order)
		}
		// The own place; the two common ones in turns; the own one again; and a common one when nobody known waits.
		if strings.Join(got, " ") != "known known stranger known stranger" {
			t.Errorf("the order was %v", got)
		}
		cancel()
		synctest.Wait()
		for len(next) > 0 {
			(<-next)()
		}
		if l.own || l.common != 0 || len(l.known)+len(l.strangers) != 0 {
			t.Errorf("left: %+v", &l)
		}
	})
}

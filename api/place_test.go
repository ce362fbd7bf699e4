package api

import (
	"context"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// slowClients take all places of a customer and then keep the server waiting until the channel is closed.
func slowClients(t *testing.T, l limiter, w *waits, customer belfry.CustomerID, n, places int, until <-chan struct{}) (errs chan error, aborted *atomic.Int64) {
	errs, aborted = make(chan error, n), new(atomic.Int64)
	for range n {
		p := &place{limiter: l, customer: customer, places: places, patience: time.Second, waits: w, held: true}
		p.ctx, p.stop = context.WithCancel(t.Context())
		stop := make(chan struct{})
		p.abort = func() {
			aborted.Add(1)
			close(stop)
		}
		if !l.enter(t.Context(), customer, places) {
			t.Fatal("no place")
		}
		go func() {
			defer p.leave()
			errs <- p.wait(func() {
				select {
				case <-until:
				case <-stop:
				}
			})
		}()
	}
	return errs, aborted
}

// TestSlowClientsLosePlaces: clients that have all places and send nothing do not keep others of the same customer out.
func TestSlowClientsLosePlaces(t *testing.T) {
	for name, l := range map[string]limiter{"bulk": &hall{}, "queries": &gate{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w waits
				until := make(chan struct{})
				errs, _ := slowClients(t, l, &w, 1, 4, 4, until)
				quick := func(within time.Duration) bool {
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					if !l.enter(ctx, 1, 4) {
						return false
					}
					l.leave(1)
					return true
				}
				if quick(placeKept / 2) {
					t.Error("a place is given away at once")
				}
				if !quick(2 * placeKept) {
					t.Error("slow clients keep their places")
				}
				close(until)
				for range 4 {
					if err := <-errs; err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				if n := w.count(); n != 0 || !quick(time.Second) {
					t.Errorf("%d waits are left", n)
				}
			})
		})
	}
}

// TestWaitsAreLimited: the customer with most slow clients loses one when there are too many.
func TestWaitsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hall
		var w waits
		until := make(chan struct{})
		const places = 2
		_, few := slowClients(t, &h, &w, 2, 1, places, until)
		time.Sleep(2 * placeKept)
		many := int64(0)
		for range 9 {
			_, n := slowClients(t, &h, &w, 1, 1, places, until)
			time.Sleep(2 * placeKept)
			many += n.Load()
		}
		synctest.Wait()
		if w.count() > waitsPerPlace*places || few.Load() != 0 {
			t.Errorf("%d wait; the customer with one lost %d, the other %d", w.count(), few.Load(), many)
		}
		close(until)
	})
}

// TestRestWithoutPlace: a request that waits for something else than its client has no place meanwhile. While too many wait it keeps its
// place, unless its customer has few; slow clients take its wait away as that of any other.
func TestRestWithoutPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places, most = 4, waitsPerPlace * 4
		var h hall
		s := &Server{}
		until := make(chan struct{})
		errs := make(chan error, 100)
		rest := func(c belfry.CustomerID, n, inside int) {
			t.Helper()
			for range n {
				r := &request{Request: httptest.NewRequest("POST", "/api/send", nil), server: s, customer: c, limits: &Limits{Wait: time.Second, Idle: time.Second}}
				var took bool
				if r.place, took = s.take(r, &h, places); !took {
					t.Fatal("no place")
				}
				go func() {
					defer r.place.leave()
					errs <- r.rest(func(ctx context.Context) error {
						select {
						case <-until:
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					})
				}()
			}
			time.Sleep(2 * placeKept)
			if got, _, _ := h.counts(); got != inside {
				t.Errorf("%d places are taken after %d requests of %d, want %d", got, n, c, inside)
			}
		}
		for range most / places {
			rest(1, places, 0)
		}
		rest(1, places, places)
		rest(2, 1, places)
		slow, _ := slowClients(t, &h, &s.waits, 3, 1, places, until)
		if err := <-errs; belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("the one that had to make room got %v", err)
		}
		close(until)
		for range most + places {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := <-slow; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got, _, _ := h.counts(); got != 0 || s.waits.count() != 0 {
			t.Errorf("%d places are taken and %d wait", got, s.waits.count())
		}
	})
}

package api

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// slowClients take all places of a customer and then keep the server waiting until the channel is closed.
func slowClients(t *testing.T, l *limiter, w *waits, customer belfry.CustomerID, n, places int, until <-chan struct{}) (errs chan error, aborted *atomic.Int64) {
	errs, aborted = make(chan error, n), new(atomic.Int64)
	for range n {
		p := &place{limiter: l, customer: customer, places: places, maxWait: time.Second, waits: w, held: true}
		p.ctx, p.stop = context.WithCancelCause(t.Context())
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

// count is how many wait.
func (w *waits) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

// TestSlowClientsLosePlaces: clients that have all places and send nothing do not keep others of the same customer out.
func TestSlowClientsLosePlaces(t *testing.T) {
	for name, l := range map[string]*limiter{"bulk": {shared: true}, "queries": {}} {
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
		h := limiter{shared: true}
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

// TestRestFails: a request that cannot go on after its wait gets the reason, although there is no place for it any more.
func TestRestFails(t *testing.T) {
	f := func(name string, ends func(ctx context.Context, leave func()) error, want error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			const places = 2
			h := limiter{shared: true}
			s := &Server{}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r := &request{Request: httptest.NewRequestWithContext(ctx, "POST", "/api/send", nil), server: s, customer: 1, limits: &Limits{Wait: time.Second, Idle: time.Minute}}
			r.place, _ = s.take(r, &h, places)
			start := time.Now()
			err := r.rest(func(ctx context.Context) error {
				time.Sleep(2 * placeKept)
				for h.enter(ctx, 1, places) {
					if n, _, _ := h.counts(); n == places {
						break
					}
				}
				return ends(ctx, leave)
			})
			if !errors.Is(err, want) || time.Since(start) > 2*time.Second || s.waits.count() != 0 {
				t.Errorf("%s: %v after %s, %d wait", name, err, time.Since(start), s.waits.count())
			}
			r.place.leave()
			if n, _, _ := h.counts(); n != places {
				t.Errorf("%s: %d places are taken", name, n)
			}
		})
	}
	stopped := belfry.Errorf(belfry.Overloaded, "stopped")
	f("refused", func(context.Context, func()) error { return stopped }, stopped)
	f("the client has gone", func(ctx context.Context, leave func()) error {
		leave()
		<-ctx.Done()
		return ctx.Err()
	}, context.Canceled)
	f("the client has gone unnoticed", func(_ context.Context, leave func()) error {
		leave()
		return nil
	}, context.Canceled)
	f("the client goes while there is no place", func(_ context.Context, leave func()) error {
		time.AfterFunc(time.Second, leave)
		return nil
	}, context.Canceled)
}

// TestRestWithoutPlace: a request that waits for something else than its client has no place meanwhile. While too many wait it keeps its
// place, unless its customer has few; slow clients take its wait away as that of any other.
func TestRestWithoutPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places, most = 4, waitsPerPlace * 4
		h := limiter{shared: true}
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

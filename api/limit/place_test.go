package limit

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// slowClients take all places of a customer and then keep the server waiting until the channel is closed.
func slowClients(t *testing.T, l *Limiter, w *Waits, customer belfry.CustomerID, n, places int, until <-chan struct{}) (errs chan error, aborted *atomic.Int64) {
	errs, aborted = make(chan error, n), new(atomic.Int64)
	for range n {
		p, ok := l.Acquire(t.Context(), customer, places, time.Hour, time.Second, w)
		if !ok {
			t.Fatal("no place")
		}
		stop := make(chan struct{})
		p.abort = func() {
			aborted.Add(1)
			close(stop)
		}
		go func() {
			defer p.Release()
			errs <- p.Wait(func() {
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
	for name, l := range map[string]*Limiter{"bulk": {Shared: true}, "queries": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w Waits
				until := make(chan struct{})
				errs, _ := slowClients(t, l, &w, 1, 4, 4, until)
				quick := func(within time.Duration) bool {
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					if !l.Enter(ctx, 1, 4) {
						return false
					}
					l.Leave(1)
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
				if n := w.Count(); n != 0 || !quick(time.Second) {
					t.Errorf("%d waits are left", n)
				}
			})
		})
	}
}

// TestWaitsAreLimited: the customer with most slow clients loses one when there are too many.
func TestWaitsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Limiter{Shared: true}
		var w Waits
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
		if w.Count() > WaitsPerPlace*places || few.Load() != 0 {
			t.Errorf("%d wait; the customer with one lost %d, the other %d", w.Count(), few.Load(), many)
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
			h := Limiter{Shared: true}
			var w Waits
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			p, _ := h.Acquire(ctx, 1, places, time.Second, time.Minute, &w)
			start := time.Now()
			err := p.Rest(func(ctx context.Context) error {
				time.Sleep(2 * placeKept)
				for h.Enter(ctx, 1, places) {
					if n, _, _ := h.Counts(); n == places {
						break
					}
				}
				return ends(ctx, leave)
			})
			if !errors.Is(err, want) || time.Since(start) > 2*time.Second || w.Count() != 0 {
				t.Errorf("%s: %v after %s, %d wait", name, err, time.Since(start), w.Count())
			}
			p.Release()
			if n, _, _ := h.Counts(); n != places {
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
		const places, most = 4, WaitsPerPlace * 4
		h := Limiter{Shared: true}
		var w Waits
		until := make(chan struct{})
		errs := make(chan error, 100)
		rest := func(c belfry.CustomerID, n, inside int) {
			t.Helper()
			for range n {
				p, ok := h.Acquire(t.Context(), c, places, time.Second, time.Second, &w)
				if !ok {
					t.Fatal("no place")
				}
				go func() {
					defer p.Release()
					errs <- p.Rest(func(ctx context.Context) error {
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
			if got, _, _ := h.Counts(); got != inside {
				t.Errorf("%d places are taken after %d requests of %d, want %d", got, n, c, inside)
			}
		}
		for range most / places {
			rest(1, places, 0)
		}
		rest(1, places, places)
		rest(2, 1, places)
		slow, _ := slowClients(t, &h, &w, 3, 1, places, until)
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
		if got, _, _ := h.Counts(); got != 0 || w.Count() != 0 {
			t.Errorf("%d places are taken and %d wait", got, w.Count())
		}
	})
}

// TestStopAfterRelease: a stop after the end of a request does not touch the connection.
func TestStopAfterRelease(t *testing.T) {
	h, w := Limiter{Shared: true}, Waits{}
	p, _ := h.Acquire(t.Context(), 1, 1, time.Second, time.Second, &w)
	p.OnBreak(func() { t.Error("broken off") })
	p.Release()
	p.Stop(errors.New("stopped"))
}

// TestStopWithoutPlace: a request that has lost its place to others does not wait for one to learn that it was stopped.
func TestStopWithoutPlace(t *testing.T) {
	h, w := Limiter{Shared: true}, Waits{}
	p, _ := h.Acquire(t.Context(), 1, 1, time.Second, time.Hour, &w)
	cause := errors.New("stopped")
	err := p.Wait(func() {
		p.lose()
		if !h.Enter(t.Context(), 2, 1) || !h.Enter(t.Context(), 3, 1) { // all there are
			t.Error("no place")
		}
		p.Stop(cause)
	})
	if err != cause || p.Stopped() != cause {
		t.Errorf("got %v", err)
	}
}

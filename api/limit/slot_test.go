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

// slowClients take all slots of a customer and then keep the server waiting until the channel is closed.
func slowClients(t *testing.T, l *Limiter, w *Waits, customer belfry.CustomerID, n, slots int, until <-chan struct{}) (errs chan error, aborted *atomic.Int64) {
	errs, aborted = make(chan error, n), new(atomic.Int64)
	for range n {
		p, ok := l.Acquire(t.Context(), customer, slots, time.Hour, time.Second, w)
		if !ok {
			t.Fatal("no slot")
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

// TestSlowClientsLoseSlots: clients that have all slots and send nothing do not keep others of the same customer out.
func TestSlowClientsLoseSlots(t *testing.T) {
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
				if quick(slotKept / 2) {
					t.Error("a slot is given away at once")
				}
				if !quick(2 * slotKept) {
					t.Error("slow clients keep their slots")
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
		const slots = 2
		_, few := slowClients(t, &h, &w, 2, 1, slots, until)
		time.Sleep(2 * slotKept)
		many := int64(0)
		for range 9 {
			_, n := slowClients(t, &h, &w, 1, 1, slots, until)
			time.Sleep(2 * slotKept)
			many += n.Load()
		}
		synctest.Wait()
		if w.Count() > WaitsPerSlot*slots || few.Load() != 0 {
			t.Errorf("%d wait; the customer with one lost %d, the other %d", w.Count(), few.Load(), many)
		}
		close(until)
	})
}

// TestRestFails: a request that cannot go on after its wait gets the reason, although there is no slot for it any more.
func TestRestFails(t *testing.T) {
	f := func(name string, ends func(ctx context.Context, leave func()) error, want error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			const slots = 2
			h := Limiter{Shared: true}
			var w Waits
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			p, _ := h.Acquire(ctx, 1, slots, time.Second, time.Minute, &w)
			start := time.Now()
			err := p.Rest(func(ctx context.Context) error {
				time.Sleep(2 * slotKept)
				for h.Enter(ctx, 1, slots) {
					if n, _, _ := h.Counts(); n == slots {
						break
					}
				}
				return ends(ctx, leave)
			})
			if !errors.Is(err, want) || time.Since(start) > 2*time.Second || w.Count() != 0 {
				t.Errorf("%s: %v after %s, %d wait", name, err, time.Since(start), w.Count())
			}
			p.Release()
			if n, _, _ := h.Counts(); n != slots {
				t.Errorf("%s: %d slots are taken", name, n)
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
	f("the client goes while there is no slot", func(_ context.Context, leave func()) error {
		time.AfterFunc(time.Second, leave)
		return nil
	}, context.Canceled)
}

// TestRestWithoutSlot: a request that waits for something else than its client has no slot meanwhile. While too many wait it keeps its
// slot, unless its customer has few; slow clients take its wait away as that of any other.
func TestRestWithoutSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, most = 4, WaitsPerSlot * 4
		h := Limiter{Shared: true}
		var w Waits
		until := make(chan struct{})
		errs := make(chan error, 100)
		rest := func(c belfry.CustomerID, n, inside int) {
			t.Helper()
			for range n {
				p, ok := h.Acquire(t.Context(), c, slots, time.Second, time.Second, &w)
				if !ok {
					t.Fatal("no slot")
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
			time.Sleep(2 * slotKept)
			if got, _, _ := h.Counts(); got != inside {
				t.Errorf("%d slots are taken after %d requests of %d, want %d", got, n, c, inside)
			}
		}
		for range most / slots {
			rest(1, slots, 0)
		}
		rest(1, slots, slots)
		rest(2, 1, slots)
		slow, _ := slowClients(t, &h, &w, 3, 1, slots, until)
		if err := <-errs; belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("the one that had to make room got %v", err)
		}
		close(until)
		for range most + slots {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := <-slow; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got, _, _ := h.Counts(); got != 0 || w.Count() != 0 {
			t.Errorf("%d slots are taken and %d wait", got, w.Count())
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

// TestStopWithoutSlot: a request that has lost its slot to others does not wait for one to learn that it was stopped.
func TestStopWithoutSlot(t *testing.T) {
	h, w := Limiter{Shared: true}, Waits{}
	p, _ := h.Acquire(t.Context(), 1, 1, time.Second, time.Hour, &w)
	cause := errors.New("stopped")
	err := p.Wait(func() {
		p.lose()
		if !h.Enter(t.Context(), 2, 1) || !h.Enter(t.Context(), 3, 1) { // all there are
			t.Error("no slot")
		}
		p.Stop(cause)
	})
	if err != cause || p.Stopped() != cause {
		t.Errorf("got %v", err)
	}
}

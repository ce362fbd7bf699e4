package collect

import (
	"context"
	"errors"
	"testing"

	"belfry"
)

// A collector that may overlap begins before the one whose place it takes has ended, one after the other however fast they
// change. One that cannot be beside the other waits for its end, and nobody sees a failure.
func TestSupervisorOverlap(t *testing.T) {
	l := &log{}
	began := make(chan string)
	alone := make(chan struct{}, 1) // has room while nobody keeps others out
	h := newHouse(t, map[string]Kind{"network-ping": {Overlaps: true, New: func(_ *Env, task Task) (Collector, error) {
		return runner(func(ctx context.Context) error {
			to := task.Answers["ip_address_fqdn"]
			if to == "127.0.0.4" || to == "127.0.0.5" {
				select {
				case alone <- struct{}{}:
					defer func() { <-alone }()
				default:
					return errors.New("there is no room for two")
				}
			}
			began <- to
			task.begin()
			l.note("%s begins", to)
			<-ctx.Done()
			l.note("%s ends", to)
			return nil
		}), nil
	}}})
	change := func(to string) {
		t.Helper()
		h.provision("network-ping", "name,ip_address_fqdn", "A,"+to)
		h.await("the supervisor has heard", func() bool {
			h.sup.mu.Lock()
			defer h.sup.mu.Unlock()
			for _, r := range h.sup.runs {
				return r.task.Answers["ip_address_fqdn"] == to
			}
			return false
		})
	}
	begins := func(want string) {
		t.Helper()
		if got := <-began; got != want {
			t.Fatalf("%s begins", got)
		}
	}
	change("127.0.0.1")
	begins("127.0.0.1")
	h.await("it works", l.has("127.0.0.1 begins"))
	change("127.0.0.2")
	change("127.0.0.3")
	if !l.has("127.0.0.1 begins")() {
		t.Error("the first one ends before the next one begins")
	}
	begins("127.0.0.2")
	begins("127.0.0.3")
	h.await("the last one remains", l.has("127.0.0.1 begins", "127.0.0.1 ends", "127.0.0.2 begins", "127.0.0.2 ends", "127.0.0.3 begins"))

	l.lines = nil
	change("127.0.0.4")
	begins("127.0.0.4")
	change("127.0.0.5")
	begins("127.0.0.5")
	h.await("it waits for room", l.has("127.0.0.3 ends", "127.0.0.4 begins", "127.0.0.4 ends", "127.0.0.5 begins"))
	if s := h.state("A - Ping"); s.Status == belfry.Unavailable {
		t.Errorf("it shows %s", s.Info)
	}
	// One that is removed before it has begun takes the one before it along.
	l.lines = nil
	change("127.0.0.6")
	h.remove("network-ping", "A")
	begins("127.0.0.6")
	h.await("nothing remains", l.has("127.0.0.5 ends", "127.0.0.6 begins", "127.0.0.6 ends"))
}

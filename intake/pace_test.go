package intake

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/engine"
)

func TestPace(t *testing.T) {
	p := pace{burst: time.Second}
	start := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	f := func(c belfry.CustomerID, after time.Duration, rate, rows int, want bool) {
		t.Helper()
		now := start.Add(after)
		err := p.enter(c, rate, now)
		if got := err == nil; got != want {
			t.Fatalf("customer %d after %s: let in %v, want %v", c, after, got, want)
		}
		if err != nil && belfry.CodeOf(err) != belfry.RateLimited {
			t.Errorf("code %s", belfry.CodeOf(err))
		}
		if wait := p.reserve(c, rows, rate, now); (wait == 0) != want {
			t.Errorf("customer %d after %s has to wait %s", c, after, wait)
		}
	}
	f(1, 0, 0, 1_000_000, true) // no limit
	f(1, 0, 100, 100, true)
	f(1, 0, 100, 400, true) // it owes no more than its burst; what it brings is taken whole
	f(1, 0, 100, 1, false)  // and has to be waited for
	f(2, 0, 100, 100, true) // another customer does not
	f(1, 3*time.Second, 100, 1, false)
	f(1, 4*time.Second, 100, 50, true)
	var e *belfry.Error
	p.reserve(3, 1000, 100, start)
	if err := p.enter(3, 100, start); !errors.As(err, &e) || e.Retry != 9 {
		t.Errorf("Retry-After %v", err)
	}
	if p.reserve(3, 1, 100, start.Add(9*time.Second-1)) == 0 || p.reserve(3, 1, 100, start.Add(9*time.Second)) != 0 {
		t.Error("not after 9 s")
	}
	// A clock that is set back does not make the wait longer.
	p.reserve(4, 1000, 100, start)
	back := start.Add(-time.Hour)
	if wait := p.reserve(4, 1, 100, back); wait <= 0 || wait > 9*time.Second {
		t.Errorf("wait %s after the clock was set back", wait)
	}
	if p.reserve(4, 1, 100, back.Add(9*time.Second)) != 0 {
		t.Error("not 9 s after the clock was set back")
	}
}

// TestPaceForgets: customers that are quiet take no memory, however many there were; those that owe rows still owe them.
func TestPaceForgets(t *testing.T) {
	p := pace{burst: time.Second}
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	p.reserve(1, 100_000, 10, now)
	for c := belfry.CustomerID(2); c < 10_000; c++ {
		now = now.Add(time.Second)
		p.reserve(c, 10, 10, now)
	}
	if n := len(p.rows); n > 2*firstScan {
		t.Errorf("%d customers are remembered", n)
	}
	if p.reserve(1, 1, 10, now) == 0 {
		t.Error("a debt is forgotten")
	}
}

// TestPacedAtTheStop: a body under way that waits for the row rate is told when the service begins to stop.
func TestPacedAtTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Engine: engine.New(engine.Config{Limits: func() engine.Limits { return engine.Limits{Rate: 10} }, Now: time.Now})})
		if err := s.chargeRate(t.Context(), 1, 1000, true); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, s.Closing)
		var err error
		if got := took(func() { err = s.chargeRate(t.Context(), 1, 1000, true) }); got != time.Second || !errors.Is(err, engine.ErrStopping) {
			t.Errorf("after %s: %v", got, err)
		}
		if err := s.chargeRate(t.Context(), 2, 1, true); err != nil {
			t.Errorf("one that does not wait: %v", err)
		}
	})
}

func TestAnswersLimit(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.Config.Count = func(belfry.CustomerID) int { return 1_000_000 }
	_, _, err := b.Send(t.Context(), b.Who, strings.NewReader("type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n"), Options{Repeat: engine.Repeat{Key: "k"}})
	if belfry.CodeOf(err) != belfry.RateLimited {
		t.Errorf("got %v", err)
	}
}

package collect

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"belfry"
	"belfry/status"
)

// held is a message whose evaluation blocks until the test releases it.
type held struct {
	Message string
	begun   *atomic.Int32 // evaluations
	let     chan struct{}
}

func (*held) blank()          {}
func (*held) unshare()        {}
func (*held) sender() *string { return new(string) }
func (*held) check() error    { return nil }
func (h *held) size() int {
	h.begun.Add(1)
	<-h.let
	return len(h.Message)
}

// heldMessages are messages that are released together.
func heldMessages(n int) []held {
	return slices.Repeat([]held{{Message: "x", begun: new(atomic.Int32), let: make(chan struct{})}}, n)
}

func heldPipeline(t *testing.T, e *Env, c belfry.CustomerID) *pipeline[held] {
	t.Helper()
	p, _, err := newPipeline[held](t.Context(), e, c, map[string]string{"filter": `Message == "y"`}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// beginTurn begins a turn of a customer.
func beginTurn(t *testing.T, e *Env, c belfry.CustomerID) *status.Turn {
	t.Helper()
	turn, err := e.filters.Begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// One filter of a customer is evaluated at a time; filters of other customers are not affected.
func TestFilterTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testEnv(t)
		var receivers [8]*pipeline[held]
		for i := range receivers { // before an evaluation begins: they are compiled in turns, too
			receivers[i] = heldPipeline(t, e, 1)
		}
		mine, others := heldMessages(1), heldMessages(1)
		for _, p := range receivers {
			go p.apply(t.Context(), slices.Clone(mine))
		}
		go heldPipeline(t, e, 2).apply(t.Context(), others)
		f := func(want int32) {
			t.Helper()
			synctest.Wait()
			if n := mine[0].begun.Load(); n != want {
				t.Errorf("%d evaluations have begun, want %d", n, want)
			}
		}
		f(1)
		if others[0].begun.Load() != 1 {
			t.Error("the other customer waits")
		}
		for n := range len(receivers) - 1 {
			mine[0].let <- struct{}{}
			f(int32(n) + 2)
		}
		close(mine[0].let)
		close(others[0].let)
	})
}

// Many costly messages of one receiver do not block another receiver of the customer.
func TestFilterTurnsAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testEnv(t)
		long, short := heldPipeline(t, e, 1), heldPipeline(t, e, 1)
		long.filter.steps = turnSteps
		many, one := heldMessages(5), heldMessages(1)
		go long.apply(t.Context(), many)
		synctest.Wait()
		go short.apply(t.Context(), one)
		synctest.Wait()
		many[0].let <- struct{}{}
		synctest.Wait()
		if one[0].begun.Load() != 1 || many[0].begun.Load() != 1 {
			t.Errorf("%d of many and %d of one have begun", many[0].begun.Load(), one[0].begun.Load())
		}
		close(one[0].let)
		close(many[0].let)
	})
}

// A filter is compiled in a turn, too. A cancelled wait is not an error of the filter.
func TestFilterTurnsOfCompiling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testEnv(t)
		turn := beginTurn(t, e, 1)
		var compiled atomic.Int32
		for _, c := range []belfry.CustomerID{1, 2} {
			go func() {
				if _, err := Kinds["log-syslog-receiver"].inspect(t.Context(), e, c, map[string]string{"filter": "severity < 4"}); err != nil {
					t.Error(err)
				}
				compiled.Add(int32(c))
			}()
		}
		synctest.Wait()
		if got := compiled.Load(); got != 2 {
			t.Errorf("compiled for %d, want 2 alone", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if column, err := Kinds["log-syslog-receiver"].inspect(ctx, e, 1, map[string]string{"filter": "severity < 4"}); column != "" || err != context.Canceled {
			t.Errorf("column %q: %v", column, err)
		}
		turn.End()
		synctest.Wait()
		if got := compiled.Load(); got != 3 {
			t.Errorf("compiled for %d, want both", got)
		}
	})
}

// When time is up, messages are kept unchanged.
func TestFilterTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testEnv(t)
		p := heldPipeline(t, e, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f := func() {
			t.Helper()
			for _, v := range p.apply(ctx, heldMessages(3)) {
				if v.rejectedBy != "" || v.failed == nil {
					t.Errorf("by %q: %v", v.rejectedBy, v.failed)
				}
			}
		}
		f()
		turn := beginTurn(t, e, 1)
		f()
		turn.End()
		beginTurn(t, e, 1).End()
	})
}

// The turn is not held while a script waits for its process.
func TestFilterTurnsBesideScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testEnv(t)
		p := heldPipeline(t, e, 1)
		busy, err := e.scripts.acquire(t.Context(), &workerRequest{customer: 1, alone: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go newPipeline[held](ctx, e, 1, map[string]string{"filter": "true", "script": "function message(m) { return m }"}, new(atomic.Int32))
		p.script = &scriptRunner{workers: &e.scripts, customer: 1, kills: new(atomic.Int32)}
		messages := []held{{Message: "y", begun: new(atomic.Int32), let: make(chan struct{})}}
		close(messages[0].let)
		go p.apply(ctx, messages)
		synctest.Wait()
		if n := len(e.scripts.customers[1].waiting); n != 2 {
			t.Errorf("%d wait for the process, want 2", n)
		}
		beginTurn(t, e, 1).End() // a deadlock if one of them holds it
		cancel()
		synctest.Wait()
		e.scripts.release(busy, false, false)
	})
}

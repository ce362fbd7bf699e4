package collect

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"belfry"
	"belfry/collect/script"
	"belfry/status"
)

// held is a message whose evaluation blocks until the test releases it.
type held struct {
	Message string
	begun   *atomic.Int32 // evaluations
	let     chan struct{}
}

// heldFormat is the format of such messages. Their size is needed when they are filtered.
type heldFormat struct{ messageFormat[held] }

func (heldFormat) size(h *held) int {
	h.begun.Add(1)
	<-h.let
	return len(h.Message)
}

// heldMessages are messages that are released together.
func heldMessages(n int) []held {
	return slices.Repeat([]held{{Message: "x", begun: new(atomic.Int32), let: make(chan struct{})}}, n)
}

func heldPipeline(t *testing.T, e *Env, c belfry.CustomerID, filter string) *pipeline[held] {
	t.Helper()
	p, _, err := newPipeline[held](t.Context(), e, heldFormat{}, c, map[string]string{"filter": filter}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// beginTurn begins a turn of a customer.
func beginTurn(t *testing.T, e *Env, c belfry.CustomerID) *status.Turn {
	t.Helper()
	turn := e.filters.Begin(t.Context(), c)
	if err := turn.Pause(); err != nil {
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
			receivers[i] = heldPipeline(t, e, 1, "true")
		}
		mine, others := heldMessages(1), heldMessages(1)
		for _, p := range receivers {
			go p.apply(t.Context(), slices.Clone(mine))
		}
		go heldPipeline(t, e, 2, "true").apply(t.Context(), others)
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
		long, short := heldPipeline(t, e, 1, strings.Repeat(`lower(Message) == "y" or `, 50)+"false"), heldPipeline(t, e, 1, "true")
		many, one := heldMessages(5), heldMessages(1)
		for i := range many {
			many[i].Message = strings.Repeat("x", 400) // takes longer than a turn
		}
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
		p := heldPipeline(t, e, 1, "true")
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
		p := heldPipeline(t, e, 1, "true")
		e.scripts.Max = -1 // there will be no process
		const text = "function message(m) { return m }"
		var err error
		if p.script, err = script.New(&e.scripts, 1, text, new(atomic.Int32)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Int32
		go func() {
			newPipeline[held](ctx, e, heldFormat{}, 1, map[string]string{"filter": "true", "script": text}, new(atomic.Int32))
			ended.Add(1)
		}()
		messages := []held{{Message: "y", begun: new(atomic.Int32), let: make(chan struct{})}}
		close(messages[0].let)
		go func() {
			p.apply(ctx, messages)
			ended.Add(1)
		}()
		synctest.Wait()
		if n := ended.Load(); n != 0 {
			t.Errorf("%d did not wait for the process", n)
		}
		beginTurn(t, e, 1).End() // a deadlock if one of them holds it
		cancel()
		synctest.Wait()
	})
}

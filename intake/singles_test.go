package intake

import (
	"errors"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// TestSinglesLimit: single rows that wait are limited; the one beyond is refused and counted.
func TestSinglesLimit(t *testing.T) {
	b := enginetest.NewBench(t, enginetest.OpenJournal(t))
	s := New(Config{Engine: engine.New(b.Config)}) // which does not run, so everything waits
	row := &belfry.Row{Type: "data", Resource: "res", Object: "cpu", Indicators: []belfry.Cell{{N: 1, Text: "1"}}}
	for i := range mostGathered {
		if _, n, err := s.gather(1, row); err != nil || n != i+1 {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if _, _, err := s.SendOne(t.Context(), belfry.Whole(1), row); belfry.CodeOf(err) != belfry.Overloaded {
		t.Errorf("one more: %v", err)
	}
	if got := s.counters.Lost[lostOverloaded].Load(); got != 1 || s.counters.Received.Load() != 1 {
		t.Errorf("%d counted", got)
	}
}

// TestSinglesFailUndecided: a command that fails before it is decided takes its rows with it, and the next row starts another.
func TestSinglesFailUndecided(t *testing.T) {
	b := newBench(t)
	const removed = 4711
	row := &belfry.Row{Type: "data", Resource: "res", Object: "cpu", Indicators: []belfry.Cell{{N: 1, Text: "1"}}}
	for range 2 {
		if _, _, err := b.SendOne(t.Context(), belfry.Whole(removed), row); !errors.Is(err, engine.ErrGone) {
			t.Fatalf("a row of a customer that is gone: %v", err)
		}
		if g := b.singles.waiting[removed]; g != nil {
			t.Fatalf("%d rows still wait for a command that has ended", g.row)
		}
	}
	if got := b.Counters().Lost[lostRefused].Load(); got != 2 {
		t.Errorf("%d counted", got)
	}
}

package intake

import (
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

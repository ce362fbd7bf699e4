package duck

import (
	"math"
	"testing"

	"belfry"
	"belfry/store/duck/folder"
)

// TestImpossibleTimes leaves rows out that no query could find.
func TestImpossibleTimes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	b := rowsOf(1, 0, 0, 0, 0, 0)
	b.Times[0], b.Times[1], b.Times[2], b.Times[3] = -1, math.MinInt64, math.MaxInt64, folder.EndOfTime
	mustAppend(t, s, b)
	if got := count(t, s); got != 1 || s.Stats().Skipped != 4 {
		t.Errorf("%d rows stored and %d skipped, want 1 and 4", got, s.Stats().Skipped)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if got := count(t, s); got != 1 {
		t.Errorf("%d rows after a restart, want 1", got)
	}
}

// TestKeep stores rows that arrive while the clock shows a time whose rows were dropped, and keeps them as long as
// others that arrived then.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	c := s.cfg.Catalog.Collection("objectdata")
	reopen := func() {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir)
	}
	drop := func(days int) {
		t.Helper()
		if err := s.Drop(t.Context(), c, crashDay0+belfry.Time(days)*belfry.Day); err != nil {
			t.Fatal(err)
		}
	}
	want := func(rows, skipped, expired int) {
		t.Helper()
		if got := count(t, s); got != rows || s.Stats().Skipped != uint64(skipped) || s.Stats().Expired != uint64(expired) {
			t.Errorf("%d rows stored, %d skipped, %d expired, want %d, %d, %d", got, s.Stats().Skipped, s.Stats().Expired, rows, skipped, expired)
		}
	}
	mustAppend(t, s, rowsOf(1, 0, 1, 100))
	drop(50)
	want(1, 0, 2)
	mustAppend(t, s, rowsOf(2, 1)) // late
	want(1, 1, 2)
	if added, err := s.Keep(c, crashDay0+belfry.Day, crashDay0+100*belfry.Day); !added || err != nil {
		t.Fatal(added, err)
	}
	if added, err := s.Keep(c, crashDay0+60*belfry.Day, crashDay0+100*belfry.Day); added || err != nil {
		t.Fatal("a period that is stored anyway is kept apart", err)
	}
	mustAppend(t, s, rowsOf(3, 1, 1, 2))
	want(3, 2, 2)
	reopen()
	want(3, 0, 0)
	mustAppend(t, s, rowsOf(3, 1, 1, 2), rowsOf(4, 1)) // replay, and a further row
	want(4, 1, 0)
	drop(99)
	want(4, 1, 0)
	drop(102)
	want(0, 1, 4)
	reopen()
	want(0, 0, 0)
	mustAppend(t, s, rowsOf(5, 1))
	want(0, 1, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

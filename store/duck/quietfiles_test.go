package duck

import (
	"testing"

	"belfry"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// TestQuietFiles: the item lists of quiet days are built before the first query, and survive a checkpoint and a
// restart.
func TestQuietFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.indexer.close()
	f := func(want int) {
		t.Helper()
		if got := len(s.quietFiles()); got != want {
			t.Errorf("%d files wait for a list of items, want %d", got, want)
		}
	}
	indexAll := func() {
		t.Helper()
		s.indexQuietFiles(t.Context(), index.NewSet())
		f(0)
	}
	mustAppend(t, s, itemRows(1, 7, 0, 1, 2, 3, 4))
	f(0) // they have just been written to
	indexAll()
	listed := func(day int, want bool) {
		t.Helper()
		if _, _, _, ok := s.itemBlock(s.files.byName["objectdata"][day]); ok != want {
			t.Errorf("the items of day %d are listed: %t, want %t", day, ok, want)
		}
	}
	listed(0, true)
	listed(4, false) // the newest
	mustAppend(t, s, itemRows(2, 8, 2))
	listed(2, false)
	f(0)
	f(1)
	indexAll()
	listed(2, true)
	file := s.files.byName["objectdata"][2]
	must(t, s.files.checkpoint(t.Context(), s.writer, file))
	listed(2, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	s.indexer.close()
	listed(2, true)
	listed(4, false)
}

// TestPeriodFilter: no more days are checked than needed, starting at the end where the order begins.
func TestPeriodFilter(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.indexer.close()
	mustAppend(t, s, itemRows(1, 7, 0, 1, 2, 3, 4, 5), itemRows(2, 8, 0, 3))
	f := func(desc bool, n, looked int, days ...int) {
		t.Helper()
		p := itemPlan(t, s, 8)
		p.Order[0].Desc = desc
		w := s.newPeriodFilter(p, s.files.periods(p.Collection, 0, folder.EndOfTime))
		w.Find(n)
		if 6-len(w.Rest) != looked {
			t.Errorf("%d days were looked at, want %d", 6-len(w.Rest), looked)
		}
		if len(w.Found) != len(days) {
			t.Fatalf("%d days were found, want %v", len(w.Found), days)
		}
		for i, day := range days {
			if got := int((w.Found[i].From - crashDay0) / belfry.Day); got != day {
				t.Errorf("found day %d, want %d", got, day)
			}
		}
	}
	f(true, 2, 2, 5, 4) // nothing is known yet
	s.indexer.Clear()
	s.quietFiles()
	s.indexQuietFiles(t.Context(), index.NewSet())
	f(true, 1, 1, 5)
	f(true, 2, 3, 5, 3)
	f(true, 3, 6, 5, 3, 0)
	f(false, 1, 1, 0)
	f(false, 2, 4, 0, 3)
	f(false, 9, 6, 0, 3, 5)
}

// TestListsAreSure: item lists have very few false positives.
func TestListsAreSure(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.indexer.close()
	mustAppend(t, s, itemRows(1, 7, 0, 1, 2))
	for n := range 200 {
		mustAppend(t, s, itemRows(belfry.Position(n+2), int64(n+100), 0))
	}
	s.quietFiles()
	s.indexQuietFiles(t.Context(), index.NewSet())
	wrong := 0
	for id := belfry.ID(1000); id < 11_000; id++ {
		if s.mayHaveItem(s.files.byName["objectdata"][0], itemPlan(t, s, id)) {
			wrong++
		}
	}
	if wrong > 5 {
		t.Errorf("%d of 10,000 items seem to be in a day that does not have them", wrong)
	}
	for id := belfry.ID(100); id < 300; id++ {
		if !s.mayHaveItem(s.files.byName["objectdata"][0], itemPlan(t, s, id)) {
			t.Errorf("item %d is missing", id)
		}
	}
}

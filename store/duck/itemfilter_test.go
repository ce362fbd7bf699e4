package duck

import (
	"os"
	"testing"
	"time"

	"belfry"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// itemRows makes a row of an item on a day.
func itemRows(pos belfry.Position, item int64, days ...int) *belfry.Batch {
	b := rowsOf(pos, days...)
	for i := range b.Columns[0].Ints {
		b.Columns[0].Ints[i] = item
	}
	return b
}

// itemPlan returns the plan of the last rows of an item.
func itemPlan(t testing.TB, s *Store, item belfry.ID) *query.Plan {
	t.Helper()
	tree, err := query.Parse("SELECT i1 FROM objectdata WHERE object = 'x' LIMIT 10")
	if err != nil {
		t.Fatal(err)
	}
	p, err := query.Check(tree, s.cfg.Catalog, query.Options{Customer: 1, Now: crashDay0})
	if err != nil {
		t.Fatal(err)
	}
	p.Items, p.ItemsKnown = []belfry.ID{item}, true
	return p
}

// TestItemFilters: days without the item are skipped once their filters are built, and read again as soon as a row
// comes late, whatever happens to the filter.
func TestItemFilters(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.indexer.close()
	f := func(item belfry.ID, want int, rows string) {
		t.Helper()
		p := itemPlan(t, s, item)
		w := s.newPeriodFilter(p, s.files.periods(p.Collection, 0, folder.EndOfTime))
		w.Find(100)
		if got := len(w.Found); got != want {
			t.Errorf("%d days may have item %d, want %d", got, item, want)
		}
		if got := read(t, s, p); got != rows {
			t.Errorf("rows of item %d: %s, want %s", item, got, rows)
		}
	}
	fill := func() {
		t.Helper()
		for job, ok := s.indexer.Next(); ok; job, ok = s.indexer.Next() {
			if _, err := s.runIndexJob(t.Context(), job, index.NewSet()); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustAppend(t, s, itemRows(1, 7, 0, 1, 2, 3, 4, 5), itemRows(2, 8, 0, 3))
	f(8, 6, "3 0")
	fill()
	f(8, 3, "3 0") // and the newest
	f(7, 6, "5 4 3 2 1 0")
	f(9, 1, "")
	mustAppend(t, s, itemRows(3, 9, 2))
	f(9, 2, "2")
	fill()
	f(9, 2, "2")
	f(8, 3, "3 0")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	s.indexer.close()
	f(8, 3, "3 0")
	path := s.files.byName["objectdata"][3].path
	whole, err := os.ReadFile(path + itemSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		damaged := append([]byte{}, whole...)
		damaged[at] ^= byte(1 + at%255)
		for _, data := range [][]byte{damaged, whole[:at]} {
			if err := os.WriteFile(path+itemSuffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if !s.mayHaveItem(s.files.byName["objectdata"][3], itemPlan(t, s, 8)) {
				t.Fatalf("damage at %d: the day is left out", at)
			}
		}
	}
	if err := s.Drop(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0+4*belfry.Day); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + itemSuffix); !os.IsNotExist(err) {
		t.Errorf("the filter of a dropped day: %v", err)
	}
}

// BenchmarkLastOfItem queries the last rows of an item that has no rows in most of 400 days.
func BenchmarkLastOfItem(b *testing.B) {
	s := open(b, b.TempDir())
	defer s.Close()
	s.indexer.close()
	days := make([]int, 400)
	for i := range days {
		days[i] = i
	}
	for i, batch := range []*belfry.Batch{itemRows(1, 7, days...), itemRows(2, 8, 3)} {
		if err := store.AppendAll(b.Context(), s, batch); err != nil {
			b.Fatal(i, err)
		}
	}
	ask := func(name string) {
		start := time.Now()
		for range 20 {
			rows, err := s.Select(b.Context(), itemPlan(b, s, 8))
			if err != nil {
				b.Fatal(err)
			}
			if row, err := rows.Next(); err != nil || row[0].Num != 3 {
				b.Fatal(row, err)
			}
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/20, name)
	}
	b.ReportMetric(0, "ns/op")
	ask("µs-without")
	for job, ok := s.indexer.Next(); ok; job, ok = s.indexer.Next() {
		if _, err := s.runIndexJob(b.Context(), job, index.NewSet()); err != nil {
			b.Fatal(err)
		}
	}
	ask("µs-with")
	if _, ok := s.indexer.Next(); ok {
		b.Error("not all filters were made")
	}
}

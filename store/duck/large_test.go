package duck

import (
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/store"
)

// TestLargeRows: rows of the largest size are stored, many at once and one commit after the other, and are there after
// the store is opened again, although the engine starts with too little memory for them.
func TestLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some hundred megabytes")
	}
	const rows, size, commits = 60, 1 << 20, 6
	dir := t.TempDir()
	s := open(t, dir)
	line := strings.Repeat("lorem ipsum ", size/12)
	for i := range commits {
		b := &belfry.Batch{Collection: belfry.ObjectLog, Customer: 1, Pos: belfry.Position(i + 1), FirstID: belfry.RowID(i * rows), Times: make([]belfry.Time, rows)}
		items, lines := make([]int64, rows), make([]string, rows)
		for r := range rows {
			b.Times[r] = 1_700_000_000_000_000
			items[r], lines[r] = 1, line[:len(line)-r]
		}
		b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "log", Texts: lines}}
		if err := store.AppendAll(t.Context(), s, b); err != nil {
			t.Fatalf("commit %d: %v", i+1, err)
		}
	}
	count := func(s *Store) {
		t.Helper()
		plan := parse(t, s, "SELECT COUNT(*) FROM objectlog WHERE timestamp >= '2023-11-14T00:00:00Z' AND timestamp < '2023-11-16T00:00:00Z'")
		if n := read(t, s, plan); n != strconv.Itoa(rows*commits) {
			t.Errorf("%s rows, want %d", n, rows*commits)
		}
	}
	count(s)
	if got := read(t, s, parse(t, s, "SELECT log FROM objectlog WHERE timestamp >= '2023-11-14T00:00:00Z' AND timestamp < '2023-11-16T00:00:00Z' LIMIT 3")); len(got) < 3*(size-rows-12) {
		t.Errorf("three lines have %d bytes", len(got))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	count(open(t, dir))
}

package duck

import (
	"math"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
)

func TestPeriod(t *testing.T) {
	day, month := &catalog.Collection{Period: catalog.Day}, &catalog.Collection{Period: catalog.Month}
	f := func(c *catalog.Collection, moment, from, to, file string) {
		t.Helper()
		at := func(s string) belfry.Time {
			std, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				t.Fatal(err)
			}
			return belfry.At(std)
		}
		p := c.PeriodOf(at(moment))
		if p != (belfry.Span{From: at(from), To: at(to)}) {
			t.Errorf("%s: from %v to %v", moment, p.From, p.To)
		}
		if !p.Contains(at(moment)) || p.Contains(p.To) || !p.Contains(p.From) || !p.Overlaps(p.To-1, p.To) || p.Overlaps(p.To, p.To) || p.Overlaps(0, p.From-1) {
			t.Errorf("%s: wrong about what it contains", moment)
		}
		if got := fileName(c, p); got != file {
			t.Errorf("%s: file %s, want %s", moment, got, file)
		}
		if back, ok := parseFileName(c, file); !ok || back != p {
			t.Errorf("%s: reads back as %v, %v", file, back, ok)
		}
	}
	f(day, "2026-02-28T23:59:59.999999Z", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z", "2026-02-28.duckdb")
	f(day, "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-01.duckdb")
	f(day, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", "1970-01-01.duckdb")
	f(day, "1969-12-31T23:00:00Z", "1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31.duckdb")
	f(month, "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", "2024-02.duckdb")
	f(month, "2024-12-31T23:59:59Z", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z", "2024-12.duckdb")
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"2026-03-01.duckdb", "2026-3-1.duckdb", "2026-13-01.duckdb", "2026-03.duckdb", "watermark", "2026-03-01.duckdb.wal"} {
		f.Add(s)
	}
	c := &catalog.Collection{Period: catalog.Day}
	f.Fuzz(func(t *testing.T, s string) {
		if p, ok := parseFileName(c, s); ok && fileName(c, p) != s {
			t.Errorf("%q reads as %v, which is written %q", s, p.From, fileName(c, p))
		}
	})
}

// TestImpossibleTimes leaves rows out that no query could find.
func TestImpossibleTimes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	b := rowsOf(1, 0, 0, 0, 0, 0)
	b.Times[0], b.Times[1], b.Times[2], b.Times[3] = -1, math.MinInt64, math.MaxInt64, endOfTime
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

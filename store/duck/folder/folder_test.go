package folder

import (
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
		if got := FileName(c, p); got != file {
			t.Errorf("%s: file %s, want %s", moment, got, file)
		}
		if back, ok := ParseFileName(c, file); !ok || back != p {
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
		if p, ok := ParseFileName(c, s); ok && FileName(c, p) != s {
			t.Errorf("%q reads as %v, which is written %q", s, p.From, FileName(c, p))
		}
	})
}

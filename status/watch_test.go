package status

import (
	"testing"
	"time"

	"belfry"
	"belfry/status/calendar"
)

func TestWatch(t *testing.T) {
	p, err := calendar.ParsePeriod([]byte(`{"timezone":"Europe/Berlin","times":["mon-fri 08:00-18:00"]}`), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) belfry.Time {
		t.Helper()
		if text == "" {
			return 0
		}
		m, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return belfry.At(m)
	}
	w := NewWatch(p)
	f := func(now string, quiet bool, change, since string) {
		t.Helper()
		for _, w := range []*Watch{w, NewWatch(p)} { // with and without a cached phase
			if got := w.OffHours(at(now)); got != quiet {
				t.Errorf("%s: quiet %v", now, got)
			}
			if got := w.Change(at(now)); got != at(change) {
				t.Errorf("%s: changes at %s, want %s", now, got, change)
			}
			if got := w.Since(at(now)); got != at(since) {
				t.Errorf("%s: since %s, want %s", now, got, since)
			}
		}
	}
	f("2026-11-16 06:59", true, "2026-11-16 07:00", "2026-11-13 17:00") // Monday
	f("2026-11-16 07:00", false, "2026-11-16 17:00", "2026-11-16 07:00")
	f("2026-11-16 12:00", false, "2026-11-16 17:00", "2026-11-16 07:00")
	f("2026-11-16 16:59", false, "2026-11-16 17:00", "2026-11-16 07:00")
	f("2026-11-16 17:00", true, "2026-11-17 07:00", "2026-11-16 17:00")
	f("2026-11-13 17:30", true, "2026-11-16 07:00", "2026-11-13 17:00") // back in time, and a weekend ahead
	f("2026-03-27 18:00", true, "2026-03-30 06:00", "2026-03-27 17:00") // the clocks change in between
	if always := (*Watch)(nil); always.OffHours(at("2026-11-16 06:59")) || always.Change(1) != 0 {
		t.Error("without a period there is no end of monitoring")
	}
	once, err := calendar.ParsePeriod([]byte(`{"times":[{"from":"2026-01-01T00:00","to":"2026-01-02T00:00"}]}`), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if w := NewWatch(once); !w.OffHours(at("2026-11-16 06:59")) || w.Change(at("2026-11-16 06:59")) != 0 || w.Since(at("2026-11-16 06:59")) != at("2026-11-16 06:59") {
		t.Error("a period that is over")
	}
}

package store

import (
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Only what touches the time of a loss is refused.
func TestLosses(t *testing.T) {
	minute := func(n int) time.Time { return time.Date(2026, 11, 16, 8, n, 0, 0, time.UTC) }
	m := NewMover(new(ram), MoverOptions{})
	m.SetLosses([]Loss{{From: minute(10), To: minute(20)}})
	f := func(from, to belfry.Time, period string, want bool) {
		t.Helper()
		p := &query.Plan{Collection: &catalog.Collection{Name: belfry.ObjectData}, From: from, To: to, Period: period}
		if err := m.checkLosses(p); (err != nil) != want || err != nil && belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("%d to %d %s: %v", from, to, period, err)
		}
		p.Partial = new(query.Partial)
		if err := m.checkLosses(p); err != nil || (len(p.Partial.Days()) == 1) != want {
			t.Errorf("%d to %d %s: %v, missing %v", from, to, period, err, p.Partial.Days())
		}
	}
	at := func(n int) belfry.Time { return belfry.At(minute(n)) }
	f(0, query.Forever, "", true)
	f(at(0), at(9), "", false)
	f(at(21), query.Forever, "", false)
	f(at(20), query.Forever, "", true)
	f(at(15), at(16), "", true)
	f(0, at(10), "", true)
	f(at(21), query.Forever, query.PeriodHour, true)
	f(at(60), query.Forever, query.PeriodHour, false)
	f(0, at(0), query.PeriodHour, true)
}

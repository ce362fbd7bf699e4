package app

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/query"
)

func minute(n int) time.Time { return time.Date(2026, 11, 16, 8, n, 0, 0, time.UTC) }

// Lost records arrived between the records around them.
func TestLossSpans(t *testing.T) {
	const seg = 7 << 32
	f := newLossFinder([]gap{{from: seg | 8, to: seg | 9, why: "end"}, {from: seg | 3, to: seg | 4, why: "middle"}}, minute(0), recordTimes{})
	f.record(seg|1, minute(1))
	f.record(seg|2, minute(2))
	f.record(seg|5, minute(5))
	f.insert([]gap{{from: seg | 6, to: seg | 6, why: "unusable"}})
	f.insert([]gap{{from: seg | 7, to: seg | 7, why: "unusable"}})
	f.record(seg|10, minute(10))
	f.insert([]gap{{from: seg | 11, to: seg | 11, why: "last"}})
	want := []loss{
		{Position: "7·3", From: minute(2), To: minute(5), Why: "middle"},
		{Position: "7·6", From: minute(5), To: minute(10), Why: "unusable"},
		{Position: "7·8", From: minute(5), To: minute(10), Why: "end"},
		{Position: "7·11", From: minute(10), To: minute(30), Why: "last"},
	}
	if d := cmp.Diff(want, f.rest(minute(30))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	f = newLossFinder([]gap{{from: seg | 1, to: seg | 4, why: "all"}}, minute(0), recordTimes{})
	if d := cmp.Diff([]loss{{Position: "7·1", From: minute(0), To: minute(30), Why: "all"}}, f.rest(minute(30))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	f = newLossFinder(nil, minute(0), recordTimes{})
	for i := range 2 * maxLosses {
		f.insert([]gap{{from: seg | belfry.Position(2*i+1), to: seg | belfry.Position(2*i+1), why: "odd"}})
		f.record(seg|belfry.Position(2*i+2), minute(i))
	}
	if all := f.rest(minute(999)); len(all) != 1 || all[0].From != minute(0) || all[0].To != minute(2*maxLosses-1) {
		t.Errorf("%+v", all)
	}
}

// A loss is told until it is confirmed, and never twice.
func TestLossesAreKept(t *testing.T) {
	in := newInstanceFolder(t)
	c := &core{Options: in.options}
	c.use(in.options.Config)
	path := filepath.Join(in.dir, lossFile)
	found := []loss{{Position: "7·3", From: minute(2), To: minute(5), Why: "middle"}}
	news := 0
	count := func() error { news++; return nil }
	for range 2 {
		in.must(c.keepLosses(found, count))
		if len(openLosses(c.losses)) != 1 {
			t.Errorf("%+v", c.losses)
		}
	}
	in.must(confirmLosses(path))
	in.must(c.keepLosses(found, count))
	if len(c.losses) != 1 || len(openLosses(c.losses)) != 0 {
		t.Errorf("%+v", c.losses)
	}
	in.must(c.keepLosses([]loss{{Position: "9·1", From: minute(7), To: minute(8), Why: "another"}}, count))
	if open := openLosses(c.losses); len(open) != 1 || open[0].Why != "another" {
		t.Errorf("%+v", c.losses)
	}
	if news != 2 {
		t.Errorf("%d new losses", news)
	}
	in.write(lossFile, "{")
	if err := c.keepLosses(nil, count); err == nil {
		t.Error("a damaged list was taken for an empty one")
	}
}

// Only what touches the time of a loss is refused.
func TestLossyQueries(t *testing.T) {
	l := lossy{lost: []loss{{From: minute(10), To: minute(20)}}}
	f := func(from, to belfry.Time, period string, want bool) {
		t.Helper()
		p := &query.Plan{Collection: testCatalog(t).Collection("objectdata"), From: from, To: to, Period: period}
		if err := l.check(p); (err != nil) != want || err != nil && belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("%d to %d %s: %v", from, to, period, err)
		}
		p.Partial = new(query.Partial)
		if err := l.check(p); err != nil || (len(p.Partial.Days()) == 1) != want {
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

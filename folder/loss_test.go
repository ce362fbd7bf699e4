package folder

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/config"
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
	want := []Loss{
		{Position: "7·3", From: minute(2), To: minute(5), Why: "middle"},
		{Position: "7·6", From: minute(5), To: minute(10), Why: "unusable"},
		{Position: "7·8", From: minute(5), To: minute(10), Why: "end"},
		{Position: "7·11", From: minute(10), To: minute(30), Why: "last"},
	}
	if d := cmp.Diff(want, f.rest(minute(30))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	f = newLossFinder([]gap{{from: seg | 1, to: seg | 4, why: "all"}}, minute(0), recordTimes{})
	if d := cmp.Diff([]Loss{{Position: "7·1", From: minute(0), To: minute(30), Why: "all"}}, f.rest(minute(30))); d != "" {
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

// A loss is open until it is confirmed, and is never noted twice.
func TestLossesAreKept(t *testing.T) {
	dir := t.TempDir()
	f := &Folder{o: Options{Config: &config.Config{Data: dir}, Log: slog.New(slog.DiscardHandler)}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	found := []Loss{{Position: "7·3", From: minute(2), To: minute(5), Why: "middle"}}
	news := 0
	count := func() error { news++; return nil }
	for range 2 {
		must(f.saveLosses(found, count))
		if len(openLosses(f.losses)) != 1 {
			t.Errorf("%+v", f.losses)
		}
	}
	must(f.ConfirmLosses())
	must(f.saveLosses(found, count))
	if len(f.losses) != 1 || len(openLosses(f.losses)) != 0 {
		t.Errorf("%+v", f.losses)
	}
	must(f.saveLosses([]Loss{{Position: "9·1", From: minute(7), To: minute(8), Why: "another"}}, count))
	if open := openLosses(f.losses); len(open) != 1 || open[0].Why != "another" {
		t.Errorf("%+v", f.losses)
	}
	if news != 2 {
		t.Errorf("%d new losses", news)
	}
	must(os.WriteFile(filepath.Join(dir, lossFile), []byte("{"), 0o600))
	if err := f.saveLosses(nil, count); err == nil {
		t.Error("a damaged list was taken for an empty one")
	}
}

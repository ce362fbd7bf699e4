package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/folder"
)

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaults(slog.New(slog.DiscardHandler), time.Now)
		var events []string
		var broken atomic.Bool // the journal
		broken.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- f.run(ctx, func(info string, at belfry.Time) error {
				if broken.Load() {
					return errors.New("cannot write")
				}
				events = append(events, at.Std().Format("15:04:05 ")+info)
				return nil
			})
		}()

		f.begin("row_store", true, "rows cannot be written")
		time.Sleep(time.Second)
		f.begin("day_file objectdata 2026-11-13", false, "damaged")
		f.begin("row_store", true, "rows cannot be written: no space") // looked at again
		if got := f.list(); len(got) != 2 || got[0].ID != "row_store" || !got[0].Blocks || got[0].Message != "rows cannot be written: no space" || got[1].Blocks {
			t.Errorf("faults %+v", got)
		}
		if err := f.ready(); err == nil || !strings.Contains(err.Error(), "no space (since 2000-01-01T00:00:00") {
			t.Errorf("ready says %v", err)
		}
		time.Sleep(9 * time.Second)
		f.end("row_store")
		f.end("row_store")
		if err := f.ready(); err != nil {
			t.Errorf("ready says %v although no fault blocks", err)
		}
		synctest.Wait()
		if len(events) > 0 {
			t.Errorf("events %q while nothing could be written", events)
		}
		broken.Store(false)
		time.Sleep(2 * eventRetry)
		synctest.Wait()
		want := []string{"00:00:00 rows cannot be written", "00:00:01 damaged", "00:00:10 over after 10s: rows cannot be written: no space"}
		if d := cmp.Diff(want, events); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Faults that were open when the process ended go on if they are found again, and end if they are not; events that could
// not be written are written by the next process.
func TestFaultsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), folder.FaultsFile)
	now := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	// process runs f in a process of its own and returns its events.
	process := func(broken bool, do func(f *faults)) (events []string) {
		synctest.Test(t, func(t *testing.T) {
			f := newFaults(slog.New(slog.DiscardHandler), func() time.Time { return now })
			f.load(path)
			ctx, kill := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				done <- f.run(ctx, func(info string, at belfry.Time) error {
					if broken {
						return errors.New("cannot write")
					}
					events = append(events, at.Std().Format("15:04 ")+info)
					return nil
				})
			}()
			do(f)
			synctest.Wait()
			kill()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		return events
	}
	want := func(got []string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
	want(process(true, func(f *faults) {
		f.begin("journal", true, "no disk")
		f.begin("disk", true, "full")
	}))
	now = now.Add(time.Hour)
	want(process(false, func(f *faults) {
		f.begin("disk", true, "still full")
		if list := f.list(); len(list) != 1 || list[0].Since != "2026-11-16T08:00:00.000000Z" {
			t.Errorf("%+v", list)
		}
		f.endStale()
		f.endStale()
	}), "08:00 no disk", "08:00 full", "09:00 over after 1h0m0s: no disk")
	now = now.Add(time.Hour)
	want(process(false, func(f *faults) { f.endStale() }), "10:00 over after 2h0m0s: still full")
	want(process(false, func(f *faults) { f.endStale() }))
	want(process(false, func(f *faults) { f.begin("clock", false, "ahead") }), "10:00 ahead")
	now = now.Add(-3 * time.Hour)
	want(process(false, func(f *faults) { f.endStale() }), "07:00 over: ahead")
}

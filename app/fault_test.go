package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaults(slog.New(slog.DiscardHandler), time.Now)
		var events []string
		broken := true // the journal, at first
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- f.run(ctx, func(info string) error {
				if broken {
					return errors.New("cannot write")
				}
				events = append(events, info)
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
		if len(events) > 0 {
			t.Errorf("events %q while nothing could be written", events)
		}
		broken = false
		time.Sleep(2 * eventRetry)
		want := []string{"rows cannot be written", "damaged", "over after 10s: rows cannot be written: no space"}
		if d := cmp.Diff(want, events); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

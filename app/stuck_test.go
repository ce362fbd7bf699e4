package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoundThatDoesNotEnd: while a round of the sequencer does not end the service is not ready and says why.
func TestRoundThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		f := newFaults(slog.New(slog.DiscardHandler), time.Now)
		var began atomic.Pointer[time.Time]
		now := time.Now()
		began.Store(&now)
		busy := func() time.Duration {
			if at := began.Load(); at != nil {
				return time.Since(*at)
			}
			return 0
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- watchRounds(ctx, busy, f, log) }()
		check := func(after time.Duration, ready bool) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if err := f.ready(); (err == nil) != ready {
				t.Errorf("after %s: %v", after, err)
			}
		}
		check(mostRound-time.Second, true)
		check(3*time.Second, false)
		check(time.Hour, false)
		began.Store(nil)
		check(2*time.Second, true)
		stop()
		if err := <-ended; err != nil || strings.Count(text.String(), "watchRounds") != 1 {
			t.Errorf("%v, %s", err, &text)
		}
	})
}

package app

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"belfry/config"
	"belfry/folder"
)

// setClock is a clock that a test sets while a service goes by it.
type setClock struct {
	start  time.Time
	off    atomic.Int64 // of the wall clock
	passed atomic.Int64
}

func (c *setClock) read() (time.Time, time.Duration) {
	passed := time.Duration(c.passed.Load())
	return c.start.Add(passed + time.Duration(c.off.Load())), passed
}

// TestLogInAfterClockStep: who has the right password gets a session whatever the clock did, and keeps it when the clock is
// set right again.
func TestLogInAfterClockStep(t *testing.T) {
	clock := &setClock{start: time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)}
	s := startByClock(t, nil, clock.read)
	asks := func(what, session string, want int) {
		t.Helper()
		if _, res, text := s.do("GET", "/api/health", "", session); res.StatusCode != want {
			t.Errorf("%s, clock off by %s: %d %s, want %d", what, time.Duration(clock.off.Load()), res.StatusCode, text, want)
		}
	}
	before := s.logIn("", "admin", adminPassword)
	var during []string
	for _, by := range []time.Duration{-11 * time.Hour, -13 * time.Hour, -23 * time.Hour, -3 * oneDay, 13 * time.Hour, 3 * oneDay} {
		clock.off.Store(int64(by))
		session := s.logIn("", "admin", adminPassword)
		asks("a new session", session, 200)
		during = append(during, session)
		if by < 0 {
			asks("the session from before", before, 200)
		}
	}
	clock.off.Store(0)
	asks("the session from before", before, 200)
	for _, session := range during {
		asks("a session that began meanwhile", session, 200)
	}
	clock.passed.Store(int64(oneDay + 13*time.Hour + time.Second)) // of the step forward of 13 hours
	for _, session := range append(during, before) {
		asks("more than a day later", session, 401)
	}
}

// TestLogInAfterWrongRun: a process that ran 23 hours behind has noted that time; the next one starts with a clock that is right.
func TestLogInAfterWrongRun(t *testing.T) {
	clock := &setClock{start: time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)}
	s := startByClock(t, func(c *config.Config) {
		if err := folder.WriteClock(filepath.Join(c.Data, folder.ClockFile), clock.start.Add(-23*time.Hour), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}, clock.read)
	session := s.logIn("", "admin", adminPassword)
	if _, res, text := s.do("GET", "/api/health", "", session); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, text)
	}
}

package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/folder"
)

// guarded is a clock guard whose clock the test sets.
type guarded struct {
	*clockGuard
	dir    string
	wall   time.Time
	passed time.Duration
}

func newGuarded(t *testing.T) *guarded {
	g := &guarded{dir: t.TempDir(), wall: time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)}
	g.start(time.Time{})
	return g
}

// start begins another process.
func (g *guarded) start(newest time.Time) {
	log := slog.New(slog.DiscardHandler)
	read := func() (time.Time, time.Duration) { return g.wall, g.passed }
	g.clockGuard = openClock(g.dir, newest, read, newFaults(log, func() time.Time { return g.wall }), log)
}

func (g *guarded) pass(d time.Duration) {
	g.wall, g.passed = g.wall.Add(d), g.passed+d
	g.check()
}

func (g *guarded) set(by time.Duration) {
	g.wall = g.wall.Add(by)
	g.check()
}

func (g *guarded) want(t *testing.T, doubt bool, trusted string) {
	t.Helper()
	at, may := g.mayDelete()
	if got := at.Format(time.RFC3339); got != trusted || may == doubt || g.isSuspect() != doubt {
		t.Errorf("the time for deleting is %s, allowed %t, want %s, %t", got, may, trusted, !doubt)
	}
	if open := len(g.faults.list()) == 1; open != doubt {
		t.Errorf("faults: %v", g.faults.list())
	}
}

const oneDay = 24 * time.Hour

// TestClockJump lets deletion wait after a jump of more than a day, until the clock is right again.
func TestClockJump(t *testing.T) {
	for _, by := range []time.Duration{500 * oneDay, -500 * oneDay, 25 * time.Hour, -25 * time.Hour} {
		g := newGuarded(t)
		g.pass(time.Hour)
		g.want(t, false, "2026-11-16T09:00:00Z")
		g.set(by)
		g.want(t, true, "2026-11-16T09:00:00Z")
		g.pass(time.Hour)
		g.want(t, true, "2026-11-16T10:00:00Z")
		g.set(-by)
		g.want(t, false, "2026-11-16T10:00:00Z")
	}
}

// TestClockConfirmed lets deletion go on at an administrator's word, also in the next process.
func TestClockConfirmed(t *testing.T) {
	g := newGuarded(t)
	g.set(500 * oneDay)
	g.want(t, true, "2026-11-16T08:00:00Z")
	if text := g.faults.list()[0].Message; !strings.Contains(text, "belfry clock confirm --data "+g.dir) || g.faults.list()[0].Blocks {
		t.Errorf("the fault says: %+v", g.faults.list())
	}
	if err := g.confirm(); err != nil {
		t.Fatal(err)
	}
	g.want(t, false, "2028-03-30T08:00:00Z")
	g.start(time.Time{})
	g.want(t, false, "2028-03-30T08:00:00Z")
}

// TestAnswersAfterConfirmation: how old answers from before a confirmation are is not known, so they are kept for another day,
// also in the next process.
func TestAnswersAfterConfirmation(t *testing.T) {
	g := newGuarded(t)
	f := func(want string) {
		t.Helper()
		if got := g.answersFrom(); got.IsZero() != (want == "") || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("answers are kept from %s on, want %q", got, want)
		}
	}
	f("2026-11-15T08:00:00Z")
	g.set(-30 * oneDay)
	f("2026-11-15T08:00:00Z")
	if err := g.confirm(); err != nil {
		t.Fatal(err)
	}
	f("")
	g.pass(time.Hour)
	if err := g.save(); err != nil {
		t.Fatal(err)
	}
	g.start(time.Time{})
	f("")
	g.pass(22 * time.Hour)
	f("")
	g.pass(2 * time.Hour)
	f("2026-10-17T09:00:00Z")
}

// TestClockAtStart compares the clock with what the process before noted.
func TestClockAtStart(t *testing.T) {
	for _, by := range []time.Duration{500 * oneDay, -11 * 365 * oneDay} {
		g := newGuarded(t)
		g.pass(time.Hour)
		g.note()
		g.wall = g.wall.Add(by)
		g.start(time.Time{})
		g.want(t, true, "2026-11-16T09:00:00Z")
		g.note()
		g.pass(time.Minute)
		g.note() // what is not believed is not noted
		g.start(time.Time{})
		g.want(t, true, "2026-11-16T09:01:00Z")
		g.set(-by)
		g.want(t, false, "2026-11-16T09:01:00Z")
	}
	// A pause of some hours is nothing to wonder about.
	g := newGuarded(t)
	g.note()
	g.wall = g.wall.Add(20 * time.Hour)
	g.start(time.Time{})
	g.want(t, false, "2026-11-16T08:00:00Z")
	g.pass(oneDay)
	g.want(t, false, "2026-11-18T04:00:00Z")
}

// TestClockUnknown goes by the newest record when there is no note, as after an update, or when the note is damaged.
func TestClockUnknown(t *testing.T) {
	g := newGuarded(t)
	g.start(g.wall.Add(-2 * oneDay))
	g.want(t, true, "2026-11-14T08:00:00Z")
	g.start(g.wall.Add(-time.Hour))
	g.want(t, false, "2026-11-16T07:00:00Z")
	if err := os.WriteFile(filepath.Join(g.dir, folder.ClockFile), []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start(g.wall.Add(-2 * oneDay))
	g.want(t, true, "2026-11-14T08:00:00Z")
}

// TestClockInSteps believes the clock no faster than time passes: many small steps are no way around the guard.
func TestClockInSteps(t *testing.T) {
	g := newGuarded(t)
	g.set(20 * time.Hour)
	g.want(t, false, "2026-11-16T08:00:00Z")
	g.pass(time.Hour)
	g.want(t, false, "2026-11-16T10:00:00Z")
	g.set(20 * time.Hour)
	g.want(t, true, "2026-11-16T10:00:00Z")
	g = newGuarded(t)
	for range 30 { // a machine that sleeps for 12 hours every night
		g.set(12 * time.Hour)
		g.want(t, false, g.trusted().Format(time.RFC3339))
		for range 12 {
			g.pass(time.Hour)
		}
	}
	g.want(t, false, g.wall.Format(time.RFC3339))
}

// TestClockFarAway: how far the clock is off is said in years when it is centuries, which a duration cannot hold.
func TestClockFarAway(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 11, 16, 8, 0, 0, 0, time.UTC) }
	f := func(wall, expected time.Time, want string) {
		t.Helper()
		if text := clockText(wall, expected, "/data"); !strings.Contains(text, ", which is "+want+": at the last look") {
			t.Errorf("%s, want %q", text, want)
		}
	}
	f(at(9999), at(2026), "about 7973 years ahead")
	f(at(2026), at(9999), "about 7973 years behind")
	f(at(1970), at(2026), "about 56 years behind")
	f(at(2026).Add(49*time.Hour), at(2026), "49h0m0s ahead")
}

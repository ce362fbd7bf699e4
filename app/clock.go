package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/engine"
	"belfry/folder"
)

// clockGuard decides which time retention and expiry use. A machine may boot with its clock years off. Rows are still accepted
// then, but retention by such a clock would delete everything.
// The expected time is the last known time plus the time elapsed since. While the process runs, the kernel's monotonic clock
// measures that; between two runs, the clock file has the last known time. If the clock is off by more than a day it is suspect:
// a fault opens, nothing is deleted, and expiry uses the expected time. This ends when the clock is within a day of the expected
// time again, or when an administrator confirms it.
// Smaller differences are accepted, but no faster than time passes: however often the clock is set, retention advances at most
// twice as fast as time.
type clockGuard struct {
	path   string
	faults *faults
	log    *slog.Logger
	read   func() (wall time.Time, passed time.Duration) // passed has an arbitrary origin and never jumps

	mu        sync.Mutex
	expected  time.Time     // the expected time when passed was at
	at        time.Duration // passed at the last check
	suspect   bool
	confirmed time.Time // wall time of the last confirmation by an administrator; zero: never
}

const (
	clockEvery = time.Second
	clockSaved = time.Minute
)

// systemClock reads the system clock and the monotonic clock.
func systemClock() (time.Time, time.Duration) { return time.Now().Round(0), monotonic() }

// monotonic reads the kernel's monotonic clock. The time package reads it too, but drops the reading for times before 1885 and
// after 2157; the difference of two such times includes any step of the clock.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // every kernel has this clock
	}
	return time.Duration(now.Nano())
}

// openClock starts from the clock file, else from the newest known record or row, else from the clock itself.
func openClock(dir string, newest time.Time, read func() (time.Time, time.Duration), f *faults, log *slog.Logger) *clockGuard {
	g := &clockGuard{path: filepath.Join(dir, folder.ClockFile), faults: f, log: log, read: read}
	wall, passed := read()
	known, confirmed, err := folder.ReadClock(g.path)
	g.confirmed = confirmed
	switch {
	case err == nil:
	case !newest.IsZero():
		known = newest
	default:
		known = wall
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("the time of the last run is not known", "err", err)
	}
	g.expected, g.at = known, passed
	g.check()
	return g
}

// check compares the clock with the expected time.
func (g *clockGuard) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, passed := g.read()
	since := passed - g.at
	expected := g.expected.Add(since)
	off := wall.Sub(expected)
	g.at = passed
	if g.suspect = doubtful(off); g.suspect {
		g.expected = expected
		g.faults.begin(folder.FaultClock, false, clockText(wall, expected, filepath.Dir(g.path)))
		return
	}
	g.expected = expected.Add(min(max(off, -since), since))
	g.faults.end(folder.FaultClock)
}

func clockText(wall, expected time.Time, dir string) string {
	far := "ahead"
	if wall.Before(expected) {
		far = "behind"
	}
	return fmt.Sprintf("the clock says %s, which is %s %s: at the last look it was %s. Rows are taken with the time of the clock, and nothing is deleted. "+
		"Set the clock, or if it is right, confirm it with belfry clock confirm --data %s or POST /api/health/clock",
		wall.UTC().Format(time.RFC3339), folder.Distance(wall, expected), far, expected.UTC().Format(time.RFC3339), dir)
}

func (g *clockGuard) isSuspect() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.suspect
}

// trusted is the time by which data expire: the expected time while the clock is suspect, else the earlier of the two, so that
// nothing is deleted too early.
func (g *clockGuard) trusted() time.Time {
	wall, expected, suspect := g.times()
	if suspect || expected.Before(wall) {
		return expected
	}
	return wall
}

// expiry is the time by which keys and sessions expire: the expected time while the clock is suspect, else the later of the two,
// so that none is accepted for too long.
func (g *clockGuard) expiry() time.Time {
	wall, expected, suspect := g.times()
	if suspect || expected.After(wall) {
		return expected
	}
	return wall
}

// answersFrom is the time before which idempotency answers have expired. The age of answers from before a confirmation is
// unknown, so for as long as an answer is kept after that, none expires.
func (g *clockGuard) answersFrom() time.Time {
	from := g.trusted().Add(-engine.AnswersKept)
	g.mu.Lock()
	defer g.mu.Unlock()
	if from.Before(g.confirmed) {
		return time.Time{}
	}
	return from
}

func (g *clockGuard) times() (wall, expected time.Time, suspect bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, passed := g.read()
	expected = g.expected.Add(passed - g.at)
	return wall, expected, doubtful(wall.Sub(expected)) // the clock may have been set since the last check
}

func doubtful(off time.Duration) bool { return off > folder.MaxClockStep || off < -folder.MaxClockStep }

// mayDelete returns the time by which data may be deleted; false while the clock is suspect.
func (g *clockGuard) mayDelete() (time.Time, bool) {
	g.check() // the clock may have been set since the last check
	return g.trusted(), !g.isSuspect()
}

// confirm accepts the clock as right.
func (g *clockGuard) confirm() error {
	g.mu.Lock()
	g.expected, g.at = g.read()
	g.confirmed = g.expected
	g.mu.Unlock()
	g.check()
	return g.save()
}

// save writes the current time for the next start.
func (g *clockGuard) save() error {
	known, confirmed := g.known()
	if err := folder.WriteClock(g.path, known, confirmed); err != nil {
		return fmt.Errorf("save the clock: %w", err)
	}
	return nil
}

// known is the time that a start from now on should know, and that of the last confirmation: the clock, or the expected time while the
// clock is suspect.
func (g *clockGuard) known() (at, confirmed time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, passed := g.read()
	if g.suspect {
		wall = g.expected.Add(passed - g.at)
	}
	return wall, g.confirmed
}

// run checks the clock every second and saves it every minute, until ctx ends.
func (g *clockGuard) run(ctx context.Context) error {
	look, save := time.NewTicker(clockEvery), time.NewTicker(clockSaved)
	defer look.Stop()
	defer save.Stop()
	g.note()
	defer g.note()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			g.check()
		case <-save.C:
			g.note()
		}
	}
}

func (g *clockGuard) note() {
	if err := g.save(); err != nil {
		g.log.Warn("clock not saved; the next start does not know the time of this run", "err", err)
	}
}

// clockStepped reports that the clock was set.
func (s *service) clockStepped(by time.Duration, now time.Time) {
	way := "forward"
	if by < 0 {
		way = "back"
	}
	amount := by.Abs().Round(time.Millisecond).String()
	if by.Abs() > 200*365*24*time.Hour {
		amount = "more than 200 years" // a time.Duration has room for 292
	}
	s.faults.report(fmt.Sprintf("the clock was set %s by %s, to %s", way, amount, now.UTC().Format(time.RFC3339)))
	s.guard.check()
}

// confirmClock accepts the clock as right and starts the retention that was held back.
func (s *service) confirmClock(by string) error {
	suspected := s.guard.isSuspect()
	if err := s.guard.confirm(); err != nil {
		return err
	}
	if suspected {
		s.faults.report("the clock was confirmed by " + by)
		select {
		case s.reloads <- struct{}{}:
		default:
		}
	}
	return nil
}

// keep makes every collection accept rows at a time that retention has dropped already, see store.Store.
func (s *service) keep(at belfry.Time) error {
	var errs []error
	now := max(at, belfry.At(s.guard.trusted()))
	for _, c := range s.Catalog.Kept() {
		added, err := s.rows.Keep(c, at, now)
		if added {
			s.Log.Warn("the clock is behind the rows that were dropped; new rows are kept anyway", "collection", c.Name, "clock", at)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// newest is the newest time in the journal or, if that is empty, in the rows; zero without either.
func (s *service) newest() time.Time {
	if s.Last != 0 {
		return s.Last.Std()
	}
	end, now := s.rows.Newest(), belfry.At(time.Now())
	switch {
	case end == 0:
		return time.Time{}
	case end > now && end-now <= belfry.Time(folder.MaxClockStep.Microseconds()): // today's file ends later than now
		return now.Std()
	}
	return end.Std()
}

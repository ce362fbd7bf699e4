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

// clockGuard decides by which time data may be deleted. A machine may boot years in the past or in the future; rows are
// taken all the same, but retention by such a clock would remove everything there is.
//
// It expects the clock to show what it showed before plus the time that has passed. While the process runs the passed time
// is measured; what was known when it ended is in a file. When the clock is off by more than a day, it is in doubt: there
// is a fault, nothing is deleted, and expiry goes by the expected time. That ends when the clock comes back to within a
// day of the expected time, or when an administrator confirms the clock.
//
// A difference of less than a day is believed, but no faster than time passes: retention never takes more than twice the
// time that has passed, however often the clock is set.
type clockGuard struct {
	path   string
	faults *faults
	log    *slog.Logger
	read   func() (wall time.Time, passed time.Duration) // passed counts from any moment on and never jumps

	mu        sync.Mutex
	expected  time.Time     // what the clock should have shown
	at        time.Duration // when so much time had passed
	suspect   bool
	confirmed time.Time // when an administrator last confirmed the clock, as it then was; zero: never
}

const (
	clockEvery = time.Second
	clockSaved = time.Minute
)

// systemClock reads the clock of the machine, and a clock that nobody sets.
func systemClock() (time.Time, time.Duration) { return time.Now().Round(0), monotonic() }

// monotonic reads a clock that nobody sets. The time package reads it, too, but leaves it out of times before 1885 and after 2157,
// and then the difference of two times is that of the clock that was set.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // the kernel has no such clock; a process cannot even begin without it
	}
	return time.Duration(now.Nano())
}

// openClock begins with what the clock file says, else with the newest thing that is known, else with the clock itself.
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

// check compares the clock with the time that is expected.
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
		"Set the clock right; if it is right, confirm it with belfry clock confirm --data %s or POST /api/health/clock",
		wall.UTC().Format(time.RFC3339), folder.Distance(wall, expected), far, expected.UTC().Format(time.RFC3339), dir)
}

func (g *clockGuard) isSuspect() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.suspect
}

// trusted is the time by which data expire: the expected one while the clock is in doubt, else the earlier of the two, so
// that nothing is deleted too early.
func (g *clockGuard) trusted() time.Time {
	wall, expected, suspect := g.times()
	if suspect || expected.Before(wall) {
		return expected
	}
	return wall
}

// expiry is the time by which keys and sessions expire: the expected one while the clock is in doubt, else the later of the
// two, so that none is accepted for too long.
func (g *clockGuard) expiry() time.Time {
	wall, expected, suspect := g.times()
	if suspect || expected.After(wall) {
		return expected
	}
	return wall
}

// answersFrom is the time before which answers under an Idempotency-Key are old. How old those from before a confirmation are is not
// known, so all are kept until those have had their time as well.
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
	return wall, expected, doubtful(wall.Sub(expected)) // also when the clock was set after the last look
}

func doubtful(off time.Duration) bool { return off > folder.MaxClockStep || off < -folder.MaxClockStep }

// mayDelete tells the time by which data may be deleted; false while nothing may be.
func (g *clockGuard) mayDelete() (time.Time, bool) {
	g.check() // the clock may have been set since the last look
	return g.trusted(), !g.isSuspect()
}

// confirm takes the clock as it is.
func (g *clockGuard) confirm() error {
	g.mu.Lock()
	g.expected, g.at = g.read()
	g.confirmed = g.expected
	g.mu.Unlock()
	g.check()
	return g.save()
}

// save notes for the next start what the clock should show now: what it shows, unless it is in doubt.
func (g *clockGuard) save() error {
	g.mu.Lock()
	wall, passed := g.read()
	if g.suspect {
		wall = g.expected.Add(passed - g.at)
	}
	confirmed := g.confirmed
	g.mu.Unlock()
	if err := folder.WriteClock(g.path, wall, confirmed); err != nil {
		return fmt.Errorf("note the time: %w", err)
	}
	return nil
}

// run looks at the clock every second and notes the time every minute, until ctx ends.
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
		g.log.Warn("the next start will not know the time of this run", "err", err)
	}
}

// clockStepped tells that the clock was set.
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

// confirmClock takes the clock as it is, and lets retention do what has waited.
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

// keep has every collection store rows of a moment, see store.Store.
func (s *service) keep(at belfry.Time) error {
	var errs []error
	now := max(at, belfry.At(s.guard.trusted()))
	for _, c := range s.Catalog.Kept() {
		added, err := s.rows.Keep(c, at, now)
		if added {
			s.Log.Warn("the clock is behind what was dropped, rows are kept all the same", "collection", c.Name, "clock", at)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// newest is the newest time that the journal or the rows know of; zero when there are none.
func (s *service) newest() time.Time {
	if s.Last != 0 {
		return s.Last.Std()
	}
	end, now := s.rows.Newest(), belfry.At(time.Now())
	switch {
	case end == 0:
		return time.Time{}
	case end > now && end-now <= belfry.Time(folder.MaxClockStep.Microseconds()): // the file of today
		return now.Std()
	}
	return end.Std()
}

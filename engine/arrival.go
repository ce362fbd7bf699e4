package engine

import (
	"math"
	"sync/atomic"
	"time"

	"belfry"
)

const (
	// longestHold is the largest step back of the clock during which arrival times do not advance until it has caught up.
	longestHold = 10 * time.Second

	// leastStep is the smallest difference that counts as setting the clock; a leap second does not.
	leastStep = 1500 * time.Millisecond

	// clockEvery is how often an idle sequencer reads the clock: after a step forward it must not sleep until the time at
	// which something was due before the step.
	clockEvery = time.Second
)

// arrivalClock returns arrival times. It does not go back if the clock is set back by up to longestHold; if by more, it
// follows the clock.
type arrivalClock struct {
	highest atomic.Int64 // a belfry.Time
}

// at returns the arrival time for a reading of the clock. Rows cannot be earlier than 1970.
func (a *arrivalClock) at(now time.Time) belfry.Time {
	read := max(belfry.At(now), 1)
	for {
		high := belfry.Time(a.highest.Load())
		if read <= high && high-read <= belfry.Time(longestHold.Microseconds()) {
			return high
		}
		if a.highest.CompareAndSwap(int64(high), int64(read)) {
			return read
		}
	}
}

// Now returns the arrival time of rows sent now. It may be called from any goroutine: a query up to the present must include
// the rows acknowledged before it.
func (s *Sequencer) Now() belfry.Time { return s.arrivals.at(s.cfg.Now()) }

// hold raises times that a collector read from the clock while arrival times do not advance.
func (s *Sequencer) hold(times []belfry.Time, now belfry.Time) {
	if now <= belfry.At(s.cfg.Now()) {
		return
	}
	for i, at := range times {
		if at < now && now-at <= belfry.Time(longestHold.Microseconds()) {
			times[i] = now
		}
	}
}

// Arrive adjusts times that a collector read from the clock to the transaction, and makes sure that rows of these times are stored.
func (t *Tx) Arrive(times []belfry.Time) error {
	t.seq.hold(times, t.Now)
	for i, at := range times {
		if at > t.Now { // the clock was set back meanwhile; no row is later than its record
			times[i] = t.Now
		}
		if err := t.seq.keep(times[i]); err != nil {
			return err
		}
	}
	return nil
}

// watchClock detects that the clock was set: then the time of day and the monotonic time differ. A clock without monotonic
// time, as in tests, was set if it goes back.
func (s *Sequencer) watchClock() {
	last, now := s.read, s.cfg.Now()
	s.read = now
	before := s.passed
	if s.cfg.Passed != nil {
		s.passed = s.cfg.Passed()
	}
	if last.IsZero() {
		return
	}
	wall, passed := now.Round(0).Sub(last.Round(0)), max(now.Sub(last), 0)
	if s.cfg.Passed != nil {
		passed = s.passed - before
	}
	by := max(wall, math.MinInt64+passed) - passed
	if by >= leastStep || by <= -leastStep {
		s.stepped(by, now)
	}
	at := s.Now()
	if at < s.latest && by >= -longestHold { // by small steps, each too small for stepped
		s.startClock()
	}
	s.latest = at
}

// stepped reschedules after the clock was set. No object counts as silent before a full interval has passed again.
func (s *Sequencer) stepped(by time.Duration, now time.Time) {
	s.cfg.Log.Warn("the clock was set", "by", by, "now", now)
	if by > 0 || by < -longestHold {
		s.startClock()
	}
	if s.cfg.Stepped != nil {
		s.cfg.Stepped(by, now)
	}
}

// keep makes sure that rows of this time are stored. A clock that was set back may show a day whose rows have been dropped;
// the row store would skip rows that arrive now.
func (s *Sequencer) keep(at belfry.Time) error {
	const day = belfry.Time(24 * time.Hour / time.Microsecond)
	if at/day == s.keptDay || s.cfg.Keep == nil {
		return nil
	}
	if err := s.cfg.Keep(at); err != nil {
		s.cfg.Log.Error("rows of the time that the clock shows cannot be kept", "err", err)
		return belfry.Errorf(belfry.StorageUnavailable,
			NothingStored+"the server's clock says %s, and rows of that time are not kept any more; set the clock right and send again", at)
	}
	s.keptDay = at / day
	return nil
}

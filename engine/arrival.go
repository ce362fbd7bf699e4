package engine

import (
	"math"
	"sync/atomic"
	"time"

	"belfry"
)

const (
	// longestHold is up to which step back arrival times wait until the clock has caught up.
	longestHold = 10 * time.Second

	// leastStep is from which difference on the clock counts as set. A leap second is none.
	leastStep = 1500 * time.Millisecond

	// clockEvery is how often the sequencer looks at the clock while there is nothing to do: after a step forward it must
	// not sleep until the moment at which something was due before.
	clockEvery = time.Second
)

// arrivalClock gives rows the time of their arrival. It does not go back when the clock is set back a little, and follows
// the clock when it is set back by more.
type arrivalClock struct {
	highest atomic.Int64 // a belfry.Time
}

// at gives the time of arrival for a reading of the clock. 1970 is the earliest time that a row can have.
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

// Now is the time of what arrives now. Anyone may ask: a query that ends at the present must not end before the rows that
// were acknowledged.
func (s *Sequencer) Now() belfry.Time { return s.arrivals.at(s.cfg.Now()) }

// hold raises the times that a collector read off the clock while arrival times wait for it.
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

// Arrive fits times that a collector read off the clock to the transaction, and sees to it that rows of these times are kept.
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

// watchClock finds out whether the clock was set: then the time of day and the time that has passed differ. A clock that
// cannot tell how much time has passed, as in tests, was set when it goes back.
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

// stepped lets what will be due follow the clock. Nothing counts as silent before it had its time to be heard again.
func (s *Sequencer) stepped(by time.Duration, now time.Time) {
	s.cfg.Log.Warn("the clock was set", "by", by, "now", now)
	if by > 0 || by < -longestHold {
		s.startClock()
	}
	if s.cfg.Stepped != nil {
		s.cfg.Stepped(by, now)
	}
}

// keep sees to it that rows of a moment are kept. A clock that was set back may show a day whose rows have been dropped long
// ago; the row store would leave out what arrives now.
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

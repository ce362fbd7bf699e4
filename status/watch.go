package status

import (
	"sync/atomic"
	"time"

	"belfry"
	"belfry/status/calendar"
)

// Watch is the monitoring period of objects. Many objects share one and ask about nearly the same time, so it caches the
// last phase. It is safe for concurrent use.
type Watch struct {
	period calendar.Period
	last   atomic.Pointer[phase]
}

// phase is a time interval in which a period is open, or closed.
type phase struct {
	from, to belfry.Time // to is 0 if it never ends
	open     bool
	since    atomic.Int64 // when it really began; 0: not computed yet
}

// NewWatch makes a Watch of a period.
func NewWatch(p calendar.Period) *Watch { return &Watch{period: p} }

// OffHours reports whether objects are not monitored at the given time. Without a period they always are.
func (w *Watch) OffHours(at belfry.Time) bool { return w != nil && !w.phaseAt(at).open }

// Change returns the next time at which the result of OffHours may change; 0 if there is none.
func (w *Watch) Change(after belfry.Time) belfry.Time {
	if w == nil {
		return 0
	}
	return w.phaseAt(after).to
}

// Since returns when OffHours became what it is at the given time, or that time itself if it was more than eight days
// before.
func (w *Watch) Since(at belfry.Time) belfry.Time {
	now := w.phaseAt(at)
	if since := belfry.Time(now.since.Load()); since != 0 {
		return min(since, at)
	}
	const back = 8 * 24 * time.Hour // most periods repeat weekly
	since := at
	for s := w.compute(belfry.At(at.Std().Add(-back))); s.to != 0 && s.to <= at; s = w.compute(s.to) {
		if s.open != now.open {
			since = s.to
		}
	}
	now.since.Store(int64(since))
	return since
}

func (w *Watch) phaseAt(now belfry.Time) *phase {
	if s := w.last.Load(); s != nil && s.from <= now && (s.to == 0 || now < s.to) {
		return s
	}
	s := w.compute(now)
	w.last.Store(s)
	return s
}

// compute returns the phase of the period at the given time.
func (w *Watch) compute(now belfry.Time) *phase {
	s := &phase{from: now, open: w.period.Open(now.Std())}
	if to, ok := w.period.Change(now.Std()); ok {
		s.to = max(belfry.At(to), now+1)
	}
	return s
}

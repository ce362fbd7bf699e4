package status

import (
	"sync/atomic"
	"time"

	"belfry"
)

// Watch is the monitoring period of objects. Many objects share one, and all ask about nearly the same moment, so it
// remembers the last answer. It may be asked by several at a time.
type Watch struct {
	period Period
	last   atomic.Pointer[phase]
}

// phase is a stretch of time in which a period is open, or is not.
type phase struct {
	from, to belfry.Time // to is 0 when it never ends
	open     bool
	since    atomic.Int64 // when it really began; 0: nobody has asked
}

// NewWatch makes a Watch of a period.
func NewWatch(p Period) *Watch { return &Watch{period: p} }

// Quiet tells whether objects are not monitored at a moment. Without a period they always are.
func (w *Watch) Quiet(at belfry.Time) bool { return w != nil && !w.at(at).open }

// Change is the next moment at which Quiet may give another answer; 0 when there is none.
func (w *Watch) Change(after belfry.Time) belfry.Time {
	if w == nil {
		return 0
	}
	return w.at(after).to
}

// Since is the moment at which Quiet became what it is at a moment; that moment itself when it was long before.
func (w *Watch) Since(at belfry.Time) belfry.Time {
	now := w.at(at)
	if since := belfry.Time(now.since.Load()); since != 0 {
		return min(since, at)
	}
	const back = 8 * 24 * time.Hour // most periods come every week
	since := at
	for s := w.find(belfry.At(at.Std().Add(-back))); s.to != 0 && s.to <= at; s = w.find(s.to) {
		if s.open != now.open {
			since = s.to
		}
	}
	now.since.Store(int64(since))
	return since
}

func (w *Watch) at(now belfry.Time) *phase {
	if s := w.last.Load(); s != nil && s.from <= now && (s.to == 0 || now < s.to) {
		return s
	}
	s := w.find(now)
	w.last.Store(s)
	return s
}

// find asks the period.
func (w *Watch) find(now belfry.Time) *phase {
	s := &phase{from: now, open: w.period.Open(now.Std())}
	if to, ok := w.period.Change(now.Std()); ok {
		s.to = max(belfry.At(to), now+1)
	}
	return s
}

package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

// Arrivals keeps a file from which a later start can tell which times lost records of the journal may have had. The records
// around a gap do not tell that if the clock was set in between. So the file has, before any such record is acknowledged:
//
//	until   no record after the last step is later than this
//	steps   where in the journal times go back, or jump forward by more than an hour
//
// While the clock runs as it should, run moves until ahead of it, and the sequencer compares two numbers for each record. It
// writes the file itself only after the clock was set.
//
// Its first line has the checksum of the rest, which names the instance, so a damaged file and one of another folder are
// rejected. Each file has a higher serial number than the one before it, and journal/end has the number of the file that was
// valid at the last record, so an older copy is rejected too.
type Arrivals struct {
	path     string
	instance string
	position func() belfry.Position // of the last record in the journal
	noted    func(serial uint64)    // called with the serial number of the file that is valid from the next record on
	written  func(error)            // called with each failure to write the file, and with nil when that succeeds again; may be nil
	log      *slog.Logger

	last  belfry.Time  // of the last record; for the sequencer alone
	open  bool         // where the last steps end is not known yet; for the sequencer alone
	until atomic.Int64 // a belfry.Time

	mu     sync.Mutex
	serial uint64 // of the file
	steps  []timeStep
	stale  bool // the file does not have all of it
	failed bool // to write the file
}

// recordTimes is the content of the file.
type recordTimes struct {
	Instance string     `json:"instance"`
	Serial   uint64     `json:"serial"`
	Until    time.Time  `json:"until"`
	Steps    []timeStep `json:"steps,omitempty"`
}

// timeStep says that the clock was set after the record at First was written and before the one at Last was, and which times
// records had before and after that.
type timeStep struct {
	First belfry.Position `json:"first"`
	Last  belfry.Position `json:"last"` // notYet: the last record of the journal
	Low   time.Time       `json:"low"`
	High  time.Time       `json:"high"`
}

const (
	ArrivalsFile = "arrivals"
	// arrivalsAhead is how far until is moved ahead of the clock: a loss at the end of the journal may be told too long by it.
	arrivalsAhead = time.Minute
	arrivalsEvery = 10 * time.Second
	maxTimeSteps  = 64
	notYet        = math.MaxUint64
)

// start goes on after a replay that has told what is lost. Known and problem are what readArrivals has found, last is the time
// of the last record, and no other is later since the last step.
func (a *Arrivals) start(known recordTimes, problem error, last belfry.Time) {
	a.last, a.serial = last, known.Serial
	if errors.Is(problem, fs.ErrNotExist) && last == 0 { // a new folder
		return
	}
	if problem != nil {
		a.log.Warn("whether the clock was set before is not known; if records of the journal are lost, all times count as incomplete", "file", a.path, "err", problem)
		a.stale = true
	}
	for _, s := range known.Steps {
		s.Last = min(s.Last, a.position())
		a.steps = append(a.steps, s)
	}
	a.until.Store(int64(last))
	a.noted(a.serial)
}

// Arrive is called with the time of each record before it is written. If it returns an error, the time could not be stored,
// and the record must not be written.
func (a *Arrivals) Arrive(at belfry.Time) error {
	if a.open {
		a.finish()
	}
	if at < a.last || int64(at) > a.until.Load() {
		if err := a.set(at); err != nil {
			return err
		}
	}
	a.last = at
	return nil
}

// finish notes where the last steps end: at the last record of the round in which they were, once it is written. Until
// the file has it, steps count to the end of the journal.
func (a *Arrivals) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	pos := a.position()
	a.open = false
	for i := range a.steps {
		if s := &a.steps[i]; s.Last == notYet && pos > s.First {
			s.Last, a.stale = pos, true
		}
		a.open = a.open || a.steps[i].Last == notYet
	}
}

// set notes a time that does not follow from the one before it.
func (a *Arrivals) set(at belfry.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, now := a.last.Std(), at.Std()
	before := slices.Clone(a.steps)
	if a.last != 0 && (at < a.last || now.Sub(last) > lossMargin) {
		a.step(timeStep{a.position(), notYet, earlier(last, now), later(last, now)})
	}
	err := a.write(belfry.At(now.Add(arrivalsAhead)))
	if err != nil {
		a.steps = before // the next record tries again
	}
	return err
}

// step adds a step. When there are too many, the two oldest become one that covers both.
func (a *Arrivals) step(s timeStep) {
	a.open = true
	if a.steps = append(a.steps, s); len(a.steps) <= maxTimeSteps {
		return
	}
	first, second := a.steps[0], &a.steps[1]
	second.First, second.Last = first.First, max(first.Last, second.Last)
	second.Low, second.High = earlier(first.Low, second.Low), later(first.High, second.High)
	a.steps = a.steps[1:]
}

// write makes the file say what is known, and then lets records have times until the given one.
func (a *Arrivals) write(until belfry.Time) error {
	a.serial++
	text, err := recordTimes{a.instance, a.serial, until.Std(), a.steps}.encode()
	if err == nil {
		err = overwrite(a.path, text)
	}
	if err != nil && !a.failed {
		a.log.Error("the times of records cannot be noted; what needs it is refused", "err", err)
	}
	if a.written != nil && (err != nil || a.failed) {
		a.written(err)
	}
	a.failed = err != nil
	if err != nil {
		return fmt.Errorf("note times of records: %w", err)
	}
	a.stale = false
	a.noted(a.serial)
	a.until.Store(int64(until))
	return nil
}

// Renew moves until ahead of the clock, and writes what the file does not have. If something else is in the place of the file, it
// fails, so that this is told although nobody sends anything. If the clock is already past until, the clock was
// set, or the machine slept: the next record notes that.
func (a *Arrivals) Renew(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := belfry.Time(a.until.Load())
	if left := until.Std().Sub(now); left >= 0 && left < arrivalsAhead/2 {
		a.write(belfry.At(now.Add(arrivalsAhead)))
	} else if a.stale || a.failed || blocked(a.path) {
		a.write(until)
	}
}

// Run keeps until ahead of the clock, until ctx ends.
func (a *Arrivals) Run(ctx context.Context) error {
	a.Renew(time.Now())
	tick := time.NewTicker(arrivalsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			a.Renew(time.Now())
			return nil
		case <-tick.C:
			a.Renew(time.Now())
		}
	}
}

// widen gives the times that records from one position to another may have had, if those around them had the given times.
func (r *recordTimes) widen(from, to belfry.Position, low, high time.Time) (time.Time, time.Time) {
	for _, s := range r.Steps {
		if s.First <= to && s.Last >= from {
			low, high = earlier(low, s.Low), later(high, s.High)
		}
	}
	return low, high
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

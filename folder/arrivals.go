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

// Arrivals maintains a file from which a later start bounds the times of lost journal records. The records around a gap are not
// enough for that if the clock was set in between. So before a record is acknowledged, the file has:
//
//	until   no record after the last step is later than this
//	steps   where in the journal times go back, or jump forward by more than an hour
//
// While the clock runs normally, Run moves until ahead of it, and the sequencer compares two numbers for each record. Only after
// the clock was set does the sequencer write the file itself.
// The first line has a checksum of the rest, which contains the instance id, so a damaged file or one of another folder is
// rejected. Each version has a higher serial number. As journal/end has the serial number that was valid at the last record, an
// older copy is rejected too.
type Arrivals struct {
	path     string
	instance string
	position func() belfry.Position // of the last record in the journal
	noted    func(serial uint64)    // called with the serial number of the file that covers the next record
	written  func(error)            // called with each write error, and with nil when writing works again; may be nil
	log      *slog.Logger

	last  belfry.Time  // time of the last record; used by the sequencer alone
	open  bool         // the end of the last steps is still unknown; used by the sequencer alone
	until atomic.Int64 // a belfry.Time

	mu     sync.Mutex
	serial uint64 // of the file
	steps  []timeStep
	stale  bool // the file is out of date
	failed bool // the last write failed
}

// recordTimes is the content of the file.
type recordTimes struct {
	Instance string     `json:"instance"`
	Serial   uint64     `json:"serial"`
	Until    time.Time  `json:"until"`
	Steps    []timeStep `json:"steps,omitempty"`
}

// timeStep is a step of the clock, made after the record at First was written and before the one at Last. Low and High bound the
// times of records on both sides.
type timeStep struct {
	First belfry.Position `json:"first"`
	Last  belfry.Position `json:"last"` // notYet: the last record of the journal
	Low   time.Time       `json:"low"`
	High  time.Time       `json:"high"`
}

const (
	ArrivalsFile = "arrivals"
	// arrivalsAhead is how far until runs ahead of the clock. A loss at the end of the journal may be reported this much too
	// long.
	arrivalsAhead = time.Minute
	arrivalsEvery = 10 * time.Second
	maxTimeSteps  = 64
	notYet        = math.MaxUint64
)

// start continues after a replay. Known and problem are the results of readArrivals, last is the time of the last record and the
// latest time since the last step.
func (a *Arrivals) start(known recordTimes, problem error, last belfry.Time) {
	a.last, a.serial = last, known.Serial
	if errors.Is(problem, fs.ErrNotExist) && last == 0 { // a new folder
		return
	}
	if problem != nil {
		a.log.Warn("earlier steps of the clock are unknown; if journal records are lost, all times count as incomplete", "file", a.path, "err", problem)
		a.stale = true
	}
	for _, s := range known.Steps {
		s.Last = min(s.Last, a.position())
		a.steps = append(a.steps, s)
	}
	a.until.Store(int64(last))
	a.noted(a.serial)
}

// Arrive is called with the time of each record before it is written. After an error the record must not be written.
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

// finish sets the end of the last steps: the last record of the round that they began in, once it is written. Until the file has
// it, they extend to the end of the journal.
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

// set handles a time that is earlier than the one before, or later than until.
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
		a.steps = before // the next record retries
	}
	return err
}

// step adds a step. If there are too many, it merges the two oldest.
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

// write updates the file and then allows record times up to until.
func (a *Arrivals) write(until belfry.Time) error {
	a.serial++
	text, err := recordTimes{a.instance, a.serial, until.Std(), a.steps}.encode()
	if err == nil {
		err = overwrite(a.path, text)
	}
	if err != nil && !a.failed {
		a.log.Error("the times of records cannot be written; requests that need them are refused", "err", err)
	}
	if a.written != nil && (err != nil || a.failed) {
		a.written(err)
	}
	a.failed = err != nil
	if err != nil {
		return fmt.Errorf("write times of records: %w", err)
	}
	a.stale = false
	a.noted(a.serial)
	a.until.Store(int64(until))
	return nil
}

// content returns the content of the file as it should be; fs.ErrNotExist if there have been no records. The file itself is written in
// place, so what is read at the same moment may be half of it.
func (a *Arrivals) content() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := belfry.Time(a.until.Load())
	if until == 0 && a.serial == 0 {
		return nil, fs.ErrNotExist
	}
	return recordTimes{a.instance, a.serial, until.Std(), a.steps}.encode()
}

// Renew moves until ahead of the clock and writes the file if it is out of date. It also writes if something else has replaced
// the file: that fails, so the error is reported even if no record arrives. If the clock is past until, it was set, or the
// machine slept: then the next record writes the file.
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

// Run calls Renew at intervals until ctx ends.
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

// widen extends a range of times by all steps between two positions.
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

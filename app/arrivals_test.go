package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/store"
)

// clockedCore writes events into the journal of a data folder, one record each, by a clock that the test sets.
type clockedCore struct {
	*instance
	began time.Time
	off   atomic.Int64 // of the clock, a time.Duration
	*core
}

func newClockedCore(t *testing.T) *clockedCore {
	return &clockedCore{instance: newInstanceFolder(t), began: time.Now()}
}

func (c *clockedCore) now() time.Time { return c.began.Add(time.Duration(c.off.Load())) }

// run writes events in one process: each step sets the clock and writes three of them.
func (c *clockedCore) run(steps ...time.Duration) {
	c.Helper()
	var err error
	c.core, err = lockCore(c.options)
	c.must(err)
	c.must(c.core.open(c.Context()))
	c.must(c.replay(c.Context(), func(*belfry.Record, bool) error { return nil }))
	seq := c.sequencer(engine.Config{
		Now:     c.now,
		Room:    func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready:   func() error { return nil },
		Answers: c.db.Answer,
		Count:   func(belfry.CustomerID) int { return 0 },
	})
	running := start("sequencer", seq.Run, nil)
	for _, off := range steps {
		c.off.Store(int64(off))
		for i := range 3 {
			c.must(seq.Internal(fmt.Sprintf("event %d at %s", i, off), 0))
		}
	}
	c.must(running.end())
	c.arrivals.renew(c.now())
	c.must(c.close())
}

// lose damages the records from the one that has a text to the last one that has another, or cuts the journal off before the
// first, and returns what the next start finds.
func (c *clockedCore) lose(first, last string, cut bool) []loss {
	c.Helper()
	segments, err := filepath.Glob(c.path("journal/*.journal"))
	c.must(err)
	for _, path := range segments {
		text, err := os.ReadFile(path)
		c.must(err)
		from, to := bytes.Index(text, []byte(first)), bytes.Index(text, []byte(last))
		if from < 0 {
			continue
		}
		if cut {
			c.must(os.Truncate(path, int64(from)))
			continue
		}
		if to < 0 {
			to = from
		}
		for i := from; i < to+4; i++ {
			text[i] ^= 0xff
		}
		c.must(os.WriteFile(path, text, 0o600))
	}
	began := time.Now()
	v, err := Verify(c.Context(), c.options)
	c.must(err)
	c.run()
	between := time.Since(began) // a loss whose beginning is not known begins now, for each of them
	for _, l := range c.losses {
		same := func(p store.Problem) bool {
			_, rest, _ := strings.Cut(p.Problem, "between ")
			text, _, _ := strings.Cut(rest, " and ")
			from, err := time.Parse(time.RFC3339, text)
			return err == nil && l.From.Sub(from).Abs() < between+time.Second // it has no fractions
		}
		if !slices.ContainsFunc(v.Problems, same) {
			c.Errorf("verify does not say %s as the start does: %+v", l.span(), v.Problems)
		}
	}
	return c.losses
}

// TestLossAfterClockSteps: the time that is told of a loss has the times that the lost rows had, however the clock was set
// while they came.
func TestLossAfterClockSteps(t *testing.T) {
	const ahead, back = 2 * time.Hour, -2 * time.Hour
	f := func(name string, runs [][]time.Duration, lost []time.Duration, cut bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClockedCore(t)
			for _, steps := range runs {
				c.run(steps...)
			}
			first, last := fmt.Sprintf("event 0 at %s", lost[0]), fmt.Sprintf("event 2 at %s", lost[len(lost)-1])
			losses := c.lose(first, last, cut)
			if len(losses) != 1 {
				t.Fatalf("losses: %+v", losses)
			}
			for _, off := range lost {
				if at := c.began.Add(off).Truncate(time.Microsecond); at.Before(losses[0].From) || at.After(losses[0].To) {
					t.Errorf("a row of %s (%s) was lost, and the time that is told is %s", at.UTC(), off, losses[0].span())
				}
			}
			if length := losses[0].To.Sub(losses[0].From); length > 5*time.Hour {
				t.Errorf("the time that is told is too long: %s", losses[0].span())
			}
		})
	}
	type d = []time.Duration
	f("ahead for a while", []d{{0, ahead, time.Minute}}, d{ahead}, false)
	f("behind, in a process of its own", []d{{0}, {back}, {time.Minute}}, d{back}, false)
	f("ahead, and a start after which nothing came", []d{{0, ahead}, {}}, d{ahead}, true)
	if testing.Short() {
		return // the rest is part of make soak
	}
	f("ahead by a minute", []d{{0, time.Minute, time.Second}}, d{time.Minute}, false)
	f("ahead at the end", []d{{0, ahead}}, d{ahead}, true)
	f("ahead by a minute at the end", []d{{0, time.Minute}}, d{time.Minute}, true)
	f("behind for a while", []d{{0, back, time.Minute}}, d{back}, false)
	f("behind at the end", []d{{0, back}}, d{back}, true)
	f("ahead, and set back before the end", []d{{0, ahead, time.Minute}}, d{ahead, time.Minute}, true)
	f("ahead, and set back while it was stopped", []d{{0, ahead}, {time.Minute}}, d{ahead}, false)
	f("twice", []d{{0, ahead, time.Minute, back, 2 * time.Minute}}, d{ahead, time.Minute, back}, false)
}

// TestLossWithoutSteps: a loss that is not near a step of the clock is told as short as it was.
func TestLossWithoutSteps(t *testing.T) {
	c := newClockedCore(t)
	c.run(2*time.Hour, 0, time.Second, 2*time.Second, 3*time.Second)
	l := c.lose("event 0 at 2s", "event 2 at 2s", false)
	if len(l) != 1 || l[0].From.Before(c.began) || l[0].To.After(c.began.Add(3*time.Second)) {
		t.Errorf("from %s: %+v", c.began, l)
	}
}

// TestLossWithDamagedTimes: if nobody knows how the clock was set, all times count; what comes later is not touched by it.
func TestLossWithDamagedTimes(t *testing.T) {
	c := newClockedCore(t)
	c.run(0, time.Second, 2*time.Second)
	c.write(arrivalsFile, "{")
	v, err := Verify(t.Context(), c.options)
	c.must(err)
	if len(v.Problems) != 1 || v.Problems[0].File != c.path(arrivalsFile) {
		t.Errorf("verify: %+v", v.Problems)
	}
	c.run(time.Minute, 2*time.Minute, 3*time.Minute)
	if l := c.lose("event 0 at 2m", "event 2 at 2m", false); len(l) != 1 || l[0].From.Before(c.began) {
		t.Errorf("%+v", l)
	}
	if l := c.lose("event 0 at 1s", "event 2 at 1s", false); len(l) != 2 || l[1].From.Year() != 1970 || l[1].To.Year() != 9999 {
		t.Errorf("%+v", l)
	}
}

// TestLossWithoutTimes: without the file nothing is known about steps of the clock before it was written again.
func TestLossWithoutTimes(t *testing.T) {
	c := newClockedCore(t)
	c.run(0, time.Second, 2*time.Second)
	if err := os.Remove(c.path(arrivalsFile)); err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(t.Context(), c.options); err != nil || len(v.Problems) != 0 {
		t.Errorf("verify: %+v, %v", v, err) // nothing is lost
	}
	c.run(time.Minute)
	if l := c.lose("event 0 at 1s", "event 2 at 1s", false); len(l) != 1 || l[0].From.Year() != 1970 || l[0].To.Year() != 9999 {
		t.Errorf("%+v", l)
	}
}

// startArrivals opens the file of a folder without an instance.
func startArrivals(dir string, last belfry.Time, position func() belfry.Position, told func(error)) *arrivals {
	a := &arrivals{path: filepath.Join(dir, arrivalsFile), position: position, noted: func(uint64) {}, told: told, log: slog.New(slog.DiscardHandler)}
	known, err := readArrivals(dir, "", 0)
	a.start(known, err, last)
	return a
}

// TestArrivalsFile: the file is written when the clock was set, not for every record, and the number of steps is limited.
func TestArrivalsFile(t *testing.T) {
	dir, pos := t.TempDir(), belfry.Position(1)
	open := func(last belfry.Time) *arrivals {
		return startArrivals(dir, last, func() belfry.Position { return pos }, nil)
	}
	read := func() recordTimes {
		t.Helper()
		known, err := readArrivals(dir, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	a := open(0)
	at := func(when time.Time) { a.arrive(belfry.At(when)); pos++ }
	at(minute(0))
	if known := read(); !known.Until.Equal(minute(1)) || len(known.Steps) != 0 {
		t.Errorf("%+v", known)
	}
	path := filepath.Join(dir, arrivalsFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	at(minute(0).Add(20 * time.Second))
	a.renew(minute(0).Add(20 * time.Second))
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is written although nothing has changed")
	}
	a.renew(minute(0).Add(40 * time.Second))
	if known := read(); !known.Until.Equal(minute(1).Add(40 * time.Second)) {
		t.Errorf("%+v", known)
	}
	at(minute(1))
	a.renew(minute(50)) // the clock was set: the next record tells
	if known := read(); !known.Until.Equal(minute(1).Add(40 * time.Second)) {
		t.Errorf("%+v", known)
	}
	for range maxTimeSteps + 3 {
		at(minute(30))
		at(minute(10))
	}
	at(minute(50))
	known := read()
	if len(known.Steps) != maxTimeSteps || known.Steps[0].First != 5 || !known.Steps[0].Low.Equal(minute(10)) || !known.Steps[0].High.Equal(minute(30)) {
		t.Errorf("%d steps, %+v", len(known.Steps), known.Steps[0])
	}
	if s := known.Steps[maxTimeSteps-1]; s.First != pos-2 || s.Last != pos-1 {
		t.Errorf("the last step at %d: %+v", pos, s)
	}
	a = open(belfry.At(minute(50)))
	if len(a.steps) != maxTimeSteps {
		t.Errorf("%d steps after a start", len(a.steps))
	}
	at(minute(49)) // an append that fails leaves the step open
	pos--
	at(minute(49))
	at(minute(49))
	if s := a.steps[maxTimeSteps-1]; s.Last != pos-1 || !s.High.Equal(minute(50)) {
		t.Errorf("the last step at %d: %+v", pos, s)
	}
}

// TestArrivalsRefuse: a record whose time has to be noted and cannot be is refused, and nothing else is.
func TestArrivalsRefuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, arrivalsFile)
	var told []bool
	a := startArrivals(dir, 0, func() belfry.Position { return 1 }, func(err error) { told = append(told, err != nil) })
	at := func(when time.Time, ok bool) {
		t.Helper()
		if err := a.arrive(belfry.At(when)); (err == nil) != ok {
			t.Errorf("%s: %v", when, err)
		}
	}
	at(minute(0), true)
	away := path + ".away"
	if err := errors.Join(os.Rename(path, away), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	at(minute(0), true) // it follows from what is noted
	at(minute(300), false)
	at(minute(300), false)
	at(minute(0), true) // the clock is right again
	if len(a.steps) != 0 {
		t.Errorf("steps of refused records: %+v", a.steps)
	}
	if err := errors.Join(os.Remove(path), os.Rename(away, path)); err != nil {
		t.Fatal(err)
	}
	at(minute(300), true)
	if known, err := readArrivals(dir, "", 0); err != nil || len(known.Steps) != 1 {
		t.Errorf("%+v, %v", known, err)
	}
	if !slices.Equal(told, []bool{true, true, false}) {
		t.Errorf("told %v", told)
	}
}

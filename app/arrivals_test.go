package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/folder"
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
	c.must(c.Replay(c.Context(), func(*belfry.Record, bool) error { return nil }))
	seq := c.sequencer(engine.Config{
		Now:     c.now,
		Room:    func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready:   func() error { return nil },
		Answers: c.DB.Answer,
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
	c.arrivals.Renew(c.now())
	c.must(c.Close())
}

// lose damages the records from the one that has a text to the last one that has another, or cuts the journal off before the
// first, and returns what the next start finds.
func (c *clockedCore) lose(first, last string, cut bool) []folder.Loss {
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
	open, _ := c.OpenLosses()
	for _, l := range open {
		same := func(p store.Problem) bool {
			_, rest, _ := strings.Cut(p.Problem, "between ")
			text, _, _ := strings.Cut(rest, " and ")
			from, err := time.Parse(time.RFC3339, text)
			return err == nil && l.From.Sub(from).Abs() < between+time.Second // it has no fractions
		}
		if !slices.ContainsFunc(v.Problems, same) {
			c.Errorf("verify does not say %s as the start does: %+v", l.Span(), v.Problems)
		}
	}
	return open
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
					t.Errorf("a row of %s (%s) was lost, and the time that is told is %s", at.UTC(), off, losses[0].Span())
				}
			}
			if length := losses[0].To.Sub(losses[0].From); length > 5*time.Hour {
				t.Errorf("the time that is told is too long: %s", losses[0].Span())
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
	c.write(folder.ArrivalsFile, "{")
	v, err := Verify(t.Context(), c.options)
	c.must(err)
	if len(v.Problems) != 1 || v.Problems[0].File != c.path(folder.ArrivalsFile) {
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
	if err := os.Remove(c.path(folder.ArrivalsFile)); err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(t.Context(), c.options); err != nil || len(v.Problems) != 1 || v.Problems[0].File != c.path(folder.ArrivalsFile) {
		t.Errorf("verify: %+v, %v", v, err) // journal/end has its serial number
	}
	c.run(time.Minute)
	if l := c.lose("event 0 at 1s", "event 2 at 1s", false); len(l) != 1 || l[0].From.Year() != 1970 || l[0].To.Year() != 9999 {
		t.Errorf("%+v", l)
	}
}

package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
)

// TestArrivalClock lets arrival times wait after a small step back, and follow the clock after a large one.
func TestArrivalClock(t *testing.T) {
	var a engine.ArrivalClock
	start := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	f := func(read, want time.Duration) {
		t.Helper()
		if got := a.At(start.Add(read)); got != belfry.At(start.Add(want)) {
			t.Errorf("the clock says %s: got %s, want %s", start.Add(read), got, start.Add(want))
		}
	}
	f(0, 0)
	f(time.Minute, time.Minute)
	f(50*time.Second, time.Minute)
	f(55*time.Second, time.Minute)
	f(61*time.Second, 61*time.Second)
	f(50*time.Second, 50*time.Second) // 11 s
	f(-2*time.Hour, -2*time.Hour)
	f(-2*time.Hour-10*time.Second, -2*time.Hour)
	f(365*24*time.Hour, 365*24*time.Hour)
	f(0, 0)
	if got := a.At(time.Unix(-1000, 0)); got != 1 {
		t.Errorf("before 1970 it is %s", got)
	}
}

// TestClockSteps tells the steps of a clock from the time that passes.
func TestClockSteps(t *testing.T) {
	g, err := newStage(&enginetest.Memory{}, begun)
	if err != nil {
		t.Fatal(err)
	}
	var steps []time.Duration
	g.Cfg().Stepped = func(by time.Duration, _ time.Time) { steps = append(steps, by) }
	f := func(by time.Duration, want ...time.Duration) {
		t.Helper()
		steps = nil
		g.now += belfry.Time(by.Microseconds())
		g.WatchClock()
		if len(steps) != len(want) || len(want) > 0 && steps[0] != want[0] {
			t.Errorf("the clock moves by %s: steps %v, want %v", by, steps, want)
		}
	}
	f(0)
	f(time.Hour)
	f(-time.Second) // a leap second
	f(-2*time.Second, -2*time.Second)
	f(-2*time.Hour, -2*time.Hour)

	// The clock of the machine knows how much time has passed, so steps forward are seen, too.
	now := time.Now()
	g.Cfg().Now = func() time.Time { return now }
	g.SetRead(now, 0)
	now = now.Add(time.Hour)
	f(0)
	g.SetRead(now.Add(-time.Hour), 0) // an hour has passed, and so it says
	f(0)

	// Times after 2157 do not have what the clock of the machine knows of it.
	passed := time.Minute
	g.Cfg().Passed = func() time.Duration { return passed }
	g.SetRead(now, passed)
	passed += time.Minute
	now = now.Add(time.Minute)
	f(0)
	const far = 200 * 365 * 24 * time.Hour
	now = now.Round(0).Add(far)
	f(0, far)
	now = now.Add(time.Minute)
	passed += time.Minute
	f(0)
	now = now.Add(-far)
	f(0, -far)
}

// TestKeepEveryDay asks for each day that the clock shows to be kept, before anything is decided at that time.
func TestKeepEveryDay(t *testing.T) {
	g, err := newStage(&enginetest.Memory{}, begun)
	if err != nil {
		t.Fatal(err)
	}
	var asked []belfry.Time
	g.Cfg().Keep = func(at belfry.Time) error { asked = append(asked, at); return nil }
	g.ForgetDay()
	event := func() {
		g.run(func() {
			if err := g.Internal("something", 0); err != nil {
				t.Error(err)
			}
		})
	}
	event()
	event()
	g.now -= belfry.Time((11 * 365 * 24 * time.Hour).Microseconds())
	event()
	event()
	if len(asked) != 2 || asked[0] != begun || asked[1] != g.now {
		t.Errorf("asked for %v", asked)
	}
	g.Cfg().Keep = func(belfry.Time) error { return belfry.Errorf(belfry.Internal, "no") }
	g.now += belfry.Time((48 * time.Hour).Microseconds())
	g.run(func() {
		if err := g.Internal("something", 0); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("what cannot be kept is answered with %v", err)
		}
	})
}

// TestArrives: the time of a record is told before the record is written, and none of its rows is later than that, also those
// that a collector has read off a clock that was set back since.
func TestArrives(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.Provision(t.Context(), b.Who, "custom", strings.NewReader("name\nR\n"), intake.Options{}); err != nil {
		t.Fatal(err)
	}
	r := b.Tree.Tenant(b.Who.Customer).Resource("R")
	if r == nil {
		t.Fatal("no resource")
	}
	written := len(b.Records)
	var told []belfry.Time
	b.Config.Arrives = func(at belfry.Time) error {
		if len(b.Records) != written {
			t.Error("told after the record was written")
		}
		told = append(told, at)
		return nil
	}
	now := belfry.At(b.Time())
	times := []belfry.Time{now - 5, now + belfry.Time(time.Hour.Microseconds()), now}
	if _, err := b.Receive(t.Context(), b.Who.Customer, r.ID, &belfry.Batch{Collection: "syslog", Times: times}, false); err != nil {
		t.Fatal(err)
	}
	rec := b.Records[len(b.Records)-1]
	if len(told) != 1 || told[0] != now || rec.Time != now {
		t.Errorf("told %v of a record at %s, want %s", told, rec.Time, now)
	}
	if got := rec.Batches[0].Times; !slices.Equal(got, []belfry.Time{now - 5, now, now}) {
		t.Errorf("rows at %v", got)
	}
	b.Config.Arrives = func(belfry.Time) error { return errors.New("full") }
	written = len(b.Records)
	_, _, err := b.Provision(t.Context(), b.Who, "custom", strings.NewReader("name\nS\n"), intake.Options{})
	if belfry.CodeOf(err) != belfry.StorageUnavailable || len(b.Records) != written || b.Tree.Tenant(b.Who.Customer).Resource("S") != nil {
		t.Errorf("a record whose time is refused: %v", err)
	}
}

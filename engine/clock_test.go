package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
	"belfry/status"
	"belfry/status/calendar"
)

// TestClockRuns lets the sequencer run by itself: nobody asks for anything, and what is due happens at its moment. The
// stories move the clock themselves, so this is what they cannot show.
func TestClockRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &stage{journal: &enginetest.Memory{}}
		if err := g.start(); err != nil {
			t.Fatal(err)
		}
		g.Cfg().Now = time.Now
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Run(ctx) }()
		if err := enginetest.Bootstrap(g.Sequencer); err != nil {
			t.Fatal(err)
		}
		c, _ := g.tree.Access().CustomerNamed(belfry.DefaultCustomer)
		g.who = engine.Sender{Scope: belfry.Whole(c.ID), Name: operator}
		begin := belfry.At(time.Now())
		g.outage(t, begin)

		// f waits until so long after the beginning, and looks.
		f := func(after time.Duration, want belfry.Status, since time.Duration) {
			t.Helper()
			time.Sleep(time.Until(begin.Std().Add(after)))
			synctest.Wait()
			var s belfry.State
			g.tree.Read(g.who.Customer, func(*meta.Tenant) { s = g.item("web01/cpu").State.State })
			if s.Status != want || s.Since != begin+belfry.Time(since.Microseconds()) {
				t.Errorf("after %s it is %s since %s, want %s since %s", after, s.Status, s.Since.Std().Sub(begin.Std()), want, since)
			}
		}
		f(5*time.Minute-time.Microsecond, belfry.Unavailable, 0)
		f(5*time.Minute, belfry.Unknown, 5*time.Minute)
		f(6*time.Minute, belfry.Unavailable, 6*time.Minute)
		f(15*time.Minute-time.Microsecond, belfry.Unavailable, 6*time.Minute)
		f(15*time.Minute, belfry.Unknown, 15*time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

// outage makes an object that does not respond, of a class that is heard of every five minutes, with a window from the
// fifth minute to the sixth.
func (g *stage) outage(t *testing.T, begin belfry.Time) {
	rules, err := parseRules("cpu", "every 5m")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Definitions().PutClass(g.who, rules.def); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Provision(t.Context(), g.who, "custom", strings.NewReader("name\nweb01\n"), intake.Options{}); err != nil {
		t.Fatal(err)
	}
	row := &belfry.Row{Type: "data", NoResponse: true, Resource: "web01", Object: "cpu", Class: "cpu", View: "web01"}
	if code, answer, err := g.SendOne(t.Context(), g.who.Scope, row); code != 200 || err != nil {
		t.Fatal(code, string(answer), err)
	}
	minute := 60 * second
	a := engine.Action{Kind: belfry.KindObject, List: engine.Names("cpu"), Manage: &status.Order{Mode: belfry.UnmanagedKeep, From: begin + 5*minute, To: begin + 6*minute}}
	if out, err := g.Act(t.Context(), g.who, a); err != nil || len(out.Errors) > 0 {
		t.Fatal(out, err)
	}
}

// TestClockTriesAgain has a journal that cannot be written when a window opens: it does a second after it can.
func TestClockTriesAgain(t *testing.T) {
	l := &story{model: newModel()}
	var err error
	if l.stage, err = newStage(&enginetest.Memory{}, begun); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"at 1m data web01/cpu i1=1", "at 2m unmanage store web01 from 5m to 10m"} {
		if err := l.line(line); err != nil {
			t.Fatal(err)
		}
	}
	g := l.stage
	f := func(at belfry.Time, want belfry.Status) {
		t.Helper()
		g.ring(begun + at)
		if s := g.item("web01").State.Status; s != want {
			t.Errorf("at %s it is %s, want %s", since(at), s, want)
		}
	}
	g.journal.Refuse = errors.New("no")
	f(300*second, belfry.OK)
	f(305*second, belfry.OK)
	g.journal.Refuse = nil
	f(306*second, belfry.Unknown)
	if at := g.item("web01").State.Since; at != begun+300*second {
		t.Errorf("the window opened at %s", at)
	}
	f(600*second, belfry.OK)
}

// TestWindowClosesAgain sets the clock back behind the beginning of windows that are open: on a resource, on an object in a view, and of
// one that is to be managed for a while. A process that begins with the right clock closes them as well.
func TestWindowClosesAgain(t *testing.T) {
	const day = 24 * time.Hour
	f := func(t *testing.T, step func(b *bench, by time.Duration) *bench) {
		b := newPolicyBench(t)
		b.data(t, "web01", "R2", "a", 90)
		b.data(t, "web02", "web02", "b", 90)
		b.data(t, "web02", "web02", "c", 90)
		now := belfry.At(b.Time())
		at := func(d time.Duration) belfry.Time { return now + belfry.Time(d.Microseconds()) }
		act := func(kind belfry.Kind, item string, o status.Order) {
			t.Helper()
			if code, a := b.Operate(t, engine.Action{Kind: kind, List: engine.Names(item), Manage: &o}, engine.Repeat{}); code != 200 {
				t.Fatalf("%s: %d %+v", item, code, a)
			}
		}
		act(belfry.KindResource, "web01", status.Order{Mode: belfry.CollectorStopped, From: at(30 * day), To: at(32 * day)})
		act(belfry.KindObject, "b", status.Order{Mode: belfry.UnmanagedDrop, From: at(30 * day)})
		act(belfry.KindObject, "c", status.Order{Mode: belfry.UnmanagedKeep})
		act(belfry.KindObject, "c", status.Order{From: at(30 * day), To: at(32 * day)})
		b.shows(t, "web01=2 web01/a=2 web02/b=2 web02/c=?")
		for range 2 {
			b = step(b, 31*day)
			b.shows(t, "web01=? web01/a=? web02/b=? web02/c=2")
			b = step(b, -31*day)
			b.shows(t, "web01=2 web01/a=2 web02/b=2 web02/c=?")
		}
		if c := b.Tree.Tenant(b.Who.Customer).Resource("web02").Object("c").State.Operator; c.From != now || len(c.Windows) != 2 || c.Windows[1].Open {
			t.Errorf("c is unmanaged since %s, was since %s; %+v", c.From, now, c.Windows)
		}
		b.pass(t, 30*day)
		b.shows(t, "web01=? web01/a=? web02/b=? web02/c=2")
		b.pass(t, 2*day)
		b.shows(t, "web01=2 web01/a=2 web02/b=? web02/c=?")
		opened, closed := "Tue 03:00:00 2>? window opened: unmanaged, collector stopped", "Sun 03:00:00 ?>2 window closed: managed"
		want := []string{opened, closed, opened, closed, opened, "Thu 03:00:00 ?>2 window closed: managed"}
		if got := b.eventsOf("manage", "web01")[1:]; !slices.Equal(got, want) {
			t.Errorf("events of web01:\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	t.Run("running", func(t *testing.T) {
		f(t, func(b *bench, by time.Duration) *bench { b.pass(t, by); return b })
	})
	t.Run("restarted", func(t *testing.T) {
		f(t, func(b *bench, by time.Duration) *bench { return b.restart(t, by) })
	})
}

// TestWindowReplacedAhead: a clock that was ahead has opened windows without an end, and while it was ahead others took their places, or
// the same was asked for again. When the clock is right, the items are managed as if the first had never opened.
func TestWindowReplacedAhead(t *testing.T) {
	const day = 24 * time.Hour
	f := func(t *testing.T, step func(b *bench, by time.Duration) *bench) {
		b := newPolicyBench(t)
		now := belfry.At(b.Time())
		at := func(days int) belfry.Time { return now + belfry.Time((time.Duration(days) * day).Microseconds()) }
		act := func(item string, o status.Order) {
			t.Helper()
			if code, a := b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names(item), Manage: &o}, engine.Repeat{}); code != 200 {
				t.Fatalf("%s: %d %+v", item, code, a)
			}
		}
		for _, item := range []string{"other", "again", "ended", "managed", "cancelled"} {
			b.data(t, "web02", "web02", item, 90)
			act(item, status.Order{Mode: belfry.UnmanagedKeep, From: at(3)})
		}
		const good = "web02/other=2 web02/again=2 web02/ended=2 web02/managed=2 web02/cancelled=2"
		b.shows(t, good)
		b = step(b, 31*day)
		b.shows(t, "web02/other=? web02/again=? web02/ended=? web02/managed=? web02/cancelled=?")
		act("other", status.Order{Mode: belfry.UnmanagedKeep, From: at(40), To: at(41)})
		act("again", status.Order{Mode: belfry.UnmanagedKeep, From: at(3)})
		act("ended", status.Order{Mode: belfry.UnmanagedKeep, From: at(3), To: at(50)})
		act("managed", status.Order{To: at(32)})
		act("cancelled", status.Order{})
		b = step(b, 0)
		b.shows(t, "web02/other=? web02/again=? web02/ended=? web02/managed=2 web02/cancelled=2")
		b = step(b, -31*day)
		b.shows(t, good)
		b = step(b, 0)
		b.shows(t, good)
		want := "Sun 03:00:00 ?>2 window closed: managed"
		for _, item := range []string{"other", "again", "ended"} {
			if got := b.eventsOf("manage", item); got[len(got)-1] != want {
				t.Errorf("events of %s: %s", item, strings.Join(got, ", "))
			}
		}
		b.pass(t, 4*day)
		b.shows(t, "web02/other=2 web02/again=? web02/ended=? web02/managed=2 web02/cancelled=2")
		b.pass(t, 56*day)
		b.shows(t, "web02/other=2 web02/again=? web02/ended=2 web02/managed=2 web02/cancelled=2")
	}
	t.Run("running", func(t *testing.T) {
		f(t, func(b *bench, by time.Duration) *bench { b.pass(t, by); return b })
	})
	t.Run("restarted", func(t *testing.T) {
		f(t, func(b *bench, by time.Duration) *bench { return b.restart(t, by) })
	})
}

// TestWindowSmallSteps: a step back of some seconds does not close a window that has just opened. Several of them do, once they are
// more than arrival times wait for.
func TestWindowSmallSteps(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	from := belfry.At(b.Time()) + 60*second
	o := status.Order{Mode: belfry.UnmanagedKeep, From: from, To: from + 3600*second}
	if code, a := b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names("a"), Manage: &o}, engine.Repeat{}); code != 200 {
		t.Fatalf("%d %+v", code, a)
	}
	f := func(by time.Duration, want string, events int) {
		t.Helper()
		b.pass(t, by)
		b.shows(t, "web01/a="+want)
		if got := b.eventsOf("manage", "a"); len(got) != 1+events {
			t.Errorf("events: %s", strings.Join(got, ", "))
		}
	}
	f(59*time.Second, "2", 0)
	f(time.Second, "?", 1)
	f(-time.Second, "?", 1)
	f(-time.Second, "?", 1)
	f(time.Second, "?", 1)
	f(-7*time.Second, "?", 1)
	f(-7*time.Second, "2", 2) // 15 s before it opened
	f(14*time.Second, "2", 2)
	f(time.Second, "?", 3)
}

// TestWindowOpensAgain: of stretches that were missed each has its event, and each event goes on from the status of the one before.
func TestWindowOpensAgain(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	s, err := calendar.ParseSchedule("2026-11-15T04:00", "2026-11-15T05:00", "FREQ=DAILY", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names("a"), Manage: &status.Order{Mode: belfry.UnmanagedKeep}, Window: &s}, engine.Repeat{})
	b.pass(t, 25*time.Hour+time.Minute)
	b.shows(t, "web01/a=?")
	want := []string{
		"Sun 04:00:00 2>2 window opened: unmanaged, data stored", "Sun 05:00:00 2>2 window closed: managed",
		"Mon 04:00:00 2>? window opened: unmanaged, data stored",
	}
	if got := b.eventsOf("manage", "a")[1:]; !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

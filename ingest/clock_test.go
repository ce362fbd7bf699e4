package ingest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// TestClockRuns lets the sequencer run by itself: nobody asks for anything, and what is due happens at its moment. The
// stories move the clock themselves, so this is what they cannot show.
func TestClockRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &stage{journal: &memory{}}
		if err := g.start(); err != nil {
			t.Fatal(err)
		}
		g.cfg.Now = time.Now
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Run(ctx) }()
		if err := g.Bootstrap("hash"); err != nil {
			t.Fatal(err)
		}
		c, _ := g.tree.CustomerNamed(DefaultCustomer)
		g.who = Sender{Scope: belfry.Whole(c.ID), Name: operator}
		begin := belfry.At(time.Now())
		g.outage(t, begin)

		// f waits until so long after the beginning, and looks.
		f := func(after time.Duration, want belfry.Status, since time.Duration) {
			t.Helper()
			time.Sleep(time.Until(begin.Std().Add(after)))
			synctest.Wait()
			var s belfry.Standing
			g.tree.Read(g.who.Customer, func(*meta.Estate) { s = g.item("web01/cpu").State.Standing })
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
	if _, _, err := g.PutClass(g.who, rules.def); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Provision(t.Context(), g.who, "custom", strings.NewReader("name\nweb01\n"), Options{}); err != nil {
		t.Fatal(err)
	}
	row := &belfry.Row{Type: "data", NoResponse: true, Resource: "web01", Object: "cpu", Class: "cpu", View: "web01"}
	if code, answer, err := g.SendOne(t.Context(), g.who.Customer, row); code != 200 || err != nil {
		t.Fatal(code, string(answer), err)
	}
	minute := 60 * second
	a := Action{Kind: belfry.KindObject, List: []string{"cpu"}, Manage: &status.Order{Mode: belfry.Stored, From: begin + 5*minute, To: begin + 6*minute}}
	if code, answer, err := g.Act(t.Context(), g.who, a, Repeat{}); code != 200 || err != nil {
		t.Fatal(code, string(answer), err)
	}
}

// TestClockTriesAgain has a journal that cannot be written when a window opens: it does a second after it can.
func TestClockTriesAgain(t *testing.T) {
	l := &story{model: newModel()}
	var err error
	if l.stage, err = newStage(&memory{}, begun); err != nil {
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
	g.journal.refuse = errors.New("no")
	f(300*second, belfry.OK)
	f(305*second, belfry.OK)
	g.journal.refuse = nil
	f(306*second, belfry.Unknown)
	if at := g.item("web01").State.Since; at != begun+300*second {
		t.Errorf("the window opened at %s", at)
	}
	f(600*second, belfry.OK)
}

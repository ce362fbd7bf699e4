package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/status"
	"belfry/status/calendar"
)

// TestActInManyResources: one action names items of several resources, also of the same name, and tells what became of each.
func TestActInManyResources(t *testing.T) {
	b := newBench(t)
	b.Grow(t, 2000)
	for _, r := range []string{"res0000", "res0001"} {
		b.data(t, r, r, "same", 1)
	}
	note := "n"
	a := engine.Action{
		Kind: belfry.KindObject, Note: &note, Resource: "res0001",
		List: []engine.Named{
			{"same", "res0000", 0},
			{"same", "res0001", 0},
			{"same", "", 0},
			{"obj0000003", "res0000", 0},
			{"obj0001003", "", 0},
			{"same", "nowhere", belfry.KindView},
			{"res0000", "res0000", belfry.KindResource},
		},
	}
	code, out := b.Operate(t, a, engine.Repeat{})
	var got []string
	for _, i := range out.Items {
		got = append(got, i.Resource+"/"+i.Name)
	}
	want := []string{"res0000/same", "res0001/same", "res0000/obj0000003", "res0001/obj0001003", "/res0000"}
	if code != 207 || !slices.Equal(got, want) {
		t.Errorf("%d, %q", code, got)
	}
	if len(out.Errors) != 1 || out.Errors[0].Resource != "nowhere" || out.Errors[0].Kind != "view" || !strings.Contains(out.Errors[0].Message, `there is no resource "nowhere"`) {
		t.Errorf("%+v", out.Errors)
	}
	a.Note, a.Ack = nil, &belfry.Ack{}
	a.List = []engine.Named{{"same", "res0000", 0}, {"same", "res0001", 0}}
	if code, out = b.Operate(t, a, engine.Repeat{}); code != 409 || len(out.Errors) != 2 || out.Errors[1].Resource != "res0001" {
		t.Errorf("%d, %+v", code, out.Errors)
	}
}

// TestActMany does things with many items at once: every one has its entry, and no turn is long.
func TestActMany(t *testing.T) {
	many := 100_000
	if testing.Short() {
		many = 5000
	}
	b := newBench(t)
	b.Grow(t, many)
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("obj%07d", i)
	}
	f := func(what string, a engine.Action, r engine.Repeat, wantCode int, want string) engine.Acted {
		t.Helper()
		a.Kind, b.Records = belfry.KindObject, nil
		start := time.Now()
		code, out := b.Operate(t, a, r)
		t.Logf("%s: %s", what, time.Since(start).Round(time.Millisecond))
		if code != wantCode || len(out.Items)+len(out.Errors) != max(len(a.List), strings.Count(a.Items, "|")+1) {
			t.Fatalf("%s: %d, %d items, %d errors, %+v", what, code, len(out.Items), len(out.Errors), out.Error)
		}
		for i, it := range out.Items {
			if it.Name != names[i] || it.Result != want || it.Resource != fmt.Sprintf("res%04d", i/1000) {
				t.Fatalf("%s: entry %d is %+v", what, i, it)
			}
		}
		for _, rec := range b.Records {
			if len(rec.States) > engine.TurnItems && rec.Answer == nil {
				t.Errorf("%s: a turn has changed %d items", what, len(rec.States))
			}
		}
		return out
	}
	note := "n"
	unmanage := &status.Order{Mode: belfry.UnmanagedKeep}
	f("unmanage a list", engine.Action{List: engine.Names(names...)[:engine.ActKeyed], Manage: unmanage}, engine.Repeat{Key: "once"}, 200, "unmanaged")
	if len(b.Records) != 1 {
		t.Errorf("%d records", len(b.Records))
	}
	f("again from memory", engine.Action{List: engine.Names(names...)[:engine.ActKeyed], Manage: unmanage}, engine.Repeat{Key: "once"}, 200, "unmanaged")
	if len(b.Records) != 0 {
		t.Error("it was done again")
	}
	f("a dry run", engine.Action{List: engine.Names(names...), Note: &note, DryRun: true}, engine.Repeat{}, 200, "note_set")
	if len(b.Records) != 0 {
		t.Error("a dry run has written something")
	}
	_, err := b.ActOnce(t.Context(), b.Who, engine.Action{List: engine.Names(append([]string{"one more"}, names[:engine.ActKeyed]...)...), Note: &note}, engine.Repeat{Key: "large"}, enginetest.Render)
	if belfry.CodeOf(err) != belfry.BodyTooLarge || !strings.Contains(err.Error(), "may name 5000 items") {
		t.Errorf("too many under a key: %v", err)
	}
	f("note on names with bars between them", engine.Action{Items: strings.Join(names, "|"), Note: &note}, engine.Repeat{}, 200, "note_set")
	f("manage", engine.Action{List: engine.Names(names...), Manage: &status.Order{}}, engine.Repeat{}, 200, "managed")
	out := f("acknowledge what is not in error", engine.Action{List: engine.Names(names...), Ack: &belfry.Ack{}}, engine.Repeat{}, 409, "")
	if out.Error == nil || out.Error.Code != belfry.NotInError || !strings.HasPrefix(out.Error.Message, fmt.Sprintf("none of the %d items", many)) {
		t.Errorf("error %+v", out.Error)
	}
	wrong := slices.Clone(names)
	for i := range wrong {
		wrong[i] += "x"
	}
	b.Refuse = errors.New("the sequencer has been asked")
	f("unknown names", engine.Action{List: engine.Names(wrong...), Note: &note}, engine.Repeat{}, 404, "")
	b.Refuse = nil
	mixed := []string{"x0", names[0], "x1", names[1], "x2"}
	_, out = b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names(mixed...), Note: &note}, engine.Repeat{})
	if len(out.Items) != 2 || len(out.Errors) != 3 || out.Errors[0].Name != "x0" || out.Errors[2].Name != "x2" {
		t.Errorf("some are unknown: %+v", out)
	}
}

// TestActInTurns: others have their turn in the middle of an action. A row that is sent then goes through before its end.
func TestActInTurns(t *testing.T) {
	b := newBench(t)
	const many = 2 * engine.TurnItems
	b.Grow(t, many)
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("obj%07d", i)
	}
	note, turns, sending := "n", 0, false
	b.Config.Room = func(context.Context, belfry.CustomerID, int) error {
		if sending {
			return nil
		}
		if turns++; turns == 2 {
			sending = true
			if code, r := b.send(t, "type,resname,object,class,view,i1\ndata,res0000,extra,load,res0000,1\n", intake.Options{}); code != 200 {
				t.Errorf("%d %+v", code, r)
			}
			sending = false
		}
		return nil
	}
	if code, out := b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names(names...), Note: &note}, engine.Repeat{}); code != 200 || len(out.Items) != many {
		t.Fatalf("%d, %d items", code, len(out.Items))
	}
	if turns != 2 {
		t.Errorf("%d turns", turns)
	}
}

// TestActOnMany does things with one view that has many objects in it. Other commands run between its turns.
func TestActOnMany(t *testing.T) {
	many := 100_000
	if testing.Short() {
		many = 10_000
	}
	b := newBench(t)
	b.Grow(t, many)
	f := func(a engine.Action, want string, content int) {
		t.Helper()
		a.Kind, a.List, b.Records = belfry.KindView, engine.Names("MAIN"), nil
		done := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() { b.doNothing(t, done) })
		code, out := b.Operate(t, a, engine.Repeat{})
		close(done)
		others.Wait()
		if code != 200 || out.Items[0].Result != want || out.Items[0].Content != content {
			t.Errorf("%d %+v, want %s with %d", code, out, want, content)
		}
		b.checkTurns(t, want, 0)
	}
	note := "n"
	inside := many + many/1000 + many/10_000 // objects, resources, views
	f(engine.Action{Manage: &status.Order{Mode: belfry.UnmanagedDrop}}, "unmanaged", inside)
	f(engine.Action{Note: &note}, "note_set", 0)
	f(engine.Action{Manage: &status.Order{}}, "managed", inside)
	b.fail(t, many)
	f(engine.Action{Ack: &belfry.Ack{}}, "acknowledged", many)
	f(engine.Action{Unack: true}, "unacknowledged", many)
	f(engine.Action{Unack: true}, "unacknowledged", 0)
}

// doNothing runs empty commands until done is closed.
func (b *bench) doNothing(t *testing.T, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		if err := b.Do(&engine.Command{Alone: true, Decide: func(*engine.Tx) error { return nil }}); err != nil {
			t.Error(err)
			return
		}
	}
}

// TestActTellsRule: the event of a window that comes again names its rule and zone.
func TestActTellsRule(t *testing.T) {
	b := newBench(t)
	b.Grow(t, 1)
	zone, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	window, err := calendar.ParseSchedule("2026-11-21T22:00", "2026-11-22T04:00", "FREQ=WEEKLY;BYDAY=SA", zone)
	if err != nil {
		t.Fatal(err)
	}
	b.Operate(t, engine.Action{Kind: belfry.KindObject, Items: "obj0000000", Manage: &status.Order{Mode: belfry.UnmanagedKeep}, Window: &window}, engine.Repeat{})
	want := "to 2026-11-22T03:00:00.000000Z and again (FREQ=WEEKLY;BYDAY=SA, Europe/Vienna)"
	if got := b.eventsOf("manage", "obj0000000"); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestActSettles: what the times of an action mean is found out when it is decided, and a repeat does not ask again.
func TestActSettles(t *testing.T) {
	b := newBench(t)
	b.Grow(t, 1)
	window, err := calendar.ParseSchedule("", "2026-11-15T03:30", "", time.UTC) // half an hour from now
	if err != nil {
		t.Fatal(err)
	}
	a := engine.Action{Kind: belfry.KindObject, Items: "obj0000000", Manage: &status.Order{Mode: belfry.UnmanagedKeep}, Window: &window}
	code, out := b.Operate(t, a, engine.Repeat{Key: "k"})
	if code != 200 || out.Items[0].From != "2026-11-15T03:00:00.000000Z" || out.Items[0].To != "2026-11-15T03:30:00.000000Z" {
		t.Errorf("%d %+v", code, out)
	}
	f := func(settle belfry.Time, want string) {
		t.Helper()
		a := a // settle changes it
		err := a.ResolveTimes(b.Who, settle)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("at %s: %v, want %q", settle, err, want)
		}
	}
	end := belfry.At(time.Date(2026, 11, 15, 3, 30, 0, 0, time.UTC))
	f(end-1, "")
	f(end, "is over, it is 2026-11-15T03:30:00.000000Z now; give a later todatetime")
	if a.Manage.To != 0 || a.Manage.By != "" {
		t.Errorf("an action that was settled has changed: %+v", a.Manage)
	}
}

// TestActBars: a list that is made to keep the sequencer busy, of names that begin like those of many others and are
// none of them, is taken apart in steps that do not grow with these. It would otherwise take minutes.
func TestActBars(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	rows := "type,resname,object,class,view,i1\n"
	for i := 1; i <= 127; i++ {
		rows += "data,web01," + strings.Repeat("a|", i) + "a,load,web01,1\n"
	}
	if code, r := b.send(t, rows, intake.Options{}); code != 200 {
		t.Fatalf("%d %+v", code, r)
	}
	note := "n"
	const many = 50_000
	f := func(resource, items string, wantItems, wantErrors int) {
		t.Helper()
		start := time.Now()
		_, out := b.Operate(t, engine.Action{Kind: belfry.KindObject, Items: items, Resource: resource, Note: &note}, engine.Repeat{})
		t.Logf("in %q: %s", resource, time.Since(start).Round(time.Millisecond))
		if len(out.Items) != wantItems || len(out.Errors) != wantErrors {
			t.Errorf("in %q: %d items, %d errors, want %d and %d", resource, len(out.Items), len(out.Errors), wantItems, wantErrors)
		}
	}
	list := strings.Repeat("a|", many)
	f("", list+"b", 2, 1)      // a whole name of 128 parts, which counts once, what is left over as one, and b
	f("web02", list+"b", 0, 2) // a counts once
}

// TestActTwice: what is named twice is done once. Two names that many resources have, many times over, would otherwise
// be looked up in all of them each time.
func TestActTwice(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01", "web02")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\ndata,web02,cpu,load,web02,1\ndata,web02,disk,load,web02,1\n", intake.Options{})
	note := "n"
	f := func(a engine.Action, wantItems, wantErrors int) {
		t.Helper()
		a.Kind, a.Note = belfry.KindObject, &note
		if _, out := b.Operate(t, a, engine.Repeat{}); len(out.Items) != wantItems || len(out.Errors) != wantErrors {
			t.Errorf("%+v", out)
		}
	}
	f(engine.Action{Items: "disk|cpu|disk | cpu|cpu"}, 1, 1)
	f(engine.Action{List: engine.Names("disk", "disk", " disk")}, 1, 0)
	f(engine.Action{List: engine.Names("", "", "nope", "nope")}, 0, 2)
}

// TestWindowNames: what cannot be done with a window is told by item, and an item has a bounded number of them.
func TestWindowNames(t *testing.T) {
	b := newBench(t)
	b.Who.Name = "ann"
	b.Grow(t, 2)
	now := belfry.At(b.Time())
	f := func(o status.Order, code int, want string) {
		t.Helper()
		got, out := b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names("obj0000000"), Manage: &o}, engine.Repeat{})
		text := fmt.Sprintf("%+v %+v", out.Items, out.Errors)
		if got != code || !strings.Contains(text, want) {
			t.Errorf("%+v: %d %s, want %d %s", o, got, text, code, want)
		}
	}
	f(status.Order{Name: "nope"}, 400, `Code:bad_parameter Message:"obj0000000" has no window "nope"; it has none with a name. GET /api/windows lists`)
	for i := range belfry.MaxWindows {
		f(status.Order{Name: fmt.Sprint("w", i), Mode: belfry.UnmanagedKeep, From: now + 100 + belfry.Time(i), To: now + 1000}, 200, "Result:scheduled")
	}
	f(status.Order{Name: "more", Mode: belfry.UnmanagedKeep, From: now + 100}, 400, "has windows of 100 names already")
	f(status.Order{Mode: belfry.UnmanagedKeep, From: now + 100}, 400, "has windows of 100 names already")
	f(status.Order{Name: "w7", Mode: belfry.UnmanagedKeep, From: now + 200, To: now + 2000}, 200, "Result:scheduled") // takes the place of one
	f(status.Order{Name: "w8"}, 200, "Result:managed")
	f(status.Order{Name: "w8"}, 400, `has no window "w8"; it has "w0", "w1"`)
	f(status.Order{Name: "more", Mode: belfry.UnmanagedKeep}, 200, "Result:unmanaged")
	f(status.Order{Name: "more"}, 200, "Result:managed")
	f(status.Order{}, 200, "Result:managed")
	f(status.Order{Name: "w7"}, 400, "it has none with a name")
	got := b.eventsOf("manage", "obj0000000")
	for i, want := range map[int]string{0: "window w0, scheduled: unmanaged, data stored, from 2026-11-15T03:00:00.000100Z to 2026-11-15T03:00:00.001000Z", 101: "window w8 cancelled: managed", 102: "window more, unmanaged, data stored, from 2026-11-15T03:00:00.000000Z"} {
		if !strings.HasSuffix(got[i], want) {
			t.Errorf("event %d: %s, want %s", i, got[i], want)
		}
	}
}

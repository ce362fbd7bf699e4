package status

import (
	"encoding/json"
	"testing"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status/calendar"
)

func clockTime(t *testing.T, text string) belfry.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return belfry.At(at)
}

// TestWindowAgain follows a nightly window through the night in which the clocks of its zone are set back.
func TestWindowAgain(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	s, err := calendar.ParseSchedule("2026-10-24T22:00", "2026-10-25T04:00", "FREQ=DAILY;COUNT=3", zone)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	now := clockTime(t, "2026-10-24T12:00:00Z")
	from, to, _ := s.Next(now.Std())
	c := Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep, From: belfry.At(from), To: belfry.At(to), Schedule: string(text)}, now)
	f := func(at string, want belfry.Mode, next string, passed int) {
		t.Helper()
		var p []Passage
		c, p = PassWindows(c, clockTime(t, at))
		due := WindowDue(&c)
		if c.Mode != want || next == "" && due != 0 || next != "" && due != clockTime(t, next) || len(p) != passed {
			t.Errorf("at %s: %s, %d passages, next at %s; want %s, %d, next at %s", at, c.Mode, len(p), due, want, passed, next)
		}
	}
	f("2026-10-24T19:59:59Z", belfry.Managed, "2026-10-24T20:00:00Z", 0)
	f("2026-10-24T20:00:00Z", belfry.UnmanagedKeep, "2026-10-25T03:00:00Z", 1) // seven hours long in this night
	f("2026-10-25T03:00:00Z", belfry.Managed, "2026-10-25T21:00:00Z", 1)
	f("2026-10-25T23:00:00Z", belfry.UnmanagedKeep, "2026-10-26T03:00:00Z", 1) // its beginning was missed
	f("2026-10-27T00:00:00Z", belfry.UnmanagedKeep, "2026-10-27T03:00:00Z", 2) // closed, and open again
	f("2026-10-27T03:00:00Z", belfry.Managed, "", 1)
	if c.Windows != nil {
		t.Errorf("the window is over, and there: %+v", c.Windows)
	}
}

// TestNamedWindowsAgain: one window recurs nightly, another is once in the night in which the clocks are set back, and
// one is cancelled while it is open.
func TestNamedWindowsAgain(t *testing.T) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	s, err := calendar.ParseSchedule("2026-10-23T22:00", "2026-10-24T04:00", "FREQ=DAILY", vienna)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) belfry.Time { return clockTime(t, text) }
	c := Arrange(belfry.OperatorState{}, Order{Name: "backup", Mode: belfry.UnmanagedKeep, From: at("2026-10-23T20:00:00Z"), To: at("2026-10-24T02:00:00Z"), Schedule: string(text)}, at("2026-10-23T08:00:00Z"))
	c = Arrange(c, Order{Name: "update", Mode: belfry.UnmanagedDrop, From: at("2026-10-25T00:30:00Z"), To: at("2026-10-25T01:30:00Z")}, at("2026-10-23T08:00:00Z"))
	f := func(when string, want belfry.Mode, next string) {
		t.Helper()
		c, _ = PassWindows(c, at(when))
		if due := WindowDue(&c); c.Mode != want || next == "" && due != 0 || next != "" && due != at(next) {
			t.Errorf("at %s: %s, next at %s; want %s, next at %s", when, c.Mode, due, want, next)
		}
	}
	f("2026-10-23T19:59:59Z", belfry.Managed, "2026-10-23T20:00:00Z")
	f("2026-10-24T20:00:00Z", belfry.UnmanagedKeep, "2026-10-25T00:30:00Z") // not checked for a day
	f("2026-10-25T00:30:00Z", belfry.UnmanagedDrop, "2026-10-25T01:30:00Z")
	f("2026-10-25T01:30:00Z", belfry.UnmanagedKeep, "2026-10-25T03:00:00Z") // 04:00 after the change
	f("2026-10-25T03:00:00Z", belfry.Managed, "2026-10-25T21:00:00Z")
	f("2026-10-25T21:00:00Z", belfry.UnmanagedKeep, "2026-10-26T03:00:00Z")
	if c, _, changed := Rewind(c, at("2026-10-24T12:00:00Z")); !changed || c.Mode != belfry.Managed || WindowDue(&c) != at("2026-10-24T20:00:00Z") {
		t.Errorf("set back by a day: %s", brief(c))
	}
	c = Arrange(c, Order{Name: "backup"}, at("2026-10-25T22:00:00Z"))
	f("2026-10-25T22:00:00Z", belfry.Managed, "")
}

// TestWindowUnreadable: an unreadable schedule must not keep an item unmanaged.
func TestWindowUnreadable(t *testing.T) {
	c := Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep, From: 10, To: 20, Schedule: `{"from":"x"}`}, 10)
	if c.Mode != belfry.UnmanagedKeep {
		t.Fatalf("not open: %+v", c)
	}
	if c, _ = PassWindows(c, 20); c.Mode != belfry.Managed || c.Windows != nil {
		t.Errorf("%+v", c)
	}
}

// TestCareFields: what objectstatus shows of the management of an item and its ancestors.
func TestCareFields(t *testing.T) {
	f := func(n *meta.Node, field, want string) {
		t.Helper()
		var r row
		r.set(n)
		if got := r.Value(field).String(); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	view := &meta.Node{}
	n := &meta.Node{Parent: view}
	n.State.Status, n.State.Info = belfry.Critical, "Load 97"
	f(n, "info", "Load 97")
	f(n, "statusname", "Critical")
	f(n, "isunmanaged", "false")
	f(n, "unmanagefrom", "")
	n.State.OffHours, n.State.Status = true, belfry.Unknown
	f(n, "info", "outside its monitoring period")
	f(n, "statusname", "Unknown")

	view.State.Mode, n.State.Mode = belfry.UnmanagedKeep, belfry.UnmanagedKeep
	view.State.Operator = &belfry.OperatorState{Mode: belfry.UnmanagedKeep, From: 1_000_000, UnmanageNote: "around", Windows: []belfry.Window{{Mode: belfry.UnmanagedKeep, Open: true, From: 1_000_000, To: 2_000_000}}}
	f(n, "statusname", "Unknown (Unmanaged)")
	f(n, "unmanagefrom", "1970-01-01T00:00:01.000000Z")
	f(n, "unmanageto", "1970-01-01T00:00:02.000000Z")
	f(n, "unmanagenote", "around")
	n.State.Operator = &belfry.OperatorState{Mode: belfry.UnmanagedIfDown, From: 3_000_000, UnmanageNote: "own"}
	f(n, "unmanagefrom", "1970-01-01T00:00:03.000000Z")
	f(n, "unmanagenote", "own")
	f(n, "unmanageifred", "false") // the stronger one counts

	// A managed window is planned for later.
	n.State.Operator = &belfry.OperatorState{Mode: belfry.UnmanagedKeep, From: 3_000_000, Windows: []belfry.Window{{Mode: belfry.UnmanagedKeep, Open: true, AtOnce: true, From: 3_000_000}, {From: 5_000_000}}}
	f(n, "unmanagefrom", "1970-01-01T00:00:03.000000Z")
	f(n, "unmanageto", "1970-01-01T00:00:05.000000Z")
	n.State.Operator = &belfry.OperatorState{Windows: []belfry.Window{{Mode: belfry.UnmanagedKeep, Open: true, AtOnce: true, From: 3_000_000}, {Open: true, From: 5_000_000, To: 6_000_000}}}
	f(n, "unmanagefrom", "1970-01-01T00:00:06.000000Z")
	f(n, "unmanageto", "")

	n.State.Operator = &belfry.OperatorState{Ack: &belfry.Ack{Text: "seen", By: "ada", Time: 7_000_000}}
	f(n, "acknowledged", "true")
	f(n, "ack", "seen")
	f(n, "ackby", "ada")
	f(n, "acktime", "1970-01-01T00:00:07.000000Z")
	n.State.Operator = &belfry.OperatorState{Ack: &belfry.Ack{Text: "seen", Left: 1}} // waits for the error to come back
	f(n, "acknowledged", "false")
	f(n, "ack", "")
}

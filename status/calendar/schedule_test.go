package calendar

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"belfry"
)

func schedule(t testing.TB, from, to, rrule, in string) Schedule {
	t.Helper()
	s, err := ParseSchedule(from, to, rrule, zone(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func utcTime(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// checkOrder walks over some occurrences: they rise, do not overlap, are never empty, and agree with Open.
func checkOrder(t testing.TB, s Schedule, after time.Time, times int) {
	t.Helper()
	var last time.Time
	for range times {
		from, to, ok := s.Next(after)
		if !ok {
			return
		}
		if !from.Before(to) || from.Before(last) || !to.After(after) {
			t.Fatalf("%s: after %v comes %v to %v, and the one before ended at %v", s, after, from, to, last)
		}
		before := from.Add(-time.Nanosecond)
		if !s.Open(from) || !s.Open(to.Add(-time.Nanosecond)) || from.After(last) && !last.IsZero() && s.Open(before) {
			t.Fatalf("%s: %v to %v is not where it is open", s, from, to)
		}
		if f, e, ok := s.Next(from); !ok || !f.Equal(from) || !e.Equal(to) {
			t.Fatalf("%s: in %v to %v the next is %v to %v", s, from, to, f, e)
		}
		last, after = to, to
	}
}

func TestScheduleNext(t *testing.T) {
	var s Schedule
	f := func(after, from, to string) {
		t.Helper()
		gotFrom, gotTo, ok := s.Next(utcTime(t, after))
		text := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format("2006-01-02T15:04Z07:00")
		}
		if !ok {
			if from != "none" {
				t.Errorf("%s after %s: none, want %s to %s", s, after, from, to)
			}
			return
		}
		if text(gotFrom) != from || text(gotTo) != to {
			t.Errorf("%s after %s: %s to %s, want %s to %s", s, after, text(gotFrom), text(gotTo), from, to)
		}
		if open := !gotFrom.After(utcTime(t, after)); s.Open(utcTime(t, after)) != open {
			t.Errorf("%s at %s: open is %v", s, after, !open)
		}
	}
	s = schedule(t, "2026-01-05T08:00", "2026-01-05T18:00", "", "UTC")
	f("2026-01-01T00:00Z", "2026-01-05T08:00Z", "2026-01-05T18:00Z")
	f("2026-01-05T08:00Z", "2026-01-05T08:00Z", "2026-01-05T18:00Z")
	f("2026-01-05T17:59Z", "2026-01-05T08:00Z", "2026-01-05T18:00Z")
	f("2026-01-05T18:00Z", "none", "")
	s = schedule(t, "2026-01-05T08:00", "", "", "UTC")
	f("2026-01-01T00:00Z", "2026-01-05T08:00Z", "")
	f("2099-01-01T00:00Z", "2026-01-05T08:00Z", "")
	s = schedule(t, "", "2026-01-05T18:00", "", "UTC")
	f("2026-01-01T00:00Z", "", "2026-01-05T18:00Z")
	f("2026-01-05T18:00Z", "none", "")
	s = Schedule{}
	f("2026-01-05T18:00Z", "none", "")

	s = schedule(t, "2026-01-01T02:30", "2026-01-01T04:00", "FREQ=DAILY", "Europe/Berlin")
	f("2025-01-01T00:00Z", "2026-01-01T02:30+01:00", "2026-01-01T04:00+01:00")
	f("2026-03-28T03:00Z", "2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00") // 02:30 does not exist
	f("2026-03-29T02:00Z", "2026-03-30T02:30+02:00", "2026-03-30T04:00+02:00")
	f("2026-10-24T02:00Z", "2026-10-25T02:30+02:00", "2026-10-25T04:00+01:00") // two hours and a half
	f("2026-10-25T01:30Z", "2026-10-25T02:30+02:00", "2026-10-25T04:00+01:00")
	f("2026-10-25T03:00Z", "2026-10-26T02:30+01:00", "2026-10-26T04:00+01:00")
	s = schedule(t, "2026-01-01T01:00", "2026-01-01T02:30", "FREQ=DAILY", "Europe/Berlin")
	f("2026-03-29T00:00Z", "2026-03-29T01:00+01:00", "2026-03-29T03:00+02:00") // ends when the clocks jump over its end
	f("2026-10-24T23:00Z", "2026-10-25T01:00+02:00", "2026-10-25T02:30+02:00")
	f("2026-10-25T01:10Z", "2026-10-26T01:00+01:00", "2026-10-26T02:30+01:00") // the second 02:10: it is over
	s = schedule(t, "2026-01-01T02:10", "2026-01-01T02:50", "FREQ=DAILY", "Europe/Berlin")
	f("2026-03-28T03:00Z", "2026-03-30T02:10+02:00", "2026-03-30T02:50+02:00") // all of it is skipped
	s = schedule(t, "2026-01-01T00:00", "2026-01-02T00:00", "FREQ=DAILY", "Africa/Cairo")
	f("2026-04-23T12:00Z", "2026-04-23T00:00+02:00", "2026-04-24T01:00+03:00") // midnight does not exist
	f("2026-04-23T22:00Z", "2026-04-24T01:00+03:00", "2026-04-25T00:00+03:00")

	// Longer than a day, and a moment with a zone of its own.
	s = schedule(t, "2026-01-02T17:00Z", "2026-01-05T06:00+01:00", "FREQ=WEEKLY", "Europe/Berlin")
	f("2026-03-29T12:00Z", "2026-03-27T18:00+01:00", "2026-03-30T06:00+02:00")
	f("2026-03-30T04:00Z", "2026-04-03T18:00+02:00", "2026-04-06T06:00+02:00")
	s = schedule(t, "2026-01-02T17:00", "2026-01-03T17:00", "FREQ=WEEKLY;COUNT=2", "UTC")
	f("2026-01-10T16:59Z", "2026-01-09T17:00Z", "2026-01-10T17:00Z")
	f("2026-01-10T17:00Z", "none", "")
	s = schedule(t, "2026-01-02T00:30", "2026-01-02T01:00", "FREQ=DAILY;UNTIL=20260329T003000Z", "Europe/Berlin")
	f("2026-03-28T12:00Z", "2026-03-29T00:30+01:00", "2026-03-29T01:00+01:00")
	f("2026-03-29T12:00Z", "none", "")
}

func TestScheduleRefused(t *testing.T) {
	f := func(from, to, rrule, want string) {
		t.Helper()
		s, err := ParseSchedule(from, to, rrule, zone(t, "Europe/Berlin"))
		if err == nil || belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want) || !s.IsZero() {
			t.Errorf("%s to %s, %s: %v, %v; want %q", from, to, rrule, s, err, want)
		}
	}
	f("", "", "", "needs a beginning or an end")
	f("x", "2026-01-05T18:00", "", `"x" is not a date and time`)
	f("2026-01-05T18:00", "x", "", `"x" is not a date and time`)
	f("2026-01-05T18:00", "2026-01-05T18:00", "", "give a later end")
	f("2026-01-05T18:00", "2026-01-05T08:00", "", "give a later end")
	f("2026-01-05T18:00", "2026-01-05T17:00Z", "", "give a later end") // the same instant
	f("2026-03-29T02:10", "2026-03-29T02:50", "", "the clocks jump over it")
	f("2026-01-05T18:00", "", "FREQ=DAILY", "needs a beginning and an end")
	f("", "2026-01-05T18:00", "FREQ=DAILY", "needs a beginning and an end")
	f("2026-01-05T18:00", "2026-01-05T18:00", "FREQ=DAILY", "give a later end")
	f("2026-01-05T18:00", "2026-01-06T18:01", "FREQ=DAILY", "comes 1 days after that of 2026-01-05")
	f("2026-01-05T18:00", "2026-01-12T18:01", "FREQ=WEEKLY", "give an earlier end")
	f("2026-01-05T18:00", "2026-01-08T18:00", "FREQ=WEEKLY;BYDAY=MO,WE", "give an earlier end")
	f("2026-01-05T18:00", "2026-01-08T18:00", "FREQ=DAILY;INTERVAL=2;BYDAY=MO,WE", "comes 2 days after that of 2026-01-05")
	f("2026-01-08T18:00", "2026-01-10T18:01", "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,TH", "comes 2 days after that of 2026-01-27")
	f("2026-01-01T00:00", "2026-02-01T00:00", "FREQ=MONTHLY", "comes 28 days after that of 2026-02-01")
	f("2026-01-01T00:00", "2027-01-03T00:00", "FREQ=YEARLY", "the maximum is 366 days")
	f("2026-01-05T08:00", "2026-01-05T18:00", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never comes true")
	f("2026-01-05T08:00", "2026-01-05T18:00", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30,31", "never comes true")
	f("2026-01-05T08:00", "2026-01-05T18:00", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2", "never comes true")
	f("2026-01-05T08:00", "2026-01-05T18:00", "FREQ=DAILY;UNTIL=20260104", "never comes true")
	f("9999-12-31T23:00Z", "9999-12-31T23:59Z", "FREQ=DAILY", "years 1970 to 9999")
	if _, err := ParseSchedule("2026-01-05T18:00", "2026-01-06T18:00", "FREQ=DAILY", time.UTC); err != nil {
		t.Error("occurrences may touch:", err)
	}
}

// TestScheduleJSON pins the form that records keep, since they outlive the program that wrote them.
func TestScheduleJSON(t *testing.T) {
	f := func(s Schedule, want string) {
		t.Helper()
		data, err := json.Marshal(s)
		if err != nil || string(data) != want {
			t.Errorf("%s is %s (%v), want %s", s, data, err, want)
		}
		var again Schedule
		if err := json.Unmarshal(data, &again); err != nil || !again.Equal(s) || again.String() != s.String() {
			t.Errorf("%s comes back as %s (%v)", s, again, err)
		}
		at := utcTime(t, "2026-03-01T00:00Z")
		from, to, ok := s.Next(at)
		if f, e, o := again.Next(at); !f.Equal(from) || !e.Equal(to) || o != ok {
			t.Errorf("%s comes back with other occurrences", s)
		}
	}
	f(Schedule{}, `{}`)
	f(schedule(t, "2026-01-05T08:00", "", "", "UTC"), `{"from":"2026-01-05T08:00","timezone":"UTC"}`)
	f(schedule(t, "2026-10-25T01:30Z", "2026-10-25T03:00:30", "", "Europe/Berlin"),
		`{"from":"2026-10-25T01:30Z","to":"2026-10-25T03:00:30","timezone":"Europe/Berlin"}`)
	f(schedule(t, "2026-01-05T08:00Z", "2026-01-05T10:00", "byday=fr,mo;freq=weekly", "Europe/Berlin"),
		`{"from":"2026-01-05T09:00","to":"2026-01-05T10:00","rrule":"FREQ=WEEKLY;BYDAY=MO,FR","timezone":"Europe/Berlin"}`)
	f(schedule(t, "2026-01-05T08:00", "2026-01-05T10:00", "FREQ=WEEKLY", "UTC"),
		`{"from":"2026-01-05T08:00","to":"2026-01-05T10:00","rrule":"FREQ=WEEKLY","timezone":"UTC"}`) // without what the start adds
	local, err := ParseSchedule("2026-01-05T08:00", "", "", time.Local)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(local)
	var again Schedule
	if err := json.Unmarshal(data, &again); err != nil || again.Zone() != time.Local {
		t.Errorf("the zone of the machine comes back as %v (%v)", again.Zone(), err)
	}
	for _, bad := range []string{`{"from":"x","timezone":"UTC"}`, `{"from":"2026-01-05T08:00","timezone":"Nowhere"}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &again); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestScheduleString(t *testing.T) {
	f := func(s Schedule, want string) {
		t.Helper()
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
	f(Schedule{}, "no time")
	f(schedule(t, "2026-01-05T08:00", "", "", "UTC"), "from 2026-01-05T08:00, UTC")
	f(schedule(t, "", "2026-01-05T08:00", "", "UTC"), "until 2026-01-05T08:00, UTC")
	f(schedule(t, "2026-01-05T08:00", "2026-01-05T18:00", "FREQ=DAILY", "UTC"), "2026-01-05T08:00 to 2026-01-05T18:00, FREQ=DAILY, UTC")
}

// TestZoneName: a list of windows names the zone in which times were given, if that has a name.
func TestZoneName(t *testing.T) {
	f := func(s Schedule, want string) {
		t.Helper()
		if got := s.ZoneName(); got != want {
			t.Errorf("the zone of %s is called %q, want %q", s, got, want)
		}
	}
	f(Schedule{}, "")
	f(schedule(t, "2026-01-05T08:00", "", "", "Europe/Vienna"), "Europe/Vienna")
	f(schedule(t, "2026-01-05T08:00Z", "2026-01-05T18:00", "", "Europe/Vienna"), "Europe/Vienna")
	f(schedule(t, "2026-01-05T08:00+02:00", "", "", "Europe/Vienna"), "UTC")
	f(schedule(t, "2026-01-05T08:00Z", "2026-01-05T09:00Z", "FREQ=DAILY", "Europe/Vienna"), "Europe/Vienna")
	local, err := ParseSchedule("2026-01-05T08:00", "2026-01-05T18:00", "FREQ=DAILY", time.Local)
	if err != nil {
		t.Fatal(err)
	}
	f(local, "")
	text, err := json.Marshal(local)
	if err != nil {
		t.Fatal(err)
	}
	if rule, zone, ok := RuleAndZone(string(text)); !ok || rule != "FREQ=DAILY" || zone != "" {
		t.Errorf("listed as %q in %q", rule, zone)
	}
}

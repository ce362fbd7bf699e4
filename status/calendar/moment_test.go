package calendar

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, where the machine has none

	"belfry"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := ParseZone(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestMoment(t *testing.T) {
	in := func(name string) func(text, want, again string) {
		return func(text, want, again string) {
			t.Helper()
			m, err := ParseMoment(text)
			if err != nil {
				t.Error(err)
				return
			}
			if got := m.In(zone(t, name)).Format(time.RFC3339); got != want {
				t.Errorf("%s in %s is %s, want %s", text, name, got, want)
			}
			if m.String() != again || m.IsZero() {
				t.Errorf("%s is written %q, want %q", text, m, again)
			}
		}
	}
	f := in("Europe/Berlin")
	f("2026-01-05T08:00", "2026-01-05T08:00:00+01:00", "2026-01-05T08:00")
	f(" 2026-07-05T08:00:59 ", "2026-07-05T08:00:59+02:00", "2026-07-05T08:00:59")
	f("2026-07-05T08:00Z", "2026-07-05T10:00:00+02:00", "2026-07-05T08:00Z")
	f("2026-07-05T08:00:01.123456Z", "2026-07-05T10:00:01+02:00", "2026-07-05T08:00:01Z")
	f("2026-07-05T08:00-05:30", "2026-07-05T15:30:00+02:00", "2026-07-05T13:30Z")
	f("2028-02-29T23:59:59+14:00", "2028-02-29T10:59:59+01:00", "2028-02-29T09:59:59Z")
	// From 02:00 the clocks jump to 03:00.
	f("2026-03-29T01:59", "2026-03-29T01:59:00+01:00", "2026-03-29T01:59")
	f("2026-03-29T02:00", "2026-03-29T03:00:00+02:00", "2026-03-29T02:00")
	f("2026-03-29T02:30", "2026-03-29T03:00:00+02:00", "2026-03-29T02:30")
	f("2026-03-29T03:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:00")
	f("2026-03-29T03:01", "2026-03-29T03:01:00+02:00", "2026-03-29T03:01")
	// From 03:00 they go back to 02:00.
	f("2026-10-25T01:59", "2026-10-25T01:59:00+02:00", "2026-10-25T01:59")
	f("2026-10-25T02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00")
	f("2026-10-25T02:30", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30")
	f("2026-10-25T03:00", "2026-10-25T03:00:00+01:00", "2026-10-25T03:00")
	f("2026-10-25T01:30Z", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30Z") // the second 02:30
	f = in("Australia/Lord_Howe")                                            // half an hour
	f("2026-10-04T02:15", "2026-10-04T02:30:00+11:00", "2026-10-04T02:15")
	f("2026-04-05T01:45", "2026-04-05T01:45:00+11:00", "2026-04-05T01:45")
	f = in("Pacific/Apia") // the 30th was skipped
	f("2011-12-30T12:00", "2011-12-31T00:00:00+14:00", "2011-12-30T12:00")
	f = in("UTC")
	f("1970-01-01T00:00", "1970-01-01T00:00:00Z", "1970-01-01T00:00")
	f("9999-12-31T23:59:59", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59")
}

func TestMomentRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := ParseMoment(text)
		if err == nil || belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write it as 2026-") {
			t.Errorf("%q: %v, want %q and the form", text, err, want)
		}
	}
	f("", `"" is not a date and time`)
	f("tomorrow", `"tomorrow"`)
	f("2026-02-30T10:00", "February 2026 has no day 30")
	f("2026-02-29T10:00", "February 2026 has no day 29")
	f("2026-04-31T10:00", "April 2026 has no day 31")
	f("2026-01-00T10:00", "January 2026 has no day 0")
	f("2026-13-01T10:00", "no month 13")
	f("2026-00-01T10:00", "no month 0")
	f("2026-01-01T24:00", "00:00 of the next day")
	f("2026-01-01T25:00", "hours go to 23")
	f("2026-01-01T10:60", "minutes go to 59")
	f("2026-01-01T10:00:60", "seconds go to 59")
	f("1969-12-31T10:00", "years begin with 1970")
	f("1970-01-01T10:00+14:00", `"+14:00" after it is no zone`)
	f("9999-12-31T23:59-01:00", "no zone")
	f("2026-01-01", "is not a date")
	f("2026-01-01 10:00", "is not a date")
	f("2026-1-1T10:00", "is not a date")
	f("2026-01-01T10:00z", `"z" after it`)
	f("2026-01-01T10:00+0100", "no zone")
	f("2026-01-01T10:00+15:00", "no zone")
	f("2026-01-01T10:00+01:60", "no zone")
	f("2026-01-01T10:00:0", `":0" after it`)
	f("2026-01-01T10:00:00.", `"." after it`)
	f("2026-01-01T10:00 Europe/Berlin", "no zone")
	f("２０２６-01-01T10:00", "is not a date")
	f(strings.Repeat("9", 1000), `9" is not`)
	if _, err := ParseMoment(strings.Repeat("9", 1000)); len(err.Error()) > 300 {
		t.Error("a long value is repeated in full")
	}
}

func TestZoneRefused(t *testing.T) {
	f := func(name string) {
		t.Helper()
		if _, err := ParseZone(name, time.UTC); belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), "Europe/Vienna") {
			t.Errorf("%q: %v", name, err)
		}
	}
	f("Local")
	f("Europe")
	f("Europe/Bärlin")
	f("../../etc/passwd")
	f("/etc/localtime")
	f("UTC\x00")
	f(strings.Repeat("a/", 100))
	if z, err := ParseZone("", time.UTC); z != time.UTC || err != nil {
		t.Error("without a name it is the server's", z, err)
	}
}

// FuzzMoment holds the parser to that of the standard library, and what it prints to what it reads.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"2026-03-29T02:30", "2026-03-29T02:30:15Z", "2026-02-30T24:00+14:00", "2026-03-29T02:30:15.5-00:30"} {
		f.Add(text)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMoment(text)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadParameter {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseMoment(m.String())
		if err != nil || again != m {
			t.Fatalf("%q is written %q, which is %v, %v", text, m, again, err)
		}
		std, err := parseStd(strings.TrimSpace(text))
		if err != nil {
			t.Fatalf("%q is %v, but the standard library says %v", text, m, err)
		}
		if m.instant && !m.In(berlin).Equal(std.Truncate(time.Second)) || !m.instant && civilOf(std) != m.wall {
			t.Fatalf("%q is %v, but for the standard library %v", text, m, std)
		}
		if at := m.In(berlin); m.instant && at.Unix() != int64(m.wall) || !m.instant && civilOf(at) < m.wall {
			t.Fatalf("%q is %v", text, at)
		}
	})
}

func parseStd(text string) (t time.Time, err error) {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00"} {
		if t, err = time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return t, err
}

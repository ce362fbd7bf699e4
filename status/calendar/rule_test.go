package calendar

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
)

func TestRuleDays(t *testing.T) {
	// f compares the first days after a start, as many as are wanted; a last "-" means that there are no more.
	f := func(start, text string, want ...string) {
		t.Helper()
		m, err := ParseMoment(start + "T08:00")
		if err != nil {
			t.Fatal(err)
		}
		r, err := parseRule(text)
		if err != nil {
			t.Error(err)
			return
		}
		c := r.startingAt(m.wall, time.UTC)
		var got []string
		for d := c.first; len(got) < len(want); d++ {
			var ok bool
			if d, ok = c.next(d); !ok {
				got = append(got, "-")
				break
			}
			got = append(got, fmt.Sprintf("%.10s", d.start()))
		}
		if g, w := strings.Join(got, " "), strings.Join(want, " "); g != w {
			t.Errorf("%s from %s: %s, want %s", text, start, g, w)
		}
	}
	f("2026-02-27", "FREQ=DAILY", "2026-02-27", "2026-02-28", "2026-03-01")
	f("2026-02-27", "FREQ=DAILY;INTERVAL=3;COUNT=2", "2026-02-27", "2026-03-02", "-")
	f("2026-02-27", "FREQ=DAILY;INTERVAL=3;BYMONTH=3", "2026-03-02", "2026-03-05")
	f("2026-02-27", "FREQ=DAILY;BYMONTHDAY=-1,1", "2026-02-28", "2026-03-01", "2026-03-31")
	f("2026-02-27", "FREQ=DAILY;BYDAY=SU;UNTIL=20260308", "2026-03-01", "2026-03-08", "-")
	f("2026-02-27", "FREQ=DAILY;UNTIL=20260228T080000", "2026-02-27", "2026-02-28", "-")
	f("2026-02-27", "FREQ=DAILY;UNTIL=20260228T075959", "2026-02-27", "-")
	f("2026-02-27", "FREQ=DAILY;UNTIL=20260228T080000Z", "2026-02-27", "2026-02-28", "-")
	f("2026-02-27", "FREQ=DAILY;UNTIL=20260226", "-")
	f("2026-01-07", "FREQ=WEEKLY", "2026-01-07", "2026-01-14")
	f("2026-01-07", "FREQ=WEEKLY;BYDAY=MO,WE", "2026-01-07", "2026-01-12", "2026-01-14")
	f("2026-01-07", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU", "2026-01-11", "2026-01-19", "2026-01-25")
	f("2026-01-07", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU", "2026-01-18", "2026-01-19", "2026-02-01")
	f("2026-01-07", "FREQ=WEEKLY;BYMONTH=3", "2026-03-04", "2026-03-11")
	f("2026-01-31", "FREQ=MONTHLY", "2026-01-31", "2026-03-31", "2026-05-31") // months without that day are skipped
	f("2026-01-31", "FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31", "2026-02-28", "2026-03-31")
	f("2026-01-02", "FREQ=MONTHLY;BYDAY=1MO,-1FR", "2026-01-05", "2026-01-30", "2026-02-02", "2026-02-27")
	f("2026-01-02", "FREQ=MONTHLY;BYDAY=5TH", "2026-01-29", "2026-04-30")
	f("2026-01-02", "FREQ=MONTHLY;INTERVAL=6;BYDAY=MO;COUNT=5", "2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26", "2026-07-06", "-")
	f("2026-01-02", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2026-02-13", "2026-03-13", "2026-11-13")
	f("2026-01-02", "FREQ=YEARLY", "2026-01-02", "2027-01-02")
	f("2024-02-29", "FREQ=YEARLY", "2024-02-29", "2028-02-29")
	f("2026-01-02", "FREQ=YEARLY;BYMONTH=3,4", "2026-03-02", "2026-04-02", "2027-03-02")
	f("2026-01-02", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2026-03-29", "2027-03-28")
	f("2026-01-02", "FREQ=YEARLY;BYDAY=20MO,-1MO", "2026-05-18", "2026-12-28", "2027-05-17")
	f("2026-01-02", "FREQ=YEARLY;BYMONTHDAY=13", "2026-01-13", "2026-02-13")
	f("2026-01-02", "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", "-") // 2026, 2030, …: none is a leap year
	f("2026-01-02", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "-")
	f("2096-02-29", "FREQ=YEARLY", "2096-02-29", "2104-02-29")
}

func TestRuleText(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		r, err := parseRule(text)
		if err != nil || r.String() != want {
			t.Errorf("%s is %v (%v), want %s", text, r, err, want)
		}
	}
	f("FREQ=DAILY", "FREQ=DAILY")
	f(" rrule:freq=daily;interval=1 ", "FREQ=DAILY")
	f("BYDAY=FR,MO,fr,-1SU,1SU;FREQ=MONTHLY;WKST=MO", "FREQ=MONTHLY;BYDAY=-1SU,MO,FR,1SU")
	f("WKST=SU;BYMONTHDAY=-1,31,+1;UNTIL=20261231;BYMONTH=12,1;FREQ=YEARLY;INTERVAL=2",
		"FREQ=YEARLY;INTERVAL=2;UNTIL=20261231;BYMONTH=1,12;BYMONTHDAY=1,31,-1;WKST=SU")
	f("FREQ=WEEKLY;UNTIL=20261231T235959Z", "FREQ=WEEKLY;UNTIL=20261231T235959Z")
	f("FREQ=WEEKLY;UNTIL=20261231T000000", "FREQ=WEEKLY;UNTIL=20261231T000000")
	f("FREQ=WEEKLY;COUNT=10000", "FREQ=WEEKLY;COUNT=10000")
}

func TestRuleRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parseRule(text)
		if err == nil || belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f("", "is not of the form")
	f("daily", "FREQ=WEEKLY;BYDAY=MO,FR")
	f("FREQ=DAILY;", "is not of the form")
	f("FREQ=", "is not of the form")
	f("INTERVAL=2", "has no FREQ")
	f("FREQ=DAILY;FREQ=DAILY", "FREQ is there twice")
	f("FREQ=DALY", "nearest is DAILY")
	f("FREQ=SECONDLY", "windows recur by days")
	f("FREQ=MINUTELY", "windows recur by days")
	f("FREQ=HOURLY", "windows recur by days")
	f("FREQ=DAILY;BYDAYS=MO", "nearest is BYDAY")
	f("FREQ=DAILY;INTERVALL=2", "nearest is INTERVAL")
	f("FREQ=DAILY;BYSETPOS=1", "the parts are FREQ, INTERVAL")
	f("FREQ=DAILY;BYHOUR=1", `no part "BYHOUR"`)
	f("FREQ=DAILY;INTERVAL=0", "from 1 to")
	f("FREQ=DAILY;INTERVAL=-1", "from 1 to")
	f("FREQ=DAILY;INTERVAL=+1", "from 1 to")
	f("FREQ=DAILY;INTERVAL=99999999999999999999", "from 1 to")
	f("FREQ=YEARLY;INTERVAL=11", "from 1 to 10, got 11")
	f("FREQ=DAILY;COUNT=0", "from 1 to 10000")
	f("FREQ=DAILY;COUNT=10001", "from 1 to 10000")
	f("FREQ=DAILY;COUNT=2;UNTIL=20260101", "leave out one")
	f("FREQ=DAILY;UNTIL=2026-01-01", "UNTIL is a day as 20261231")
	f("FREQ=DAILY;UNTIL=20260230", "UNTIL is a day as 20261231")
	f("FREQ=DAILY;UNTIL=20260101T", "UNTIL is a day as 20261231")
	f("FREQ=DAILY;UNTIL=20260101T000000X", "UNTIL is a day as 20261231")
	f("FREQ=DAILY;BYMONTH=13", "from 1 to 12")
	f("FREQ=DAILY;BYMONTH=1,,2", "from 1 to 12")
	f("FREQ=DAILY;BYMONTHDAY=0", "from 1 to 31")
	f("FREQ=DAILY;BYMONTHDAY=32", "from 1 to 31")
	f("FREQ=DAILY;BYMONTHDAY=-+1", "from 1 to 31")
	f("FREQ=WEEKLY;BYMONTHDAY=1", "no meaning in a WEEKLY rule")
	f("FREQ=WEEKLY;BYDAY=1MO", "no meaning in a WEEKLY rule")
	f("FREQ=DAILY;BYDAY=-1MO", "no meaning in a DAILY rule")
	f("FREQ=MONTHLY;BYDAY=6MO", "1 to 5")
	f("FREQ=MONTHLY;BYDAY=-6MO", "1 to 5")
	f("FREQ=YEARLY;BYMONTH=1;BYDAY=6MO", "1 to 5")
	f("FREQ=YEARLY;BYDAY=54MO", `got "54MO"`)
	f("FREQ=YEARLY;BYDAY=0MO", `got "0MO"`)
	f("FREQ=WEEKLY;BYDAY=MON", `got "MON"`)
	f("FREQ=WEEKLY;BYDAY=X", `got "X"`)
	f("FREQ=WEEKLY;WKST=XX", "write one of MO")
	f("FREQ=WEEKLY;BYDAY="+strings.Repeat("MO,", 1000)+"MO", "too long")
}

// FuzzRule parses a rule, prints it and parses it again, and builds a recurring window from it.
func FuzzRule(f *testing.F) {
	for _, text := range []string{
		"FREQ=DAILY;INTERVAL=3;COUNT=5", "FREQ=WEEKLY;BYDAY=MO,FR;WKST=SU", "FREQ=MONTHLY;BYDAY=1MO,-1FR;UNTIL=20301231",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1,30", "FREQ=YEARLY;BYDAY=53MO;UNTIL=20301231T120000Z",
	} {
		f.Add(text, uint16(20), uint32(90*60))
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, start uint16, length uint32) {
		r, err := parseRule(text)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadParameter {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := parseRule(r.String()); err != nil || again.String() != r.String() {
			t.Fatalf("%q is %s, which is %s, %v", text, r, again, err)
		}
		from := day(start).start() + 2*anHour
		s, err := ParseSchedule(from.String(), (from + civil(length)).String(), text, berlin)
		if err != nil {
			return
		}
		checkOrder(t, s, from.in(berlin).Add(-time.Hour), 5)
	})
}

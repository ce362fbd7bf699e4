package query

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, where the machine has none

	"belfry"
)

func TestTime(t *testing.T) {
	now := belfry.At(time.Date(2026, 3, 31, 12, 34, 56, 789_012_000, time.UTC)) // a Tuesday
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	in := func(zone *time.Location) func(text, want string) {
		return func(text, want string) {
			t.Helper()
			got, err := ParseTime(text, now, zone)
			if err != nil || got.String() != want {
				t.Errorf("%s is %v (%v), want %s", text, got, err, want)
			}
		}
	}
	f := in(time.UTC)
	f("NOW", "2026-03-31T12:34:56.789012Z")
	f("now", "2026-03-31T12:34:56.789012Z")
	f(" NOW-1HOUR ", "2026-03-31T11:34:56.789012Z")
	f("NOW+90MINUTES", "2026-03-31T14:04:56.789012Z")
	f("NOW-7DAYS/DAY", "2026-03-24T00:00:00.000000Z")
	f("NOW/DAY-7DAYS", "2026-03-24T00:00:00.000000Z")
	f("NOW/YEAR", "2026-01-01T00:00:00.000000Z")
	f("NOW/MONTH", "2026-03-01T00:00:00.000000Z")
	f("NOW/WEEK", "2026-03-30T00:00:00.000000Z")
	f("NOW/HOUR", "2026-03-31T12:00:00.000000Z")
	f("NOW/MINUTE", "2026-03-31T12:34:00.000000Z")
	f("NOW/SECOND", "2026-03-31T12:34:56.000000Z")
	f("NOW/MILLISECOND", "2026-03-31T12:34:56.789000Z")
	f("NOW-1MONTH/DAY", "2026-02-28T00:00:00.000000Z")
	f("NOW+1MONTH/DAY", "2026-04-30T00:00:00.000000Z")
	f("NOW-25MONTHS/DAY", "2024-02-29T00:00:00.000000Z")
	f("NOW-1YEAR/DAY", "2025-03-31T00:00:00.000000Z")
	f("NOW-500MILLIS", "2026-03-31T12:34:56.289012Z")
	f("2026-11-15", "2026-11-15T00:00:00.000000Z")
	f("2026-11-15T08:30", "2026-11-15T08:30:00.000000Z")
	f("2026-11-15 08:30:15", "2026-11-15T08:30:15.000000Z")
	f("2026-11-15T08:30:15.1234567Z", "2026-11-15T08:30:15.123456Z")
	f("2026-11-15t08:30:15z", "2026-11-15T08:30:15.000000Z")
	f("2026-11-15T08:30:00-05:30", "2026-11-15T14:00:00.000000Z")
	f("2026-11-15T08:30:00Z+1DAY", "2026-11-16T08:30:00.000000Z")
	f("2026-11-15+1DAY", "2026-11-16T00:00:00.000000Z")
	f("2026-11-15T08:30+1DAY", "2026-11-16T08:30:00.000000Z")
	f("2026-11-15T08:30:00+0130", "2026-11-15T07:00:00.000000Z")
	f("2026-11-15T08:30:00.5-01", "2026-11-15T09:30:00.500000Z")
	f("2026-11-15T08:30+01+1DAY", "2026-11-16T07:30:00.000000Z")
	f("2026-11-15T08:30:00-0100/DAY", "2026-11-15T00:00:00.000000Z")
	f("2026-11-15T08:30+01DAY", "2026-11-16T08:30:00.000000Z")
	f("2026-11-15T08:30-0100DAYS", "2026-08-07T08:30:00.000000Z")
	f("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z") // a leap second, as in rows that are sent
	f("2017-01-01T00:59:60.25+01:00", "2017-01-01T00:00:00.250000Z")

	f = in(kolkata) // five and a half hours ahead
	f("2026-11-15", "2026-11-14T18:30:00.000000Z")
	f("2026-11-15T08:30:00Z", "2026-11-15T08:30:00.000000Z")
	f("NOW/DAY", "2026-03-30T18:30:00.000000Z")
	f("NOW/HOUR", "2026-03-31T12:30:00.000000Z")

	bad := func(text string) {
		t.Helper()
		if got, err := ParseTime(text, now, time.UTC); err == nil || belfry.CodeOf(err) != belfry.BadParameter {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "yesterday", "NOW-", "NOW-1", "NOW-HOUR", "NOW/", "NOW/1DAY", "NOW 1HOUR", "NOW-1HOURX", "NOW*2", "2026-13-01", "2026-02-30",
		"2026-11-15T", "2026-11-15T8:30", "2026-11-15T25:00", "2026-11-15T08:30:00.", "2026-11-15T08:30:00.1234567890", "1700000000",
		"2026-11-15T08:30:60Z", "2026-11-15T23:59:61Z", "2026-11-15T23:59:60+01:00", "2026-11-15T08:30+25", "2026-11-15T08:30+010", "2026-11-15T08:30+01:", "2026-11-15+01",
		"NOW+9999999999DAYS", "NOW+999999999YEARS", "NOW+999999999HOURS", "NOW-3000YEARS", "NOW" + strings.Repeat("+1DAY", 17), "NOW-1ſ", "ΝOW",
	} {
		bad(text)
	}
}

func TestSpan(t *testing.T) {
	f := func(text string, want span) {
		t.Helper()
		got, isRange, err := parseSpan(text)
		if err != nil || !isRange || got != want {
			t.Errorf("%s is %+v (%v, %v), want %+v", text, got, isRange, err, want)
		}
	}
	f("[a TO b]", span{low: "a", high: "b"})
	f(" {a to b} ", span{low: "a", high: "b", openLow: true, openHigh: true})
	f("[a TO b}", span{low: "a", high: "b", openHigh: true})
	f("{* TO b]", span{high: "b", openLow: true})
	f("[2026-11-15 08:30 TO *]", span{low: "2026-11-15 08:30"})
	for _, text := range []string{"[", "[]", "[a b]", "[a TO b", "[a TO b]]", "[TO]", "[ıııııı TO"} {
		if _, isRange, err := parseSpan(text); !isRange || err == nil {
			t.Errorf("%s is taken for a range", text)
		}
	}
	for _, text := range []string{"", "a TO b", "(a TO b)"} {
		if _, isRange, err := parseSpan(text); isRange || err != nil {
			t.Errorf("%s is taken for a range: %v", text, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, s := range []string{"1", "-1", "+1", "1.5", ".5", "5.", "1e3", "1E-3", "-1.5e+10"} {
		if !isNumber(s) {
			t.Errorf("%s is a number", s)
		}
	}
	for _, s := range []string{"", "-", ".", "e5", "1e", "1e+", "0x10", "1_000", "NaN", "Inf", " 1", "1 ", "1,5", "--1", "1.2.3", "١"} {
		if isNumber(s) {
			t.Errorf("%q is not a number", s)
		}
	}
}

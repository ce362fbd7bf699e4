package calendar

import (
	"time"

	"belfry"
)

// civil is a wall-clock time, in seconds since 1970-01-01T00:00 on that clock. It has no zone, so adding a day always
// results in the same time of the next day.
type civil int64

// day is a date: days since 1970-01-01.
type day int

const (
	aMinute civil = 60
	anHour        = 60 * aMinute
	aDay          = 24 * anHour
)

// civilOf returns the wall-clock time of t in its zone.
func civilOf(t time.Time) civil {
	_, offset := t.Zone()
	return civil(t.Unix()) + civil(offset)
}

// in returns the first instant at which clocks in the zone show c or later. A time that the clocks skip becomes the
// moment at which they jump; a time that they show twice is the first of the two. This keeps the order: a later
// wall-clock time is never an earlier instant, so an interval never ends before it begins, however clocks change in it.
func (c civil) in(zone *time.Location) time.Time {
	const maxOffset = 26 * anHour // no zone has ever been further from UTC
	t := time.Unix(int64(c-maxOffset), 0).In(zone)
	for {
		_, offset := t.Zone()
		start, end := belfry.SameOffset(t)
		at := time.Unix(int64(c)-int64(offset), 0).In(zone)
		if at.Before(start) {
			at = start
		}
		if end.IsZero() || at.Before(end) {
			return at
		}
		t = end
	}
}

// inRange reports whether c is in a year that a Moment can be written in.
func (c civil) inRange() bool {
	const end civil = 253_402_300_800 // 10000-01-01
	return c >= 0 && c < end
}

func (c civil) day() day { return day(floorDiv(int64(c), int64(aDay))) }

// clock returns the time of the day.
func (c civil) clock() civil { return c - c.day().start() }

// std returns a time.Time with the fields of c; its zone has no meaning.
func (c civil) std() time.Time { return time.Unix(int64(c), 0).UTC() }

// String omits seconds if they are zero.
func (c civil) String() string {
	if c%aMinute == 0 {
		return c.std().Format("2006-01-02T15:04")
	}
	return c.std().Format("2006-01-02T15:04:05")
}

func (d day) start() civil { return civil(d) * aDay }

func (d day) date() (year int, month time.Month, dayOfMonth int) { return d.start().std().Date() }

func (d day) weekday() time.Weekday { return d.start().std().Weekday() }

// dayOf accepts fields out of range, as time.Date does: day 0 is the last day of the month before.
func dayOf(year int, month time.Month, dayOfMonth int) day {
	return civil(time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC).Unix()).day()
}

func daysIn(year int, month time.Month) int {
	_, _, last := dayOf(year, month+1, 0).date()
	return last
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

package status

import "time"

// civil is what a clock on the wall shows, in seconds since it showed 1970-01-01T00:00. It belongs to no zone, so that
// adding a day to it always gives the same time of the next day.
type civil int64

// day is a date: days since 1970-01-01.
type day int

const (
	aMinute civil = 60
	anHour        = 60 * aMinute
	aDay          = 24 * anHour
)

// civilOf is what the clocks of the zone of t show at t.
func civilOf(t time.Time) civil {
	_, offset := t.Zone()
	return civil(t.Unix()) + civil(offset)
}

// in is the moment at which the clocks of a zone reach c: the first at which they show c or later. A time that they
// skip is thus the moment at which they jump over it, and of a time that they show twice it is the first. The rule
// never turns an order around: what is later on the wall is never earlier in truth, so that a stretch does not end
// before it begins, whatever the clocks do in it.
func (c civil) in(zone *time.Location) time.Time {
	const furthest = 26 * anHour // no zone has ever been further from UTC
	t := time.Unix(int64(c-furthest), 0).In(zone)
	for {
		_, offset := t.Zone()
		start, end := t.ZoneBounds()
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

// inRange tells whether c is in a year that a Moment can be written in.
func (c civil) inRange() bool {
	const end civil = 253_402_300_800 // 10000-01-01
	return c >= 0 && c < end
}

func (c civil) day() day { return day(floorDiv(int64(c), int64(aDay))) }

// clock is the time of the day.
func (c civil) clock() civil { return c - c.day().start() }

// std has the fields of c; the zone of the result means nothing.
func (c civil) std() time.Time { return time.Unix(int64(c), 0).UTC() }

// String leaves out seconds that are none.
func (c civil) String() string {
	if c%aMinute == 0 {
		return c.std().Format("2006-01-02T15:04")
	}
	return c.std().Format("2006-01-02T15:04:05")
}

func (d day) start() civil { return civil(d) * aDay }

func (d day) date() (year int, month time.Month, dayOfMonth int) { return d.start().std().Date() }

func (d day) weekday() time.Weekday { return d.start().std().Weekday() }

// dayOf takes fields that are out of range as time.Date does: day 0 is the last of the month before.
func dayOf(year int, month time.Month, dayOfMonth int) day {
	return civil(time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC).Unix()).day()
}

// daysIn is the length of a month.
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

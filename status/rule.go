package status

import (
	"slices"
	"time"
)

// frequency is the unit in which a rule counts.
type frequency uint8

const (
	daily frequency = iota
	weekly
	monthly
	yearly
)

// rule is a recurrence rule as written. Every part but the interval is a condition that a day meets or not, which is
// all that the parts we take amount to.
type rule struct {
	freq      frequency
	interval  int
	count     int // 0: no such part, here and below
	until     until
	months    uint16 // bit m: BYMONTH has m
	monthDays uint32 // bit d: BYMONTHDAY has d
	fromEnd   uint32 // bit d: BYMONTHDAY has -d
	weekdays  []weekday
	weekStart time.Weekday
}

// weekday is a value of BYDAY. With a number it is one of the month or year: 1MO the first Monday, -1FR the last Friday.
type weekday struct {
	number int
	day    time.Weekday
}

// until is the last moment at which an occurrence may begin; a date alone is the whole day.
type until struct {
	Moment
	date bool
}

// recurrence finds the days on which a rule comes true that begins on a certain day.
type recurrence struct {
	rule
	first, last day
}

// longestRule is how long a rule goes on by itself. It bounds every search, so that a rule which never comes true is
// found out at once.
const longestRule = 200 * 366

// from completes a rule by what it leaves to the day on which it starts.
func (r rule) from(start civil, zone *time.Location) recurrence {
	c := recurrence{r, start.day(), start.day() + longestRule}
	_, month, date := c.first.date()
	noDays := r.monthDays == 0 && r.fromEnd == 0 && len(r.weekdays) == 0
	switch {
	case r.freq == weekly && noDays:
		c.weekdays = []weekday{{day: c.first.weekday()}}
	case r.freq == monthly && noDays, r.freq == yearly && noDays:
		c.monthDays = 1 << date
		if r.freq == yearly && r.months == 0 {
			c.months = 1 << month
		}
	}
	if !r.until.IsZero() {
		last := r.until.local(zone)
		if !r.until.date && last.clock() < start.clock() {
			last -= aDay
		}
		c.last = min(c.last, last.day())
	}
	if r.count > 0 {
		c.last = c.nth(r.count)
	}
	return c
}

// nth is the day on which the rule comes true for the n-th time, or its last day if it never does so often.
func (c *recurrence) nth(n int) day {
	d, ok := c.next(c.first)
	for ; ok && n > 1; n-- {
		d, ok = c.next(d + 1)
	}
	return min(d, c.last)
}

// next is the first day from d on, on which the rule comes true.
func (c *recurrence) next(d day) (day, bool) {
	d = max(d, c.first)
	for d <= c.last {
		ahead := c.ahead(d)
		if ahead == d {
			if c.matches(d) {
				return d, true
			}
			ahead = d + 1
		}
		d = ahead
	}
	return d, false
}

// ahead skips days that cannot be meant because of the interval or the month. It gives d itself if that may be.
func (c *recurrence) ahead(d day) day {
	year, month, _ := d.date()
	if c.months != 0 && c.months&(1<<month) == 0 {
		return dayOf(year, month+1, 1)
	}
	if c.interval == 1 {
		return d
	}
	firstYear, firstMonth, _ := c.first.date()
	switch c.freq {
	case daily:
		return d + day(c.missing(int(d-c.first)))
	case weekly:
		if n := c.missing(c.week(d) - c.week(c.first)); n > 0 {
			return day((c.week(d)+n)*7) + c.weekShift()
		}
	case monthly:
		if n := c.missing((year-firstYear)*12 + int(month-firstMonth)); n > 0 {
			return dayOf(year, month+time.Month(n), 1)
		}
	case yearly:
		if n := c.missing(year - firstYear); n > 0 {
			return dayOf(year+n, time.January, 1)
		}
	}
	return d
}

// missing is how many units are still to go to the next multiple of the interval.
func (c *recurrence) missing(passed int) int { return (c.interval - passed%c.interval) % c.interval }

// week numbers weeks by the day on which they start.
func (c *recurrence) week(d day) int { return int(floorDiv(int64(d-c.weekShift()), 7)) }

// weekShift is the first day of week 0. Day 0 was a Thursday.
func (c *recurrence) weekShift() day { return day(c.weekStart - time.Thursday) }

// matches tells whether a day meets the conditions that ahead has not looked at.
func (c *recurrence) matches(d day) bool {
	year, month, date := d.date()
	length := daysIn(year, month)
	if c.monthDays != 0 || c.fromEnd != 0 {
		if c.monthDays&(1<<date) == 0 && c.fromEnd&(1<<(length+1-date)) == 0 {
			return false
		}
	}
	if len(c.weekdays) == 0 {
		return true
	}
	if c.freq == yearly && c.months == 0 { // numbers count in the year
		begin, end := dayOf(year, time.January, 1), dayOf(year+1, time.January, 1)
		date, length = int(d-begin)+1, int(end-begin)
	}
	return slices.ContainsFunc(c.weekdays, func(w weekday) bool {
		return w.day == d.weekday() && (w.number == 0 || w.number == (date-1)/7+1 || w.number == -((length-date)/7+1))
	})
}

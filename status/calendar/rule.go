package calendar

import (
	"slices"
	"time"
)

// frequency is the unit of a rule's interval.
type frequency uint8

const (
	daily frequency = iota
	weekly
	monthly
	yearly
)

// rule is a recurrence rule as written. Every part that we support, except the interval, is a condition on a day.
type rule struct {
	freq      frequency
	interval  int
	count     int // 0: no such part; the same for the fields below
	until     until
	months    uint16 // bit m: BYMONTH has m
	monthDays uint32 // bit d: BYMONTHDAY has d
	fromEnd   uint32 // bit d: BYMONTHDAY has -d
	weekdays  []weekday
	weekStart time.Weekday
}

// weekday is a value of BYDAY. With a number it is a weekday of the month or year: 1MO is the first Monday, -1FR the
// last Friday.
type weekday struct {
	number int
	day    time.Weekday
}

// until is the last time at which an occurrence may begin; a date alone includes the whole day.
type until struct {
	Moment
	date bool
}

// recurrence finds the days on which a rule matches, from a first day on.
type recurrence struct {
	rule
	first, last day
}

// maxRuleDays is how long a rule without an end continues. It limits every search, so that a rule that never matches is
// detected at once.
const maxRuleDays = 200 * 366

// startingAt completes a rule with the parts that it takes from its first day.
func (r rule) startingAt(start civil, zone *time.Location) recurrence {
	c := recurrence{r, start.day(), start.day() + maxRuleDays}
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

// nth returns the day of the n-th match, or the last day of the rule if there are fewer.
func (c *recurrence) nth(n int) day {
	d, ok := c.next(c.first)
	for ; ok && n > 1; n-- {
		d, ok = c.next(d + 1)
	}
	return min(d, c.last)
}

// next returns the first match on day d or later.
func (c *recurrence) next(d day) (day, bool) {
	d = max(d, c.first)
	for d <= c.last {
		next := c.skip(d)
		if next == d {
			if c.matches(d) {
				return d, true
			}
			next = d + 1
		}
		d = next
	}
	return d, false
}

// skip returns the first day from d on that the interval and the months do not exclude.
func (c *recurrence) skip(d day) day {
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
		return d + day(c.remaining(int(d-c.first)))
	case weekly:
		if n := c.remaining(c.week(d) - c.week(c.first)); n > 0 {
			return day((c.week(d)+n)*7) + c.weekShift()
		}
	case monthly:
		if n := c.remaining((year-firstYear)*12 + int(month-firstMonth)); n > 0 {
			return dayOf(year, month+time.Month(n), 1)
		}
	case yearly:
		if n := c.remaining(year - firstYear); n > 0 {
			return dayOf(year+n, time.January, 1)
		}
	}
	return d
}

// remaining returns how many units are left until the next multiple of the interval.
func (c *recurrence) remaining(passed int) int { return (c.interval - passed%c.interval) % c.interval }

// week returns the number of d's week, which starts on weekStart.
func (c *recurrence) week(d day) int { return int(floorDiv(int64(d-c.weekShift()), 7)) }

// weekShift returns the first day of week 0. Day 0 was a Thursday.
func (c *recurrence) weekShift() day { return day(c.weekStart - time.Thursday) }

// matches reports whether a day meets the conditions that skip does not check.
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

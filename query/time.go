package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"belfry"
)

// clock is the reference of relative times in a query. It is fixed while the query is checked.
type clock struct {
	now  time.Time
	zone *time.Location // of times without a zone, and of rounding
}

func newClock(o Options) clock {
	zone := o.Location
	if zone == nil {
		zone = time.UTC
	}
	return clock{o.Now.Std().In(zone), zone}
}

const timeForms = "a time is written '2026-11-15T08:30:00Z', '2026-11-15' or 'NOW-1HOUR', 'NOW-7DAYS/DAY'"

// ParseTime reads a time as queries write it: ISO 8601 or NOW, followed by date math.
func ParseTime(text string, now belfry.Time, zone *time.Location) (belfry.Time, error) {
	t, err := newClock(Options{Now: now, Location: zone}).parse(text)
	if err != nil {
		return 0, belfry.Errorf(belfry.BadParameter, "%v", err)
	}
	return t, nil
}

// parse reads a time: a start, then any number of steps.
func (c clock) parse(text string) (belfry.Time, error) {
	text = strings.TrimSpace(text)
	t, rest, ok := c.start(text)
	if !ok {
		return 0, fmt.Errorf("%s is not a time; %s", quoteString(shorten(text)), timeForms)
	}
	const maxSteps = 16
	for step := 0; rest != ""; step++ {
		if t, rest, ok = c.step(t, rest); !ok || step == maxSteps {
			return 0, fmt.Errorf("%s is not a time: the date math after its start is wrong; it is written like -1HOUR, +30MINUTES or /DAY, "+
				"with the units YEAR, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND and MILLISECOND", quoteString(shorten(text)))
		}
		if y := t.Year(); y < 1 || y > 9999 {
			return 0, fmt.Errorf("%s is outside the years 1 to 9999", quoteString(shorten(text)))
		}
	}
	return belfry.At(t), nil
}

// start reads NOW or an ISO 8601 time and returns the rest of the text.
func (c clock) start(s string) (time.Time, string, bool) {
	if len(s) >= 3 && strings.EqualFold(s[:3], "NOW") {
		return c.now, s[3:], true
	}
	if len(s) < 10 || !looksLike(s, "0000-00-00") {
		return time.Time{}, "", false
	}
	form, end := "2006-01-02", 10
	if len(s) > 10 && (s[10] == 'T' || s[10] == 't' || s[10] == ' ') {
		if !looksLike(s[11:], "00:00") {
			return time.Time{}, "", false
		}
		form, end = form+"T15:04", 16
		if looksLike(s[16:], ":00") {
			form, end = form+":05", 19
			if n := digits(strings.TrimPrefix(s[19:], ".")); n > 0 && n <= 9 && s[19] == '.' {
				end += 1 + n // time.Parse accepts a fraction after the seconds
			}
		}
	}
	value, zone := s[:end], c.zone
	if end > 10 {
		value = s[:10] + "T" + s[11:end]
		offset := offsetForm(s[end:])
		switch rest := s[end:]; {
		case strings.HasPrefix(rest, "Z"), strings.HasPrefix(rest, "z"):
			zone, end = time.UTC, end+1
		case offset != "":
			form, value, end = form+offset, value+rest[:len(offset)], end+len(offset)
		}
	}
	leap := len(value) >= 19 && value[16:19] == ":60"
	if leap {
		value = value[:16] + ":59" + value[19:]
	}
	t, err := time.ParseInLocation(form, value, zone)
	if leap { // it counts as the second after it, as in rows that are sent
		if u := t.UTC(); u.Hour() != 23 || u.Minute() != 59 {
			return time.Time{}, "", false
		}
		t = t.Add(time.Second)
	}
	return t.In(c.zone), s[end:], err == nil
}

// offsetForm returns the layout of the offset at the beginning of s, "" for none. Digits followed by letters are date
// math.
func offsetForm(s string) string {
	for _, form := range []string{"-07:00", "-0700", "-07"} {
		digits := strings.ReplaceAll(form[1:], "7", "0")
		if !looksLike(s, "+"+digits) && !looksLike(s, "-"+digits) {
			continue
		}
		if rest := s[len(form):]; len(form) == 6 || rest == "" || strings.IndexByte("+-/", rest[0]) >= 0 {
			return form
		}
	}
	return ""
}

// looksLike reports whether s begins with the pattern, in which 0 matches any digit.
func looksLike(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] == '0' && !isDigit(s[i]) || pattern[i] != '0' && pattern[i] != s[i] {
			return false
		}
	}
	return true
}

// step applies one step of date math: +3DAYS, -1HOUR or /DAY.
func (c clock) step(t time.Time, s string) (time.Time, string, bool) {
	sign, s := s[0], s[1:]
	n := digits(s)
	amount := 0
	switch {
	case sign == '/' && n == 0:
	case (sign == '+' || sign == '-') && n > 0 && n <= 9:
		amount, _ = strconv.Atoi(s[:n]) // nine digits at most
	default:
		return t, "", false
	}
	s = s[n:]
	end := 0
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	unit, ok := units[strings.TrimSuffix(strings.ToUpper(s[:end]), "S")]
	if !ok {
		return t, "", false
	}
	if sign == '/' {
		return unit.floor(t), s[end:], true
	}
	if sign == '-' {
		amount = -amount
	}
	t, ok = unit.add(t, amount)
	return t, s[end:], ok
}

// unit is a unit of date math: a number of months, of days, or a fixed length.
type unit struct {
	months, days int
	length       time.Duration
}

var units = map[string]unit{
	"YEAR":        {months: 12},
	"MONTH":       {months: 1},
	"WEEK":        {days: 7},
	"DAY":         {days: 1},
	"DATE":        {days: 1},
	"HOUR":        {length: time.Hour},
	"MINUTE":      {length: time.Minute},
	"SECOND":      {length: time.Second},
	"MILLI":       {length: time.Millisecond},
	"MILLISECOND": {length: time.Millisecond},
}

func (u unit) add(t time.Time, n int) (time.Time, bool) {
	switch {
	case u.months > 0:
		// The day is kept if the month has it, else it is the month's last: one month after January 31st is in February.
		first := time.Date(t.Year(), t.Month()+time.Month(n*u.months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
		last := first.AddDate(0, 1, -1).Day()
		return first.AddDate(0, 0, min(t.Day(), last)-1), true
	case u.days > 0:
		return t.AddDate(0, 0, n*u.days), true
	}
	if abs := max(n, -n); int64(abs) > math.MaxInt64/int64(u.length) {
		return t, false
	}
	return t.Add(time.Duration(n) * u.length), true
}

// floor returns the beginning of the unit, in the zone of t. A week begins on Monday.
func (u unit) floor(t time.Time) time.Time {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, t.Location()) }
	switch {
	case u.months == 12:
		return day(t.Year(), 1, 1)
	case u.months == 1:
		return day(t.Year(), t.Month(), 1)
	case u.days == 7:
		return day(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7)
	case u.days == 1:
		return day(t.Year(), t.Month(), t.Day())
	}
	// By wall-clock time and not since 1970, for zones whose offset is not a whole hour.
	wall := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	return t.Add(-(wall % u.length))
}

// span is a range in a query: [a TO b] includes its ends, {a TO b} does not.
type span struct {
	low, high         string // empty for *
	openLow, openHigh bool
}

// parseSpan reads a range. isRange reports whether the text begins like one.
func parseSpan(text string) (s span, isRange bool, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '[' && text[0] != '{' {
		return s, false, nil
	}
	last := text[len(text)-1]
	inner := strings.TrimRight(text[1:], "]}")
	to := 0 // index of " TO ", in any case
	for to+4 <= len(inner) && !strings.EqualFold(inner[to:to+4], " TO ") {
		to++
	}
	if len(inner) != len(text)-2 || to+4 > len(inner) {
		return s, true, fmt.Errorf("%s is not a range; a range is written '[a TO b]', or '{a TO b}' without its ends, with * for an open end", quoteString(shorten(text)))
	}
	s = span{strings.TrimSpace(inner[:to]), strings.TrimSpace(inner[to+4:]), text[0] == '{', last == '}'}
	if s.low == "*" {
		s.low = ""
	}
	if s.high == "*" {
		s.high = ""
	}
	return s, true, nil
}

package collect

import (
	"strings"
	"time"
)

// stamp reads the time at the start of a message, in the ways in which devices write it:
//
//	Oct 11 22:14:15            RFC 3164; also with a fraction, and "Oct 11 2026 22:14:15" with a year
//	*Mar  1 18:46:11.123 CET:  Cisco: a clock that is not set, fractions, a zone, a colon
//	2026-10-11T22:14:15.003Z   RFC 3339
//	2026 Oct 11 22:14:15       some firewalls
//	2026-10-11 22:14:15        others
func (r *lineReader) stamp(s string) (at time.Time, rest string, ok bool) {
	s = strings.TrimLeft(s, "*.")
	switch {
	case len(s) > 15 && isDigit(s[0]) && s[4] == '-':
		at, rest, ok = r.numeric(s)
	case len(s) > 19 && isDigit(s[0]) && s[4] == ' ':
		at, rest, ok = r.named(s[5:], s[:4])
	default:
		at, rest, ok = r.named(s, "")
	}
	if !ok {
		return at, s, false
	}
	if rest == "" || rest[0] == ' ' || rest[0] == ':' {
		return at, strings.TrimPrefix(rest, ":"), true
	}
	return at, s, false
}

// numeric reads 2026-10-11T22:14:15.003+02:00, with a blank for the T and without a zone, too.
func (r *lineReader) numeric(s string) (at time.Time, rest string, ok bool) {
	word, after, _ := strings.Cut(s, " ")
	if len(word) == 10 { // the day alone: the time is the next word
		clock, more, _ := strings.Cut(after, " ")
		word, after = word+"T"+clock, more
	}
	word = strings.TrimSuffix(word, ":")
	at, err := time.Parse(time.RFC3339Nano, word)
	if err != nil {
		at, err = time.ParseInLocation("2006-01-02T15:04:05.999999999", word, r.zone)
	}
	if err != nil {
		return at, s, false
	}
	if after != "" {
		after = " " + after
	}
	return at, after, true
}

var months = map[string]time.Month{
	"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}

// named reads "Oct 11 22:14:15", with what may stand around it. Year is that before the month, if there was one.
func (r *lineReader) named(s, year string) (at time.Time, rest string, ok bool) {
	if len(s) < 14 || s[3] != ' ' {
		return at, s, false
	}
	month, ok := months[s[:3]]
	if !ok {
		return at, s, false
	}
	rest = strings.TrimLeft(s[4:], " ")
	word, rest, _ := strings.Cut(rest, " ")
	day, ok := decimal(word, len(word))
	if !ok || len(word) > 2 || day < 1 || day > 31 {
		return at, s, false
	}
	rest = strings.TrimLeft(rest, " ")
	if len(rest) > 5 && rest[4] == ' ' && isDigit(rest[0]) { // a year behind the day
		year, rest = rest[:4], strings.TrimLeft(rest[5:], " ")
	}
	clock, nanos, rest, ok := clockTime(rest)
	if !ok {
		return at, s, false
	}
	if len(rest) > 6 && rest[0] == ' ' && rest[5] == ' ' && year == "" { // a year behind the time
		if _, ok := decimal(rest[1:], 4); ok {
			year, rest = rest[1:5], rest[5:]
		}
	}
	zone, rest := r.zoneName(rest)
	const leap = 2000 // has every day there is
	y, given := decimal(year, 4)
	if !given {
		y = leap
	}
	if at = time.Date(y, month, day, clock[0], clock[1], clock[2], nanos, zone); at.Month() != month {
		return at, s, false // the 31st of November
	}
	if !given {
		at = inYear(at, r.now())
	}
	return at, rest, true
}

// clockTime reads 22:14:15 with an optional fraction.
func clockTime(s string) (clock [3]int, nanos int, rest string, ok bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return clock, 0, s, false
	}
	for i := range clock {
		if clock[i], ok = decimal(s[3*i:], 2); !ok {
			return clock, 0, s, false
		}
	}
	if clock[0] > 23 || clock[1] > 59 || clock[2] > 60 {
		return clock, 0, s, false
	}
	rest = s[8:]
	if len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		i, unit := 1, int(time.Second)
		for ; i < len(rest) && isDigit(rest[i]); i++ {
			unit /= 10
			nanos += int(rest[i]-'0') * unit
		}
		rest = rest[i:]
	}
	return clock, nanos, rest, true
}

// zones are those that devices name by letters and that mean the same everywhere. Of the others one cannot tell which is
// meant; then it is that of the receiver.
var zones = map[string]int{"UTC": 0, "GMT": 0, "Z": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "WET": 0, "WEST": 1}

// zoneName reads a zone behind a time: UTC, CET, +0200. Cisco puts a colon behind it.
func (r *lineReader) zoneName(s string) (*time.Location, string) {
	rest := strings.TrimPrefix(s, " ")
	end := strings.IndexAny(rest, " :")
	if end <= 0 || end == len(rest) {
		return r.zone, s
	}
	word, after := rest[:end], rest[end:]
	if hours, ok := zones[word]; ok && after[0] == ':' { // without the colon it may be the name of a host
		return time.FixedZone(word, hours*3600), after
	}
	if word[0] == '+' || word[0] == '-' {
		if at, err := time.Parse("-0700", word); err == nil {
			return at.Location(), after
		}
	}
	return r.zone, s
}

// inYear gives a time without a year the last one in which it is not ahead: in January, December was last year. A clock may
// be a few days wrong.
func inYear(at, now time.Time) time.Time {
	const ahead = 7 * 24 * time.Hour
	for year := now.Year() + 1; ; year-- {
		if y := time.Date(year, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), at.Location()); y.Sub(now) <= ahead && y.Day() == at.Day() {
			return y
		}
	}
}

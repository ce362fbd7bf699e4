package syslog

import (
	"strings"
	"time"
)

// timestamp reads the time at the start of a message, in the formats that devices use:
//
//	Oct 11 22:14:15            RFC 3164, in any case; also with a fraction, or with a year before or after the day or after the time
//	Sun Oct 11 22:14:15 2026   ctime
//	*Mar  1 18:46:11.123 CET:  Cisco: a clock that is not set, a fraction, a zone, a colon
//	2026-10-11T22:14:15.003Z   RFC 3339; also with a blank instead of the T, and without a zone
//	2026:10:11-22:14:15        Sophos
//	10/11/2026:22:14:15 GMT    NetScaler
//
// Colon is true if a colon ends the time; then no host follows. After other parts of a Cisco header, any word before a mnemonic is a zone.
func (p *Parser) timestamp(s string, cisco bool) (at time.Time, rest string, colon, ok bool) {
	text := strings.TrimLeft(s, "*.")
	if len(text) < 15 {
		return at, s, false, false
	}
	d := date{cisco: cisco}
	switch {
	case !isDigit(text[0]):
		if rest, ok = d.named(text); !ok && text[3] == ' ' && weekdays[lower(text)] {
			rest, ok = d.named(strings.TrimLeft(text[4:], " "))
		}
	case text[4] == ' ':
		if d.year, ok = decimal(text, 4); ok {
			rest, ok = d.named(strings.TrimLeft(text[5:], " "))
		}
	default:
		rest, ok = d.numeric(text)
	}
	if ok {
		rest, ok = d.clock(rest)
	}
	if ok {
		rest = d.readSuffix(rest)
		at, ok = d.time(p)
	}
	if !ok {
		return at, s, false, false
	}
	switch after := strings.TrimLeft(rest, " "); {
	case strings.HasPrefix(rest, ":"), strings.HasPrefix(after, ": "):
		return at, after[1:], true, true
	case rest == "" || rest[0] == ' ':
		return at, rest, false, true
	}
	return at, s, false, false
}

// date is a time as it was parsed.
type date struct {
	year                      int // 0: not given
	month                     time.Month
	day, hour, minute, second int
	nanos                     int
	zone                      string // name, if any
	offset                    int    // in seconds
	fixed                     bool   // it has an offset
	cisco                     bool   // part of a Cisco header
}

var months = map[string]time.Month{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

var weekdays = map[string]bool{"mon": true, "tue": true, "wed": true, "thu": true, "fri": true, "sat": true, "sun": true}

// lower makes the first three letters lower case.
func lower(word string) string {
	b := [3]byte{word[0], word[1], word[2]}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b[:])
}

// named reads "Oct 11", with an optional year after it.
func (d *date) named(s string) (rest string, ok bool) {
	if len(s) < 14 || s[3] != ' ' {
		return s, false
	}
	if d.month, ok = months[lower(s)]; !ok {
		return s, false
	}
	word, rest, _ := strings.Cut(strings.TrimLeft(s[4:], " "), " ")
	if d.day, ok = decimal(word, len(word)); !ok || len(word) > 2 {
		return s, false
	}
	rest = strings.TrimLeft(rest, " ")
	if year, ok := decimal(rest, 4); ok && len(rest) > 5 && rest[4] == ' ' {
		d.year, rest = year, strings.TrimLeft(rest[5:], " ")
	}
	return rest, true
}

// numeric reads "2026-10-11T", "2026-10-11 ", "2026:10:11-" or "10/11/2026:".
func (d *date) numeric(s string) (rest string, ok bool) {
	const iso, sophos, netscaler = "0000-00-00", "0000:00:00-", "00/00/0000:"
	field := func(from, digits int) int {
		n, _ := decimal(s[from:], digits)
		return n
	}
	switch {
	case matchesShape(s, iso) && len(s) > len(iso) && (s[10] == 'T' || s[10] == ' '):
		d.year, d.month, d.day = field(0, 4), time.Month(field(5, 2)), field(8, 2)
		return strings.TrimLeft(s[11:], " "), true
	case matchesShape(s, sophos):
		d.year, d.month, d.day = field(0, 4), time.Month(field(5, 2)), field(8, 2)
		return s[11:], true
	case matchesShape(s, netscaler):
		d.year, d.month, d.day = field(6, 4), time.Month(field(0, 2)), field(3, 2)
		if d.month > 12 { // devices can be configured to put the day first
			d.month, d.day = time.Month(d.day), int(d.month)
		}
		return s[11:], true
	}
	return s, false
}

// matchesShape reports whether s begins like a pattern, in which 0 is any digit.
func matchesShape(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != s[i] && (pattern[i] != '0' || !isDigit(s[i])) {
			return false
		}
	}
	return true
}

// clock reads 22:14:15 with an optional fraction.
func (d *date) clock(s string) (rest string, ok bool) {
	if !matchesShape(s, "00:00:00") {
		return s, false
	}
	d.hour, _ = decimal(s, 2)
	d.minute, _ = decimal(s[3:], 2)
	d.second, _ = decimal(s[6:], 2)
	rest = s[8:]
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
		i, unit := 1, int(time.Second)
		for ; i < len(rest) && isDigit(rest[i]); i++ {
			unit /= 10
			d.nanos += int(rest[i]-'0') * unit
		}
		rest = rest[i:]
	}
	return rest, d.hour < 24 && d.minute < 60 && d.second <= 60
}

// time converts to a time; false if there is no such day. Without a known zone, that of the receiver applies.
func (d *date) time(p *Parser) (at time.Time, ok bool) {
	const leap = 2000 // has February 29
	year := d.year
	if year == 0 {
		year = leap
	}
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > days(year, d.month) {
		return at, false
	}
	zone := p.Zone
	if d.zone != "" && !d.fixed && d.in(p.Now().Year(), zone).Format("MST") != d.zone { // of several meanings of a name, the receiver's zone has precedence
		var hours int
		hours, d.fixed = zones[d.zone]
		d.offset = hours * 3600
	}
	if d.fixed {
		zone = time.FixedZone(d.zone, d.offset)
	}
	if d.year == 0 {
		return d.inYear(p.Now(), zone), true
	}
	return d.in(d.year, zone), true
}

func (d *date) in(year int, zone *time.Location) time.Time {
	return time.Date(year, d.month, d.day, d.hour, d.minute, d.second, d.nanos, zone)
}

// days returns the number of days in a month.
func days(year int, m time.Month) int {
	if m == time.February && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[m-1]
}

// inYear returns a time without a year in the latest year in which it is not in the future, with a tolerance of a few days for
// wrong clocks: in January, December was last year.
func (d *date) inYear(now time.Time, zone *time.Location) time.Time {
	const ahead = 7 * 24 * time.Hour
	latest := now.Add(ahead).In(zone)
	for year := latest.Year(); ; year-- {
		if d.day > days(year, d.month) {
			continue
		}
		if at := d.in(year, zone); !at.After(latest) {
			return at
		}
	}
}

// numericTime reads an RFC 5424 time. Some devices omit the zone, or the colon in it.
func (p *Parser) numericTime(word string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, word)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999Z0700", word)
	}
	if err != nil {
		at, err = time.ParseInLocation("2006-01-02T15:04:05.999999999", word, p.Zone)
	}
	return at, err == nil
}

// decimal reads a number with a fixed count of digits.
func decimal(s string, digits int) (n int, ok bool) {
	if len(s) < digits || digits == 0 || digits > 18 {
		return 0, false
	}
	for i := range digits {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

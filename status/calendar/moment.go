package calendar

import (
	"strconv"
	"strings"
	"time"

	"belfry"
)

// Moment is a point in time as a client wrote it: a local time, or with Z or an offset an instant. The zero Moment means
// none.
//
// A local time stays local until it is needed. If a country changes its clocks, a window planned for 02:30 still opens
// at 02:30.
type Moment struct {
	wall    civil // in UTC if it is an instant
	instant bool
	set     bool
}

const momentForm = "write it as 2026-03-28T22:30, or with a zone as 2026-03-28T22:30:00Z or 2026-03-28T22:30+01:00"

// ParseMoment reads YYYY-MM-DDTHH:MM[:SS], optionally followed by Z or an offset. A fraction of a second is accepted,
// because our own answers have one, and ignored.
func ParseMoment(text string) (Moment, error) {
	text = strings.TrimSpace(text)
	const maxLen = 40
	if len(text) > maxLen || !hasPattern(text, "0000-00-00T00:00") {
		return Moment{}, belfry.Errorf(belfry.BadParameter, "%.60q is not a date and time; %s", text, momentForm)
	}
	head, rest := text[:16], text[16:]
	second := 0
	if hasPattern(rest, ":00") {
		second, rest = parseDigits(rest[1:3]), withoutFraction(rest[3:])
	}
	year, month, date := parseDigits(head[:4]), parseDigits(head[5:7]), parseDigits(head[8:10])
	hour, minute := parseDigits(head[11:13]), parseDigits(head[14:16])
	if fault := fieldFault(year, month, date, hour, minute, second); fault != "" {
		return Moment{}, belfry.Errorf(belfry.BadParameter, "%q is not a date and time: %s; %s", text, fault, momentForm)
	}
	wall := dayOf(year, time.Month(month), date).start() + civil(hour)*anHour + civil(minute)*aMinute + civil(second)
	if rest == "" {
		return Moment{wall: wall, set: true}, nil
	}
	offset, ok := parseOffset(rest)
	if wall -= offset; !ok || !wall.inRange() {
		return Moment{}, belfry.Errorf(belfry.BadParameter, "%q is not a date and time: %q after it is no zone; %s", text, rest, momentForm)
	}
	return Moment{wall: wall, instant: true, set: true}, nil
}

// fieldFault describes the first field of a date and time that is out of range; "" if all are valid.
func fieldFault(year, month, date, hour, minute, second int) string {
	switch {
	case year < 1970:
		return "years begin with 1970"
	case month < 1 || month > 12:
		return "there is no month " + strconv.Itoa(month)
	case date < 1 || date > daysIn(year, time.Month(month)):
		return time.Month(month).String() + " " + strconv.Itoa(year) + " has no day " + strconv.Itoa(date)
	case hour == 24:
		return "hours go to 23, and midnight is 00:00 of the next day"
	case hour > 23:
		return "hours go to 23"
	case minute > 59:
		return "minutes go to 59"
	case second > 59:
		return "seconds go to 59"
	}
	return ""
}

// parseOffset reads Z or ±HH:MM.
func parseOffset(text string) (civil, bool) {
	if text == "Z" {
		return 0, true
	}
	if len(text) != 6 || !hasPattern(text[1:], "00:00") || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, minutes := parseDigits(text[1:3]), parseDigits(text[4:])
	offset := civil(hours)*anHour + civil(minutes)*aMinute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, hours <= 14 && minutes <= 59
}

// withoutFraction removes a leading fraction such as .123.
func withoutFraction(text string) string {
	if digits, ok := strings.CutPrefix(text, "."); ok {
		if rest := strings.TrimLeft(digits, "0123456789"); rest != digits {
			return rest
		}
	}
	return text
}

// hasPattern reports whether text begins with the pattern, in which 0 matches any digit.
func hasPattern(text, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		digit := text[i] >= '0' && text[i] <= '9'
		if pattern[i] == '0' && !digit || pattern[i] != '0' && pattern[i] != text[i] {
			return false
		}
	}
	return true
}

// parseDigits reads digits that hasPattern has checked.
func parseDigits(digits string) (n int) {
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

// IsZero reports whether no moment was given.
func (m Moment) IsZero() bool { return !m.set }

// In returns the instant in the given zone. A local time that the clocks there skip is the moment of the jump; one that
// they show twice is the first of the two.
func (m Moment) In(zone *time.Location) time.Time {
	if m.instant {
		return time.Unix(int64(m.wall), 0).In(zone)
	}
	return m.wall.in(zone)
}

// local returns the wall-clock time in the zone.
func (m Moment) local(zone *time.Location) civil {
	if m.instant {
		return civilOf(m.In(zone))
	}
	return m.wall
}

// String returns a form that ParseMoment reads; "" for none.
func (m Moment) String() string {
	switch {
	case !m.set:
		return ""
	case m.instant:
		return m.wall.String() + "Z"
	}
	return m.wall.String()
}

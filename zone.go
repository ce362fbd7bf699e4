package belfry

import "time"

// SameOffset returns a span around t in which the zone of t has the same offset from UTC, and which ends after t. A zero end means
// that it never changes again. Where the standard library has a wrong span, as for zones that follow a rule on the last day of a
// leap year, it is an hour.
func SameOffset(t time.Time) (start, end time.Time) {
	start, end = t.ZoneBounds()
	if start.After(t) {
		start = t
	}
	if !end.IsZero() && !end.After(t) {
		start, end = t, t.Add(time.Hour)
	}
	return start, end
}

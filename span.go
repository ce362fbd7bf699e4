package belfry

// Lengths of time.
const (
	Hour = Time(3_600_000_000)
	Day  = 24 * Hour
)

// Span is a span of time from From up to but not including To.
type Span struct{ From, To Time }

// Contains reports whether t is in the span.
func (s Span) Contains(t Time) bool { return s.From <= t && t < s.To }

// Overlaps reports whether the span has a moment between from and to, both included.
func (s Span) Overlaps(from, to Time) bool { return s.From <= to && from < s.To }

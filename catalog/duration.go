package catalog

import (
	"strconv"
	"time"

	"belfry"
)

// Duration is a time span as written by people: a whole number and a unit, such as 60s, 5m, 12h, 400d or 2w. It keeps
// its unit, so 60s prints as 60s. The zero Duration means none and prints as "".
type Duration struct {
	n    int64
	unit byte
}

const units = "smhdw"

func unitLength(u byte) time.Duration {
	switch u {
	case 's':
		return time.Second
	case 'm':
		return time.Minute
	case 'h':
		return time.Hour
	case 'w':
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}

const maxDuration = 36500 * 24 * time.Hour // a hundred years, well within the range of time.Duration

// ParseDuration reads a duration.
func ParseDuration(s string) (Duration, error) {
	fail := func() (Duration, error) {
		return Duration{}, belfry.Errorf(belfry.BadValue, "a duration is a whole number followed by s, m, h, d or w, such as 60s or 400d, and at most 36500d; got %q", s)
	}
	if len(s) < 2 || len(s) > 12 || s[0] < '1' || s[0] > '9' {
		return fail()
	}
	unit := s[len(s)-1]
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if err != nil || n > int64(maxDuration/time.Second) {
		return fail()
	}
	for i := range len(units) {
		if units[i] == unit && n <= int64(maxDuration/unitLength(unit)) {
			return Duration{n, unit}, nil
		}
	}
	return fail()
}

// Std converts to the standard library's duration. A day has 24 hours.
func (d Duration) Std() time.Duration { return time.Duration(d.n) * unitLength(d.unit) }

// IsZero reports whether there is no duration.
func (d Duration) IsZero() bool { return d.n == 0 }

// Equal reports whether two durations have the same length, whatever their units.
func (d Duration) Equal(o Duration) bool { return d.Std() == o.Std() }

func (d Duration) String() string {
	if d.n == 0 {
		return ""
	}
	return strconv.FormatInt(d.n, 10) + string(d.unit)
}

// MarshalText writes the form that UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration; an empty text means none.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*d = Duration{}
		return nil
	}
	*d, err = ParseDuration(string(b))
	return err
}

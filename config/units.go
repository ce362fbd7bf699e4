package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written as 64MiB or 1GB.
type Size int64

var sizeUnits = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
	{"", 1},
}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	for _, u := range sizeUnits {
		if len(text) < len(u.name) || !strings.EqualFold(text[len(text)-len(u.name):], u.name) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(text[:len(text)-len(u.name)]), 64)
		if err != nil || n < 0 || n*float64(u.size) > math.MaxInt64/2 || math.IsNaN(n) {
			break
		}
		*s = Size(n * float64(u.size))
		return nil
	}
	return fmt.Errorf("%q is not a size; write it as 64MiB or 1GB", text)
}

// MarshalText writes the size with the largest unit that fits exactly.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && u.name != "" && int64(s)%u.size == 0 {
			return strconv.FormatInt(int64(s)/u.size, 10) + u.name
		}
	}
	return "0B"
}

// Rough formats the size with three digits, for messages.
func (s Size) Rough() string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	n := float64(max(s, 0))
	for n >= 999.5 { // otherwise it would be rounded to 1000; an int64 is less than 10 EB
		n, units = n/1000, units[1:]
	}
	return strconv.FormatFloat(n, 'g', 3, 64) + " " + units[0]
}

// Duration is a duration that may be written in days: 400d, 12h, 1h30m.
type Duration time.Duration

const day = 24 * time.Hour

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	if n, err := strconv.ParseFloat(strings.TrimSuffix(text, "d"), 64); err == nil && strings.HasSuffix(text, "d") {
		if n < 0 || n > 100*366 {
			return fmt.Errorf("%q is out of range; write a duration of at most a hundred years, such as 400d", text)
		}
		*d = Duration(n * float64(day))
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write it as 400d, 12h or 30s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText formats the duration, in days where that is exact.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Duration) String() string {
	v := time.Duration(d)
	switch {
	case v == 0:
		return "0s"
	case v%day == 0:
		return strconv.FormatInt(int64(v/day), 10) + "d"
	case v%time.Hour == 0:
		return strconv.FormatInt(int64(v/time.Hour), 10) + "h"
	case v%time.Minute == 0 && v < time.Hour:
		return strconv.FormatInt(int64(v/time.Minute), 10) + "m"
	}
	return v.String()
}

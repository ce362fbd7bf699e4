package query

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

const (
	second = int64(time.Second / time.Microsecond)
	day    = 24 * 60 * 60 * second
	week   = 7 * day

	// The Unix epoch was a Thursday; Monday is four days later.
	monday = 4 * day

	maxBucket = 366 * day
)

// errBucket is the error for an invalid length in TIMEBUCKET.
var errBucket = errors.New("a length is a whole number followed by s, m, h, d or w, such as '30s', '5m', '1h', '1d' or '1w', and at most '366d'")

// parseBucket reads the length of a bucket. Weeks begin on Monday; all others are counted from midnight.
func parseBucket(text string) (Bucket, error) {
	b := Bucket{}
	if weeks, ok := strings.CutSuffix(text, "w"); ok {
		n, err := strconv.ParseInt(weeks, 10, 64)
		if err != nil || weeks[0] < '1' || weeks[0] > '9' || n > maxBucket/week {
			return b, errBucket
		}
		return Bucket{Length: n * week, Origin: monday}, nil
	}
	d, err := catalog.ParseDuration(text)
	b.Length = d.Std().Microseconds()
	if err != nil || b.Length > maxBucket {
		return b, errBucket
	}
	return b, nil
}

// length writes the form that parseBucket reads.
func (b Bucket) length() string {
	units := []struct {
		length int64
		name   string
	}{{day, "d"}, {60 * 60 * second, "h"}, {60 * second, "m"}, {second, "s"}}
	if b.Origin == monday {
		return strconv.FormatInt(b.Length/week, 10) + "w"
	}
	for _, u := range units {
		if b.Length%u.length == 0 {
			return strconv.FormatInt(b.Length/u.length, 10) + u.name
		}
	}
	return strconv.FormatInt(b.Length, 10)
}

// inZone returns the bucket in wall-clock time of a zone, with its offsets between from and to.
func (b Bucket) inZone(zone *time.Location, from, to belfry.Time) Bucket {
	if zone == nil || zone == time.UTC {
		return b
	}
	b.Zone = zone.String()
	t := (from - belfry.Time(b.Length+2*day)).Std().In(zone) // the first bucket may begin before from
	end := to.Std()
	for {
		_, ahead := t.Zone()
		o := Offset{belfry.At(t), int64(ahead) * second}
		if n := len(b.Offsets); n == 0 || b.Offsets[n-1].Ahead != o.Ahead {
			b.Offsets = append(b.Offsets, o)
		}
		if _, t = belfry.SameOffset(t); t.IsZero() || t.After(end) {
			return b
		}
	}
}

// offsetIndex returns the index in Offsets of the offset at time t.
func (b Bucket) offsetIndex(t int64) int {
	i, found := slices.BinarySearchFunc(b.Offsets, t, func(o Offset, t int64) int { return int(min(1, max(-1, int64(o.From)-t))) })
	if found {
		return i
	}
	return max(0, i-1)
}

// start returns the beginning of the bucket that contains t. On a day on which the clock changes, a bucket that began
// before the change continues after it.
func (b Bucket) start(t int64) int64 {
	if len(b.Offsets) == 0 {
		return t - (t+b.shift())%b.Length
	}
	i := b.offsetIndex(t)
	w := t + b.Offsets[i].Ahead
	w -= (w + b.shift()) % b.Length
	for i > 0 && w-b.Offsets[i].Ahead < int64(b.Offsets[i].From) {
		i--
	}
	return w - b.Offsets[i].Ahead
}

// shift is added to a time before the division. It is a whole number of buckets after Origin, so the remainder counts
// from there and is positive for all times since the year 1.
func (b Bucket) shift() int64 {
	const twoThousandYears = 2000 * 366 * day
	return (twoThousandYears/b.Length+1)*b.Length - b.Origin
}

// sql writes start for an engine; t is an expression for a time in microseconds.
func (b Bucket) sql(t string) string {
	floor := func(w string) string {
		return w + " - (" + w + " + " + strconv.FormatInt(b.shift(), 10) + ") % " + strconv.FormatInt(b.Length, 10)
	}
	if len(b.Offsets) == 0 {
		return floor(t)
	}
	if len(b.Offsets) == 1 {
		ahead := strconv.FormatInt(b.Offsets[0].Ahead, 10)
		return floor("("+t+" + "+ahead+")") + " - " + ahead
	}
	var s strings.Builder
	s.WriteString("CASE")
	for i, o := range slices.Backward(b.Offsets) {
		then := b.segment(i, i, floor("("+t+" + "+strconv.FormatInt(o.Ahead, 10)+")"))
		if i == 0 {
			s.WriteString(" ELSE " + then + " END")
		} else {
			s.WriteString(" WHEN " + t + " >= " + strconv.FormatInt(int64(o.From), 10) + " THEN " + then)
		}
	}
	return s.String()
}

// segment writes the beginning of the bucket with wall-clock time w, for times with the i-th offset. It uses that offset
// or, if the beginning would be before the offset applied, an earlier one, trying from the j-th on.
func (b Bucket) segment(i, j int, w string) string {
	start := w + " - " + strconv.FormatInt(b.Offsets[j].Ahead, 10)
	if j == 0 || int64(b.Offsets[i].From-b.Offsets[j].From) > b.Length+2*day { // no bucket reaches further back
		return start
	}
	return "CASE WHEN " + start + " >= " + strconv.FormatInt(int64(b.Offsets[j].From), 10) + " THEN " + start +
		" ELSE " + b.segment(i, j-1, w) + " END"
}

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

	// Monday is four days after the Thursday on which time begins.
	monday = 4 * day

	longestBucket = 366 * day
)

// errBucket is what TIMEBUCKET says about a length that is none.
var errBucket = errors.New("a length is a whole number followed by s, m, h, d or w, such as '30s', '5m', '1h', '1d' or '1w', and at most '366d'")

// parseBucket reads the length of the parts of a time. Weeks begin on Monday; all else is counted from midnight.
func parseBucket(text string) (Bucket, error) {
	b := Bucket{}
	if weeks, ok := strings.CutSuffix(text, "w"); ok {
		n, err := strconv.ParseInt(weeks, 10, 64)
		if err != nil || weeks[0] < '1' || weeks[0] > '9' || n > longestBucket/week {
			return b, errBucket
		}
		return Bucket{Length: n * week, Origin: monday}, nil
	}
	d, err := catalog.ParseDuration(text)
	b.Length = d.Std().Microseconds()
	if err != nil || b.Length > longestBucket {
		return b, errBucket
	}
	return b, nil
}

// length writes what parseBucket reads.
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

// inZone puts the wall into a zone. The moments that matter lie between from and to.
func (b Bucket) inZone(zone *time.Location, from, to belfry.Time) Bucket {
	if zone == nil || zone == time.UTC {
		return b
	}
	b.Zone = zone.String()
	at := (from - belfry.Time(b.Length+2*day)).Std().In(zone) // the first part may begin before the first moment
	end := to.Std()
	for {
		_, ahead := at.Zone()
		o := Offset{belfry.At(at), int64(ahead) * second}
		if n := len(b.Offsets); n == 0 || b.Offsets[n-1].Ahead != o.Ahead {
			b.Offsets = append(b.Offsets, o)
		}
		if at = change(at); at.IsZero() || at.After(end) {
			return b
		}
	}
}

// change is when the zone of a moment next changes its clock, or may; zero when it never does again. On the last day of a
// leap year ZoneBounds gives the beginning of that day, where a zone goes by a rule: whoever followed it would never get
// on. So we go on by the hour there.
func change(at time.Time) time.Time {
	_, next := at.ZoneBounds()
	if next.IsZero() || next.After(at) {
		return next
	}
	return at.Add(time.Hour)
}

// wall finds by how much the clock of the zone is ahead at a moment: the place in Offsets.
func (b Bucket) wall(t int64) int {
	i, found := slices.BinarySearchFunc(b.Offsets, t, func(o Offset, t int64) int { return int(min(1, max(-1, int64(o.From)-t))) })
	if found {
		return i
	}
	return max(0, i-1)
}

// start is where the part begins in which the moment lies. On a day on which the clock changes, a part that has begun
// before the change goes on after it.
func (b Bucket) start(t int64) int64 {
	if len(b.Offsets) == 0 {
		return t - (t+b.shift())%b.Length
	}
	i := b.wall(t)
	w := t + b.Offsets[i].Ahead
	w -= (w + b.shift()) % b.Length
	for i > 0 && w-b.Offsets[i].Ahead < int64(b.Offsets[i].From) {
		i--
	}
	return w - b.Offsets[i].Ahead
}

// shift is added to a moment before it is divided, a whole number of parts after Origin: so the remainder counts from
// there, and is positive for all moments since the year 1.
func (b Bucket) shift() int64 {
	const ages = 2000 * 366 * day
	return (ages/b.Length+1)*b.Length - b.Origin
}

// sql writes start for an engine; t is an expression without side effects, a moment in microseconds.
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

// segment writes where a part begins whose wall time is w, for moments that have the i-th offset: by that offset or,
// when that would be before it came, by an earlier one, tried from the j-th on.
func (b Bucket) segment(i, j int, w string) string {
	start := w + " - " + strconv.FormatInt(b.Offsets[j].Ahead, 10)
	if j == 0 || int64(b.Offsets[i].From-b.Offsets[j].From) > b.Length+2*day { // no part reaches farther back
		return start
	}
	return "CASE WHEN " + start + " >= " + strconv.FormatInt(int64(b.Offsets[j].From), 10) + " THEN " + start +
		" ELSE " + b.segment(i, j-1, w) + " END"
}

package status

import (
	"strconv"

	"belfry"
)

// Counts has the number of direct items of a view or resource by status.
type Counts [belfry.Statuses]int32

// Rollup is how the statuses of the items in a view add up: Worst, Best, or a number n from 2 on for "n of m", by which
// a view gets worse only if n of its items are at least that bad.
type Rollup int

// The roll-ups that are not a number.
const (
	Worst Rollup = 0
	Best  Rollup = -1
)

// Of returns the status of a view. Items that are Unknown, for example because they are unmanaged, do not count; a view
// in which nothing counts is Unknown.
func (r Rollup) Of(c Counts) belfry.Status {
	if r == Best {
		return c.best()
	}
	need := max(int32(r), 1)
	known, worse := int32(0), int32(0)
	for s := belfry.Unavailable; s > belfry.Unknown; s-- {
		known += c[s]
		if worse += c[s]; worse >= need {
			return s
		}
	}
	if known > 0 {
		return belfry.OK // too few are worse
	}
	return belfry.Unknown
}

func (c Counts) best() belfry.Status {
	for s := belfry.OK; s <= belfry.Unavailable; s++ {
		if c[s] > 0 {
			return s
		}
	}
	return belfry.Unknown
}

// String returns worst, best, or the number.
func (r Rollup) String() string {
	switch {
	case r == Best:
		return "best"
	case r <= 1:
		return "worst"
	}
	return strconv.Itoa(int(r))
}

// AddUp returns the state of a view or resource from the counts of its items, at constant cost.
func AddUp(s belfry.State, c Counts, r *Rules, at, now belfry.Time) (belfry.State, Change) {
	return setOwn(s, r.Rollup.Of(c), "", at, now)
}

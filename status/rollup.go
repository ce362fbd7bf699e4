package status

import "belfry"

// Counts are the statuses of what stands directly in a view or resource.
type Counts [belfry.Statuses]int32

// Rollup says how the statuses of what stands in a view add up: Worst, Best, or a number n from 2 on for "n of m", by
// which a view gets worse only when n of its items are at least that bad.
type Rollup int

// The ways that are no number.
const (
	Worst Rollup = 0
	Best  Rollup = -1
)

// Of gives what a view shows. What is Unknown, be it that nobody manages it, does not count; a view in which nothing
// counts is Unknown.
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

// AddUp gives the standing of a view or resource from what stands in it. It costs the same however much stands there.
func AddUp(s belfry.State, c Counts, r *Rules, at, now belfry.Time) (belfry.State, Change) {
	return shift(s, r.Rollup.Of(c), "", at, now)
}

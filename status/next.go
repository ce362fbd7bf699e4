// Package status says what data mean: which status an item has after what happened to it, and how statuses add up along
// the tree. It decides and never writes; what it decides becomes part of a record.
//
// Next is the only door through which a status changes. Its result depends on its arguments alone, so that a history
// can be played again in a test, and so that later rules (thresholds, management, acknowledgment) have one place to
// stand.
package status

import "belfry"

// State is what the rules know about an item.
type State struct {
	Status   belfry.Status
	Since    belfry.Time
	LastData belfry.Time // of the newest data row or no-response report
	Info     string
}

// Input is one thing that happens to an object.
type Input struct {
	Time       belfry.Time
	NoResponse bool // the source reports that it got no answer, instead of data
}

// Next gives the state after the input, and whether the status moved. A late input, older than the newest one known,
// changes nothing: it is history.
func Next(s State, in Input) (State, bool) {
	if in.Time < s.LastData {
		return s, false
	}
	s.LastData = in.Time
	to, info := belfry.OK, ""
	if in.NoResponse {
		to, info = belfry.Unavailable, "no response"
	}
	return s.become(to, in.Time, info)
}

// become moves to a status; staying keeps the time since when it has been so.
func (s State) become(to belfry.Status, at belfry.Time, info string) (State, bool) {
	s.Info = info
	if s.Status == to {
		return s, false
	}
	s.Status, s.Since = to, at
	return s, true
}

// Counts are the statuses of what stands directly in a view or resource.
type Counts [belfry.Statuses]int32

// Rollup gives the state of a view or resource from what stands in it: the worst of them, Unknown when there is
// nothing. It costs the same however much stands there.
func Rollup(s State, c Counts, at belfry.Time) (State, bool) {
	return s.become(c.Worst(), at, "")
}

// Worst is the worst status that occurs.
func (c Counts) Worst() belfry.Status {
	for s := belfry.Unavailable; s > belfry.Unknown; s-- {
		if c[s] > 0 {
			return s
		}
	}
	return belfry.Unknown
}

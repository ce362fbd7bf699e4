package clustering

import (
	"errors"
	"time"
)

// State is what is known about the order of the rows of a file in use.
type State struct {
	done   int       // changes of the file, plus one, when there was nothing to do
	rows   uint64    // that have been there for some time
	next   uint64    // that were there at the time of at
	at     time.Time // of next
	fails  int
	resume time.Time // no attempt before
}

// Idle reports whether there is nothing to do for a file that has been changed so many times.
func (s *State) Idle(changes int, now time.Time) bool {
	return s.done == changes+1 || now.Before(s.resume)
}

// settled returns how many of the rows have been there for an age. It learns that from call to call.
func (s *State) settled(rows uint64, now time.Time, age time.Duration) uint64 {
	if age < 0 {
		return rows
	}
	if now.Sub(s.at) >= age {
		s.rows, s.next, s.at = s.next, rows, now
	}
	return min(s.rows, rows)
}

// Failed postpones the next attempt, and reports whether an operator should know.
func (s *State) Failed(err error, now time.Time) bool {
	s.fails++
	s.resume = now.Add(time.Duration(min(s.fails, 36)) * 10 * time.Minute)
	if errors.Is(err, ErrUnfit) {
		s.resume = now.Add(24 * time.Hour)
		return false
	}
	return true
}

package status

import "belfry"

// Manage gives an item another mode, its own and what it inherits taken together. That alone is no alarm: whoever acts
// tells of it once, for all that it covers. But an item that comes back in another status than the last alarm said does
// tell, for otherwise what happened in between would never be heard of.
func Manage(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, Change) {
	kept := m != s.Mode
	s.Mode = m
	next, c := show(s, at, now)
	c.Kept = c.Kept || kept
	if untold(next) {
		return tell(next, c)
	}
	return next, c
}

// Move is Manage for an item that was put somewhere else: nobody acted on what is around it, so every change is told.
func Move(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, Change) {
	next, c := Manage(s, m, at, now)
	if c.Moved && !c.Alarm {
		return tell(next, c)
	}
	return next, c
}

// Quieten begins or ends the time in which an item is not monitored.
func Quieten(s belfry.State, quiet bool, at, now belfry.Time) (belfry.State, Change) {
	kept := quiet != s.OffHours
	s.OffHours = quiet
	next, c := shift(s, s.Evaluated, s.Info, at, now)
	c.Kept = c.Kept || kept
	return next, c
}

// Acknowledge says that somebody knows of the error an item is in. It tells whether the item is in one.
func Acknowledge(s belfry.State, a belfry.Ack) (belfry.State, bool) {
	if !s.Status.IsError() {
		return s, false
	}
	a.Status = s.Status
	care := careOf(s)
	care.Ack = &a
	s.Operator = &care
	return s, true
}

// Unacknowledge takes an acknowledgment back. It tells whether there was one, be it that it waited for the error to come back.
func Unacknowledge(s belfry.State) (belfry.State, bool) {
	if s.Operator == nil || s.Operator.Ack == nil {
		return s, false
	}
	care := *s.Operator
	care.Ack = nil
	s.Operator = trim(care)
	return s, true
}

// careOf copies what has been said about an item.
func careOf(s belfry.State) belfry.OperatorState {
	if s.Operator == nil {
		return belfry.OperatorState{}
	}
	return *s.Operator
}

// Annotate sets the note of an item; an empty one removes it.
func Annotate(s belfry.State, note string) belfry.State {
	care := careOf(s)
	care.Note = note
	s.Operator = trim(care)
	return s
}

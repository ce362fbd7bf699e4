package status

import "belfry"

// Manage gives an item another mode, its own and what it inherits taken together. That alone is no alarm: whoever acts
// tells of it once, for all that it covers. But an item that comes back in another status than the last alarm said does
// tell, for otherwise what happened in between would never be heard of.
func Manage(s belfry.Standing, m belfry.Mode, at, now belfry.Time) (belfry.Standing, Change) {
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
func Move(s belfry.Standing, m belfry.Mode, at, now belfry.Time) (belfry.Standing, Change) {
	next, c := Manage(s, m, at, now)
	if c.Moved && !c.Alarm {
		return tell(next, c)
	}
	return next, c
}

// Quieten begins or ends the time in which an item is not monitored.
func Quieten(s belfry.Standing, quiet bool, at, now belfry.Time) (belfry.Standing, Change) {
	kept := quiet != s.Quiet
	s.Quiet = quiet
	next, c := shift(s, s.Own, s.Info, at, now)
	c.Kept = c.Kept || kept
	return next, c
}

// Acknowledge says that somebody knows of the error an item is in. It tells whether the item is in one.
func Acknowledge(s belfry.Standing, a belfry.Ack) (belfry.Standing, bool) {
	if !s.Status.IsError() {
		return s, false
	}
	a.Status = s.Status
	care := careOf(s)
	care.Ack = &a
	s.Care = &care
	return s, true
}

// Unacknowledge takes an acknowledgment back. It tells whether there was one, be it that it waited for the error to come back.
func Unacknowledge(s belfry.Standing) (belfry.Standing, bool) {
	if s.Care == nil || s.Care.Ack == nil {
		return s, false
	}
	care := *s.Care
	care.Ack = nil
	s.Care = trim(care)
	return s, true
}

// careOf copies what has been said about an item.
func careOf(s belfry.Standing) belfry.Care {
	if s.Care == nil {
		return belfry.Care{}
	}
	return *s.Care
}

// Annotate sets the note of an item; an empty one removes it.
func Annotate(s belfry.Standing, note string) belfry.Standing {
	care := careOf(s)
	care.Note = note
	s.Care = trim(care)
	return s
}

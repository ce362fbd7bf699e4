package status

import "belfry"

// Manage sets the effective mode of an item: its own combined with what it inherits. A change of mode alone raises no
// alarm, because the action that caused it writes one event for all items it covers. If the item comes back with another
// status than the last alarm reported, it does raise one; otherwise the change in between would never be reported.
func Manage(s belfry.Standing, m belfry.Mode, at, now belfry.Time) (belfry.Standing, Change) {
	kept := m != s.Mode
	s.Mode = m
	next, c := updateShown(s, at, now)
	c.Kept = c.Kept || kept
	if needsAlarm(next) {
		return raiseAlarm(next, c)
	}
	return next, c
}

// Move is Manage for an item that was moved elsewhere in the tree. No action reports its change of mode, so every change
// of the shown status raises an alarm.
func Move(s belfry.Standing, m belfry.Mode, at, now belfry.Time) (belfry.Standing, Change) {
	next, c := Manage(s, m, at, now)
	if c.Moved && !c.Alarm {
		return raiseAlarm(next, c)
	}
	return next, c
}

// Quieten sets whether an item is outside its monitoring period.
func Quieten(s belfry.Standing, quiet bool, at, now belfry.Time) (belfry.Standing, Change) {
	kept := quiet != s.Quiet
	s.Quiet = quiet
	next, c := setOwn(s, s.Own, s.Info, at, now)
	c.Kept = c.Kept || kept
	return next, c
}

// Acknowledge acknowledges the error an item is in. It reports whether the item is in one.
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

// Unacknowledge removes an acknowledgment. It reports whether there was one, including a sticky one that waits for the
// error to come back.
func Unacknowledge(s belfry.Standing) (belfry.Standing, bool) {
	if s.Care == nil || s.Care.Ack == nil {
		return s, false
	}
	care := *s.Care
	care.Ack = nil
	s.Care = trim(care)
	return s, true
}

// careOf returns a copy of what operators set on an item.
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

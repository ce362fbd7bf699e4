package status

import "belfry"

// Manage sets the effective mode of an item: its own combined with what it inherits. A change of mode alone raises no
// alarm, because the action that caused it writes one event for all items it covers. If the item comes back with another
// status than the last alarm reported, it does raise one; otherwise the change in between would never be reported.
func Manage(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, Change) {
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
func Move(s belfry.State, m belfry.Mode, at, now belfry.Time) (belfry.State, Change) {
	next, c := Manage(s, m, at, now)
	if c.Moved && !c.Alarm {
		return raiseAlarm(next, c)
	}
	return next, c
}

// SetOffHours sets whether an item is outside its monitoring period.
func SetOffHours(s belfry.State, off bool, at, now belfry.Time) (belfry.State, Change) {
	kept := off != s.OffHours
	s.OffHours = off
	next, c := setOwn(s, s.Evaluated, s.Info, at, now)
	c.Kept = c.Kept || kept
	return next, c
}

// Acknowledge acknowledges the error an item is in. It reports whether the item is in one.
func Acknowledge(s belfry.State, a belfry.Ack) (belfry.State, bool) {
	if !s.Status.IsError() {
		return s, false
	}
	a.Status = s.Status
	operator := OperatorStateOf(s)
	operator.Ack = &a
	s.Operator = &operator
	return s, true
}

// Unacknowledge removes an acknowledgment. It reports whether there was one, including a sticky one that waits for the
// error to come back.
func Unacknowledge(s belfry.State) (belfry.State, bool) {
	if s.Operator == nil || s.Operator.Ack == nil {
		return s, false
	}
	operator := *s.Operator
	operator.Ack = nil
	s.Operator = trim(operator)
	return s, true
}

// OperatorStateOf returns a copy of what operators set on an item.
func OperatorStateOf(s belfry.State) belfry.OperatorState {
	if s.Operator == nil {
		return belfry.OperatorState{}
	}
	return *s.Operator
}

// Annotate sets the note of an item; an empty one removes it.
func Annotate(s belfry.State, note string) belfry.State {
	operator := OperatorStateOf(s)
	operator.Note = note
	s.Operator = trim(operator)
	return s
}

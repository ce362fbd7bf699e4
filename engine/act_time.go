package engine

import (
	"encoding/json"
	"fmt"

	"belfry"
)

// resolveTimes resolves the times of an action when it is decided. It cannot be done earlier: an action may wait in the queue, and
// a repeat of it gets the stored reply however late it comes.
func (a *Action) resolveTimes(who Sender, now belfry.Time) error {
	if a.Ack != nil {
		ack := *a.Ack
		ack.By = who.Name
		a.Ack = &ack
		if ack.Until != 0 && ack.Until <= now {
			return belfry.Errorf(belfry.BadParameter, "ackuntil: %s is over, it is %s now; give a later time", ack.Until, now)
		}
	}
	if a.Manage == nil {
		return nil
	}
	order := *a.Manage
	order.By = who.Name
	a.Manage = &order
	if a.Window == nil {
		return nil
	}
	order.Zone = a.Window.ZoneName()
	from, to, ok := a.Window.Next(now.Std())
	switch {
	case !ok && a.Window.Recurs():
		return belfry.Errorf(belfry.BadParameter, "the window (%s) has no occurrence after %s; use a rule without an earlier end, or later times", a.Window, now)
	case !ok:
		return belfry.Errorf(belfry.BadParameter, "the window (%s) is over, it is %s now; give a later todatetime", a.Window, now)
	}
	if !from.IsZero() {
		order.From = belfry.At(from)
	}
	if !to.IsZero() {
		order.To = belfry.At(to)
	}
	if a.Window.Recurs() {
		text, err := json.Marshal(a.Window)
		if err != nil {
			return fmt.Errorf("keep the schedule %s: %w", a.Window, err)
		}
		order.Schedule = string(text)
	}
	return nil
}

// CheckWindowName rejects what cannot be the name of a window.
func CheckWindowName(name string) error {
	if bad := CheckName("window", name); bad != nil {
		return belfry.Errorf(belfry.BadParameter, "window: %s", bad.Message)
	}
	return nil
}

// events estimates how many events the action writes for that many names.
func (a *Action) events(names int) int {
	asked := 0
	for _, set := range []bool{a.Manage != nil, a.acks(), a.Note != nil} {
		if set {
			asked++
		}
	}
	return names * asked
}

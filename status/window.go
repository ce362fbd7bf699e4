package status

import (
	"encoding/json"
	"slices"

	"belfry"
)

// Order asks for a mode of an item, at once or for a window of time.
type Order struct {
	Mode     belfry.Mode
	Name     string      // of the window
	Unnamed  bool        // the window without a name is meant: to cancel it leaves the others
	From, To belfry.Time // of the window, or of its first stretch; 0 for now and for no end
	Schedule string      // of a window that comes again and again; empty for once
	Zone     string      // of its times
	Note     *string     // goes with it; an empty one removes what there was
	By       string
}

// An item has the mode of the window that was opened last. When that closes, it has the mode of the one before; without any it is managed:
//
//	opened first            opened last     to come
//	unmanaged at once  ──►  "backup"   │   "update"      the item has the mode of "backup"
//
// A window takes the place of an earlier one of the same name. One that is open ends then, so that nothing stays unmanaged by a window that
// nobody can see any more. One that is open and has no end has made the item what it is, and that stays until the new one has opened and
// closed: that is how somebody says "unmanaged from Monday on". So it stays below the new one, and comes to light again if the clock is
// set back to before the new one opened.

// Arrange says how an item is managed from now on. To ask for the same window again changes nothing.
func Arrange(c belfry.OperatorState, o Order, now belfry.Time) belfry.OperatorState {
	if o.Note != nil {
		c.UnmanageNote = *o.Note
	}
	list := windowsOf(c)
	switch {
	case o.cancels() && !o.CancelsOne():
		c = arranged(c, nil)
	case o.cancels():
		c = arranged(c, o.replace(list))
	case !o.asksFor(list):
		c = arranged(c, append(o.replace(list), o.window(now)))
	}
	c, _ = PassWindows(c, now)
	return c
}

// cancels tells whether the order is to manage an item from now on: then it ends windows, and is none.
func (o *Order) cancels() bool { return o.Mode == belfry.Managed && o.From == 0 && o.To == 0 }

// CancelsOne tells whether it ends the windows of a name alone.
func (o *Order) CancelsOne() bool { return o.cancels() && (o.Name != "" || o.Unnamed) }

// window makes the window that the order asks for.
func (o *Order) window(now belfry.Time) belfry.Window {
	w := belfry.Window{Name: o.Name, Mode: o.Mode, From: o.From, To: o.To, Schedule: o.Schedule, Zone: o.Zone, By: o.By}
	if w.From == 0 {
		w.From, w.AtOnce = now, true
	}
	return w
}

// asksFor tells whether the order is for a window that is there already.
func (o *Order) asksFor(list []belfry.Window) bool {
	for i := len(list) - 1; i >= 0; i-- {
		if w := &list[i]; w.Name == o.Name {
			return !w.AtOnce && o.From != 0 && o.Mode == w.Mode && o.From == w.From && o.To == w.To && o.Schedule == w.Schedule
		}
	}
	return false
}

// Of finds the window that the order has made, among those of an item afterwards. It is nil when the order was not about a time, and for one
// without an end and without a name that is open: the item looks as if it had been unmanaged at that moment.
func (o *Order) Of(c *belfry.OperatorState) *belfry.Window {
	if o.cancels() {
		return nil
	}
	for i := len(c.Windows) - 1; i >= 0; i-- {
		if w := &c.Windows[i]; w.Name == o.Name && !lasting(w) {
			return w
		}
	}
	return nil
}

// Misses tells whether the order cancels a window that an item does not have.
func (o *Order) Misses(c *belfry.OperatorState) bool {
	return o.CancelsOne() && !slices.ContainsFunc(Planned(c), func(w belfry.Window) bool { return w.Name == o.Name })
}

// TooMany tells whether an item would have windows of too many names.
func (o *Order) TooMany(c *belfry.OperatorState) bool {
	if c == nil || o.cancels() || len(c.Windows) < belfry.MaxWindows {
		return false
	}
	names := map[string]bool{o.Name: true}
	for i := range c.Windows {
		names[c.Windows[i].Name] = true
	}
	return len(names) > belfry.MaxWindows
}

// replace takes out what the window of the order takes the place of, or what it cancels. One without a name and an end that is open is how the
// item is managed, and stays when somebody cancels the window without a name.
func (o *Order) replace(list []belfry.Window) []belfry.Window {
	for i := len(list) - 1; i >= 0; i-- {
		switch w := list[i]; {
		case w.Name != o.Name, w.Open && w.To == 0 && (o.From != 0 || o.To != 0), lasting(&w) && o.cancels():
		case w.Open:
			list = shut(list, i)
			i = min(i, len(list))
		default:
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// windowsOf gives a copy of an item's windows, with the one that need not be kept.
func windowsOf(c belfry.OperatorState) []belfry.Window {
	if len(c.Windows) == 0 && c.Mode != belfry.Managed {
		return []belfry.Window{{Mode: c.Mode, From: c.From, Open: true, AtOnce: true}}
	}
	return slices.Clone(c.Windows)
}

// arranged gives a care these windows, and the mode that follows from them.
func arranged(c belfry.OperatorState, list []belfry.Window) belfry.OperatorState {
	c.Mode, c.From, c.Windows = belfry.Managed, 0, list
	if n := opened(list); n > 0 && list[n-1].Mode != belfry.Managed {
		c.Mode, c.From = list[n-1].Mode, list[n-1].From
	}
	if len(list) == 0 || len(list) == 1 && plain(&list[0]) {
		c.Windows = nil
	}
	return c
}

// plain tells whether a window is what somebody gets who unmanages an item at once.
func plain(w *belfry.Window) bool { return w.Open && w.AtOnce && w.To == 0 && w.Name == "" }

// opened is how many of the windows are open. They come first.
func opened(list []belfry.Window) (n int) {
	for n < len(list) && list[n].Open {
		n++
	}
	return n
}

// Passage is a moment at which a window opened or closed.
type Passage struct {
	At   belfry.Time
	Open bool
	Mode belfry.Mode // of the item from then on
	Name string      // of the window
	By   string
}

// PassWindows lets the windows of an item open and close, as far as their time has come, in the order of their times. One may do both, when
// nobody looked for a while; of a window that comes again, stretches that were missed altogether are passed over.
func PassWindows(c belfry.OperatorState, now belfry.Time) (belfry.OperatorState, []Passage) {
	if due := WindowDue(&c); due == 0 || due > now {
		return c, nil
	}
	list := windowsOf(c)
	var passed []Passage
	for {
		i, at := nextDue(list)
		if i < 0 || at > now {
			return arranged(c, list), passed
		}
		w := list[i]
		if !w.Open {
			list = open(list, i)
		} else if list = shut(list, i); w.Schedule != "" {
			if from, to, ok := turn(w.Schedule, max(now, w.To)); ok {
				list = append(list, belfry.Window{Name: w.Name, Mode: w.Mode, From: from, To: to, Schedule: w.Schedule, Zone: w.Zone, By: w.By})
			}
		}
		passed = append(passed, Passage{at, !w.Open, arranged(c, list).Mode, w.Name, w.By})
	}
}

// WindowDue is the next moment at which a window of an item opens or closes; 0 when there is none.
func WindowDue(c *belfry.OperatorState) belfry.Time {
	if c == nil {
		return 0
	}
	if i, at := nextDue(c.Windows); i >= 0 {
		return at
	}
	return 0
}

// nextDue finds the window that opens or closes next; below 0 there is none. Of those that do at the same moment, those that close come first.
func nextDue(list []belfry.Window) (at int, when belfry.Time) {
	at = -1
	for i := range list {
		due := list[i].From
		if list[i].Open {
			due = list[i].To
		}
		if (due != 0 || !list[i].Open) && (at < 0 || due < when) {
			at, when = i, due
		}
	}
	return at, when
}

// keptBelow is how many windows of the same name without an end stay below one, in case the clock is set back: a script may ask for one every night.
const keptBelow = 4

// open puts a window on top of those that are open. Of those of its name below it, some cannot come to light again, unless it is one with
// management that ends: the clock is not set back to before its beginning without being set back to before theirs.
func open(list []belfry.Window, i int) []belfry.Window {
	w := list[i]
	w.Open = true
	list = slices.Delete(list, i, i+1)
	top, below := opened(list), 0
	list = slices.Insert(list, top, w)
	covers := w.Mode != belfry.Managed || w.To == 0
	for j := top - 1; j >= 0; j-- {
		if list[j].Name != w.Name {
			continue
		}
		if below++; below > keptBelow || covers && !list[j].AtOnce && list[j].From >= w.From {
			list = slices.Delete(list, j, j+1)
			below--
		}
	}
	return list
}

// shut takes a window away that was open. If it was one without management, those of its name below it have lost their place to it.
func shut(list []belfry.Window, i int) []belfry.Window {
	w := list[i]
	list = slices.Delete(list, i, i+1)
	for j := i - 1; j >= 0 && w.Mode != belfry.Managed; j-- {
		if list[j].Name == w.Name {
			list = slices.Delete(list, j, j+1)
		}
	}
	return list
}

// Rewind puts windows right after the clock was set back. Those that are open and begin in the future close and wait for their time again, or
// are gone if another has taken their place. One that comes again gets its next stretch from now on. Otherwise the item would stay
// unmanaged, or miss its windows, until the clock has caught up. A window that was to begin at once stays open.
func Rewind(c belfry.OperatorState, now belfry.Time) (next belfry.OperatorState, passed []Passage, changed bool) {
	list := slices.Clone(c.Windows)
	var closed *belfry.Window
	waits := false
	for i := opened(list) - 1; i >= 0; i-- {
		w := list[i]
		if w.AtOnce || w.From <= now {
			continue
		}
		list = slices.Delete(list, i, i+1)
		if closed == nil {
			closed = &w
		}
		if slices.ContainsFunc(list[i:], func(o belfry.Window) bool { return o.Name == w.Name }) {
			continue
		}
		w.Open, waits = false, true
		list = slices.Insert(list, opened(list), w)
	}
	changed = closed != nil
	for i := opened(list); i < len(list); i++ {
		if from, to, ok := turn(list[i].Schedule, now); ok && from < list[i].From {
			list[i].From, list[i].To, changed = from, to, true
		}
	}
	if !changed {
		return c, nil, false
	}
	next = arranged(c, list)
	if closed != nil && (waits || next.Mode != c.Mode) {
		passed = []Passage{{now, false, next.Mode, closed.Name, closed.By}}
	}
	next, more := PassWindows(next, now)
	return next, append(passed, more...), true
}

// turn finds the stretch of a schedule that is open at a moment, or the next one after it.
func turn(schedule string, after belfry.Time) (from, to belfry.Time, ok bool) {
	if schedule == "" {
		return 0, 0, false
	}
	var s Schedule
	if err := json.Unmarshal([]byte(schedule), &s); err != nil {
		return 0, 0, false // written by a version that knew more; better no window than a wrong one
	}
	begin, end, ok := s.Next(after.Std())
	return belfry.At(begin), belfry.At(end), ok
}

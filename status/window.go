package status

import (
	"encoding/json"
	"slices"

	"belfry"
	"belfry/status/calendar"
)

// Order is a request for a mode of an item, immediately or for a window.
type Order struct {
	Mode     belfry.Mode
	Name     string      // of the window
	Unnamed  bool        // cancel only the window without a name
	From, To belfry.Time // of the window or its first occurrence; 0 for now and for no end
	Schedule string      // of a recurring window; empty for once
	Zone     string      // of its times
	Note     *string     // new note; an empty one removes the old one
	By       string
}

// An item has the mode of the window that was opened last. When that closes, it has the mode of the one before; without any it is managed:
//
//	opened first            opened last     planned
//	unmanaged at once  ──►  "backup"   │   "update"      the item has the mode of "backup"
//
// A window replaces an earlier one of the same name. If that one is open it ends, so that no item stays unmanaged by a window that is not
// visible any more. If it is open and has no end, it stays below the new one until that has opened and closed: this is how an operator says
// "unmanaged from Monday on". It takes effect again if the clock is set back to before the new one opened.

// Arrange applies an order to what is set on an item. Asking for the same window again changes nothing.
func Arrange(c belfry.OperatorState, o Order, now belfry.Time) belfry.OperatorState {
	if o.Note != nil {
		c.UnmanageNote = *o.Note
	}
	list := windowsOf(c)
	switch {
	case o.cancels() && !o.CancelsOne():
		c = withWindows(c, nil)
	case o.cancels():
		c = withWindows(c, o.replace(list))
	case !o.asksFor(list):
		c = withWindows(c, append(o.replace(list), o.window(now)))
	}
	c, _ = PassWindows(c, now)
	return c
}

// cancels reports whether the order is to manage an item from now on: it ends windows and adds none.
func (o *Order) cancels() bool { return o.Mode == belfry.Managed && o.From == 0 && o.To == 0 }

// CancelsOne reports whether the order ends only the windows of one name.
func (o *Order) CancelsOne() bool { return o.cancels() && (o.Name != "" || o.Unnamed) }

// window returns the window that the order asks for.
func (o *Order) window(now belfry.Time) belfry.Window {
	w := belfry.Window{Name: o.Name, Mode: o.Mode, From: o.From, To: o.To, Schedule: o.Schedule, Zone: o.Zone, By: o.By}
	if w.From == 0 {
		w.From, w.AtOnce = now, true
	}
	return w
}

// asksFor reports whether the window of the order is in the list already.
func (o *Order) asksFor(list []belfry.Window) bool {
	for i := len(list) - 1; i >= 0; i-- {
		if w := &list[i]; w.Name == o.Name {
			return !w.AtOnce && o.From != 0 && o.Mode == w.Mode && o.From == w.From && o.To == w.To && o.Schedule == w.Schedule
		}
	}
	return false
}

// Of returns the window that the order has made, from the windows of an item afterwards. It is nil if the order was not
// about a time, and for an open window without an end and a name: the item looks as if it had been unmanaged at that
// moment.
func (o *Order) Of(c *belfry.OperatorState) *belfry.Window {
	if o.cancels() {
		return nil
	}
	for i := len(c.Windows) - 1; i >= 0; i-- {
		if w := &c.Windows[i]; w.Name == o.Name && !isIndefinite(w) {
			return w
		}
	}
	return nil
}

// Misses reports whether the order cancels a window that an item does not have.
func (o *Order) Misses(c *belfry.OperatorState) bool {
	return o.CancelsOne() && !slices.ContainsFunc(Planned(c), func(w belfry.Window) bool { return w.Name == o.Name })
}

// TooMany reports whether the item would have windows of too many names.
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

// replace removes the windows that the order replaces or cancels. An open one without a name and an end is how the item
// is managed; it stays when an operator cancels the window without a name.
func (o *Order) replace(list []belfry.Window) []belfry.Window {
	for i := len(list) - 1; i >= 0; i-- {
		switch w := list[i]; {
		case w.Name != o.Name, w.Open && w.To == 0 && (o.From != 0 || o.To != 0), isIndefinite(&w) && o.cancels():
		case w.Open:
			list = closeWindow(list, i)
			i = min(i, len(list))
		default:
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// windowsOf returns a copy of an item's windows, including the one that is not stored: see isPlain.
func windowsOf(c belfry.OperatorState) []belfry.Window {
	if len(c.Windows) == 0 && c.Mode != belfry.Managed {
		return []belfry.Window{{Mode: c.Mode, From: c.From, Open: true, AtOnce: true}}
	}
	return slices.Clone(c.Windows)
}

// withWindows returns c with these windows and the mode that follows from them.
func withWindows(c belfry.OperatorState, list []belfry.Window) belfry.OperatorState {
	c.Mode, c.From, c.Windows = belfry.Managed, 0, list
	if n := countOpen(list); n > 0 && list[n-1].Mode != belfry.Managed {
		c.Mode, c.From = list[n-1].Mode, list[n-1].From
	}
	if len(list) == 0 || len(list) == 1 && isPlain(&list[0]) {
		c.Windows = nil
	}
	return c
}

// isPlain reports whether a window is the one that results from unmanaging an item immediately.
func isPlain(w *belfry.Window) bool { return w.Open && w.AtOnce && w.To == 0 && w.Name == "" }

// countOpen returns how many of the windows are open. They come first.
func countOpen(list []belfry.Window) (n int) {
	for n < len(list) && list[n].Open {
		n++
	}
	return n
}

// Passage is the opening or closing of a window.
type Passage struct {
	At   belfry.Time
	Open bool
	Mode belfry.Mode // of the item from then on
	Name string      // of the window
	By   string
}

// PassWindows opens and closes the windows of an item that are due, in order of time. A window may do both if it was not
// checked for a while; missed occurrences of a recurring window are skipped.
func PassWindows(c belfry.OperatorState, now belfry.Time) (belfry.OperatorState, []Passage) {
	if due := WindowDue(&c); due == 0 || due > now {
		return c, nil
	}
	list := windowsOf(c)
	var passed []Passage
	for {
		i, at := nextDue(list)
		if i < 0 || at > now {
			return withWindows(c, list), passed
		}
		w := list[i]
		if !w.Open {
			list = openWindow(list, i)
		} else if list = closeWindow(list, i); w.Schedule != "" {
			if from, to, ok := NextOccurrence(w.Schedule, max(now, w.To)); ok {
				list = append(list, belfry.Window{Name: w.Name, Mode: w.Mode, From: from, To: to, Schedule: w.Schedule, Zone: w.Zone, By: w.By})
			}
		}
		passed = append(passed, Passage{at, !w.Open, withWindows(c, list).Mode, w.Name, w.By})
	}
}

// WindowDue returns when the next window of an item opens or closes; 0 if there is none.
func WindowDue(c *belfry.OperatorState) belfry.Time {
	if c == nil {
		return 0
	}
	if i, at := nextDue(c.Windows); i >= 0 {
		return at
	}
	return 0
}

// nextDue returns the index of the window that opens or closes next and when; the index is -1 if there is none. At the
// same time, closing comes first.
func nextDue(list []belfry.Window) (next int, when belfry.Time) {
	next = -1
	for i := range list {
		due := list[i].From
		if list[i].Open {
			due = list[i].To
		}
		if (due != 0 || !list[i].Open) && (next < 0 || due < when) {
			next, when = i, due
		}
	}
	return next, when
}

// maxBelow is how many windows of the same name without an end stay below one, in case the clock is set back: a script
// may ask for one every night.
const maxBelow = 4

// openWindow moves a window to the top of the open ones. Windows of its name below it that cannot take effect again are
// removed, unless it is a managed window that ends: the clock cannot be set back to before its beginning without being
// set back to before theirs.
func openWindow(list []belfry.Window, i int) []belfry.Window {
	w := list[i]
	w.Open = true
	list = slices.Delete(list, i, i+1)
	top, below := countOpen(list), 0
	list = slices.Insert(list, top, w)
	covers := w.Mode != belfry.Managed || w.To == 0
	for j := top - 1; j >= 0; j-- {
		if list[j].Name != w.Name {
			continue
		}
		if below++; below > maxBelow || covers && !list[j].AtOnce && list[j].From >= w.From {
			list = slices.Delete(list, j, j+1)
			below--
		}
	}
	return list
}

// closeWindow removes an open window. If it was an unmanaged one, it has replaced those of its name below it, and they
// are removed too.
func closeWindow(list []belfry.Window, i int) []belfry.Window {
	w := list[i]
	list = slices.Delete(list, i, i+1)
	for j := i - 1; j >= 0 && w.Mode != belfry.Managed; j-- {
		if list[j].Name == w.Name {
			list = slices.Delete(list, j, j+1)
		}
	}
	return list
}

// Rewind corrects windows after the clock was set back. Open windows that begin in the future close and wait again, or
// are removed if another has replaced them. A recurring window gets its next occurrence from now on. Otherwise the item
// would stay unmanaged, or miss its windows, until the clock has caught up. A window that was to begin immediately stays
// open.
func Rewind(c belfry.OperatorState, now belfry.Time) (next belfry.OperatorState, passed []Passage, changed bool) {
	list := slices.Clone(c.Windows)
	var closed *belfry.Window
	waits := false
	for i := countOpen(list) - 1; i >= 0; i-- {
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
		list = slices.Insert(list, countOpen(list), w)
	}
	changed = closed != nil
	for i := countOpen(list); i < len(list); i++ {
		if from, to, ok := NextOccurrence(list[i].Schedule, now); ok && from < list[i].From {
			list[i].From, list[i].To, changed = from, to, true
		}
	}
	if !changed {
		return c, nil, false
	}
	next = withWindows(c, list)
	if closed != nil && (waits || next.Mode != c.Mode) {
		passed = []Passage{{now, false, next.Mode, closed.Name, closed.By}}
	}
	next, more := PassWindows(next, now)
	return next, append(passed, more...), true
}

// NextOccurrence returns the occurrence of a schedule that is open at the given time, or the next one after it.
func NextOccurrence(schedule string, after belfry.Time) (from, to belfry.Time, ok bool) {
	if schedule == "" {
		return 0, 0, false
	}
	var s calendar.Schedule
	if err := json.Unmarshal([]byte(schedule), &s); err != nil {
		return 0, 0, false // written by a newer version; better no window than a wrong one
	}
	begin, end, ok := s.Next(after.Std())
	return belfry.At(begin), belfry.At(end), ok
}

package status

import (
	"slices"

	"belfry"
)

// lasting tells that a window is open, and has neither an end nor a name: the item looks as if somebody had unmanaged it when it opened.
func lasting(w *belfry.Window) bool { return w.Open && w.To == 0 && w.Name == "" }

// topWindow is the window whose mode an item has; nil when none is open.
func topWindow(c *belfry.OperatorState) *belfry.Window {
	if n := opened(c.Windows); n > 0 {
		return &c.Windows[n-1]
	}
	return nil
}

// nextWindow is the window that opens first of those to come, with one of the given modes; nil when there is none.
func nextWindow(c *belfry.OperatorState, wanted func(*belfry.Window) bool) (first *belfry.Window) {
	for i := range c.Windows {
		if w := &c.Windows[i]; !w.Open && wanted(w) && (first == nil || w.From < first.From) {
			first = w
		}
	}
	return first
}

// shownWindow is the window that is open, else the one to come; nil when there is none that anybody has to see.
func shownWindow(c *belfry.OperatorState) *belfry.Window {
	if w := topWindow(c); w != nil && !lasting(w) {
		return w
	}
	return nextWindow(c, func(*belfry.Window) bool { return true })
}

// unmanagedTime is the time without management that is now or comes next; its end is 0 when none is known.
func unmanagedTime(c *belfry.OperatorState) (from, to belfry.Time) {
	if c == nil {
		return 0, 0
	}
	unmanages := func(w *belfry.Window) bool { return w.Mode != belfry.Managed }
	manages := nextWindow(c, func(w *belfry.Window) bool { return w.Mode == belfry.Managed })
	w := topWindow(c)
	switch {
	case c.Mode != belfry.Managed:
		if from = c.From; w != nil {
			to = w.To
		}
		if w == nil || lasting(w) { // one that takes its place is more to the point
			if other := nextWindow(c, func(o *belfry.Window) bool { return unmanages(o) && o.Name == "" }); other != nil {
				return other.From, other.To
			}
		}
		if manages != nil && (to == 0 || manages.From < to) {
			to = manages.From
		}
		return from, to
	case w != nil && w.To != 0: // managed for a while
		if n := opened(c.Windows); n > 1 && c.Windows[n-2].Mode != belfry.Managed {
			return w.To, c.Windows[n-2].To
		}
	}
	if w = nextWindow(c, unmanages); w != nil {
		return w.From, w.To
	}
	return 0, 0
}

// Planned gives the windows of an item that somebody may want to see, by name: the last of each name, unless the item looks as if it had been
// unmanaged at once.
func Planned(c *belfry.OperatorState) (list []belfry.Window) {
	if c == nil {
		return nil
	}
	for i := range c.Windows {
		w := &c.Windows[i]
		replaced := slices.ContainsFunc(c.Windows[i+1:], func(o belfry.Window) bool { return o.Name == w.Name })
		if !replaced && !lasting(w) {
			list = append(list, *w)
		}
	}
	slices.SortFunc(list, func(a, b belfry.Window) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

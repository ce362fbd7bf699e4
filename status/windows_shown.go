package status

import (
	"slices"

	"belfry"
)

// isIndefinite reports whether a window is open and has neither an end nor a name: the item looks as if it had been
// unmanaged when the window opened.
func isIndefinite(w *belfry.Window) bool { return w.Open && w.To == 0 && w.Name == "" }

// topWindow returns the window whose mode an item has; nil if none is open.
func topWindow(c *belfry.OperatorState) *belfry.Window {
	if n := countOpen(c.Windows); n > 0 {
		return &c.Windows[n-1]
	}
	return nil
}

// nextWindow returns the planned window that opens first among those wanted; nil if there is none.
func nextWindow(c *belfry.OperatorState, wanted func(*belfry.Window) bool) (first *belfry.Window) {
	for i := range c.Windows {
		if w := &c.Windows[i]; !w.Open && wanted(w) && (first == nil || w.From < first.From) {
			first = w
		}
	}
	return first
}

// ShownWindow returns the window that is open, else the next one; nil if there is none to show.
func ShownWindow(c *belfry.OperatorState) *belfry.Window {
	if w := topWindow(c); w != nil && !isIndefinite(w) {
		return w
	}
	return nextWindow(c, func(*belfry.Window) bool { return true })
}

// unmanagedTime returns the present or next time without management; its end is 0 if it is not known.
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
		if w == nil || isIndefinite(w) { // show the window that will replace it
			if other := nextWindow(c, func(o *belfry.Window) bool { return unmanages(o) && o.Name == "" }); other != nil {
				return other.From, other.To
			}
		}
		if manages != nil && (to == 0 || manages.From < to) {
			to = manages.From
		}
		return from, to
	case w != nil && w.To != 0: // managed for a while
		if n := countOpen(c.Windows); n > 1 && c.Windows[n-2].Mode != belfry.Managed {
			return w.To, c.Windows[n-2].To
		}
	}
	if w = nextWindow(c, unmanages); w != nil {
		return w.From, w.To
	}
	return 0, 0
}

// Planned returns the windows of an item that operators may want to see, by name: the last of each name, without one
// that looks as if the item had been unmanaged immediately.
func Planned(c *belfry.OperatorState) (list []belfry.Window) {
	if c == nil {
		return nil
	}
	for i := range c.Windows {
		w := &c.Windows[i]
		replaced := slices.ContainsFunc(c.Windows[i+1:], func(o belfry.Window) bool { return o.Name == w.Name })
		if !replaced && !isIndefinite(w) {
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

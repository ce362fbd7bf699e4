package status

import (
	"cmp"
	"encoding/json"
	"slices"

	"belfry"
)

// Order asks for a mode of an item, at once or for a window of time.
type Order struct {
	Mode     belfry.Mode
	From, To belfry.Time // of the window, or of its first stretch; 0 for now and for no end
	Schedule string      // of a window that comes again and again; empty for once
	Note     *string     // goes with it; an empty one removes what there was
	By       string
}

// Arrange says how an item is managed from now on. A window takes the place of an earlier one: one that is open ends, so
// that nothing stays unmanaged by a window that nobody can see any more. What one without an end has made of the item stays,
// unless the clock is set back to before its beginning. To ask for the same window again changes nothing.
func Arrange(c belfry.Care, o Order, now belfry.Time) belfry.Care {
	if o.Note != nil {
		c.UnmanageNote = *o.Note
	}
	if o.asksFor(c.Window) {
		c, _ = PassWindow(c, now)
		return c
	}
	mode, since, base := without(c, now)
	c.Window = nil
	if o.From == 0 && o.To == 0 {
		c.Mode, c.From = o.Mode, now
		return calm(c)
	}
	w := belfry.Window{Mode: o.Mode, From: o.From, To: o.To, Schedule: o.Schedule, By: o.By, Base: base}
	if o.Mode == belfry.Managed {
		w.Back = mode
	}
	if w.From == 0 {
		w.From, w.AtOnce = now, true
	}
	c.Mode, c.From, c.Window = mode, since, &w
	c, _ = PassWindow(calm(c), now)
	return c
}

// asksFor tells whether the order is for a window that is there already.
func (o *Order) asksFor(w *belfry.Window) bool {
	return w != nil && !w.AtOnce && o.From != 0 && o.Mode == w.Mode && o.From == w.From && o.To == w.To && o.Schedule == w.Schedule
}

// without tells how an item is managed when its window goes, since when, and what made it so.
func without(c belfry.Care, now belfry.Time) (belfry.Mode, belfry.Time, *belfry.Base) {
	w := c.Window
	switch {
	case w == nil:
		return c.Mode, c.From, nil
	case w.Endless():
		return c.Mode, c.From, newBase(w)
	case !w.Open:
		return c.Mode, c.From, w.Base
	case w.Mode == belfry.Managed:
		return w.Back, now, w.Base
	}
	return w.Back, now, nil
}

// newBase gives what a window without an end leaves behind. The clock cannot be set back to before its beginning without undoing
// those that began later, so they need not be kept. Of the others it keeps the latest.
func newBase(w *belfry.Window) *belfry.Base {
	b := belfry.Base{From: w.From, Before: w.Before, Since: w.Since, Base: w.Base}
	for b.Base != nil && b.Base.From >= b.From {
		b.Before, b.Since, b.Base = b.Base.Before, b.Base.Since, b.Base.Base
	}
	b.Base = latest(b.Base, belfry.MaxBases-1)
	return &b
}

// latest gives the first n of a chain.
func latest(b *belfry.Base, n int) *belfry.Base {
	if b == nil || n == 0 {
		return nil
	}
	first := *b
	first.Base = latest(b.Base, n-1)
	return &first
}

// calm forgets when something began that is not.
func calm(c belfry.Care) belfry.Care {
	if c.Mode == belfry.Managed {
		c.From = 0
	}
	return c
}

// Passage is a moment at which a window opened or closed.
type Passage struct {
	At   belfry.Time
	Open bool
	Mode belfry.Mode // from then on
}

// PassWindow lets the window of an item open and close, as far as its time has come. It may do both, when nobody looked
// for a while; of a window that comes again, stretches that were missed altogether are passed over. One without an end stays
// in case the clock is set back.
func PassWindow(c belfry.Care, now belfry.Time) (belfry.Care, []Passage) {
	var passed []Passage
	for c.Window != nil {
		w := *c.Window
		switch {
		case !w.Open && now >= w.From:
			w.Open, w.Before, w.Since = true, c.Mode, c.From
			c.Mode, c.From, c.Window = w.Mode, w.From, &w
			passed = append(passed, Passage{w.From, true, w.Mode})
			c = calm(c)
		case w.Open && w.To != 0 && now >= w.To:
			c.Mode, c.From = w.Back, w.To
			passed = append(passed, Passage{w.To, false, w.Back})
			c.Window = again(w, now)
			c = calm(c)
		default:
			return c, passed
		}
	}
	return c, passed
}

// Rewind puts a window right after the clock was set back to before its beginning. If it is open, it closes, and the item is managed as
// before. A window that comes again gets its next stretch from now on. Otherwise the item would stay unmanaged, or miss its
// windows, until the clock has caught up. A window that was to begin at once stays open. The mode that an earlier window without an
// end has made goes, if the clock was set back to before that.
func Rewind(c belfry.Care, now belfry.Time) (belfry.Care, []Passage) {
	if c.Window == nil {
		return c, nil
	}
	was := c.Window
	c, undone := rewindBase(c, now)
	c, closed := rewindWindow(c, now)
	if c.Window == was {
		return c, nil
	}
	c, more := PassWindow(calm(c), now)
	return c, slices.Concat(undone, closed, more)
}

// rewindBase undoes what windows have made that begin in the future.
func rewindBase(c belfry.Care, now belfry.Time) (belfry.Care, []Passage) {
	if c.Window.Base == nil || now >= c.Window.Base.From {
		return c, nil
	}
	w := *c.Window
	c.Window = &w
	first := w.Base
	for first.Base != nil && now < first.Base.From {
		first = first.Base
	}
	w.Base = first.Base
	if w.Mode == belfry.Managed {
		w.Back = first.Before
	}
	if w.Open {
		w.Before, w.Since = first.Before, first.Since
		return c, nil
	}
	was := c.Mode
	c.Mode, c.From = first.Before, cmp.Or(first.Since, now)
	if c.Mode == was {
		return c, nil
	}
	return c, []Passage{{now, false, c.Mode}}
}

// rewindWindow closes a window that begins in the future, and finds the next stretch of one that comes again.
func rewindWindow(c belfry.Care, now belfry.Time) (belfry.Care, []Passage) {
	if c.Window.AtOnce || now >= c.Window.From {
		return c, nil
	}
	w := *c.Window
	from, to, ok := w.From, w.To, true
	if w.Schedule != "" {
		from, to, ok = turn(w.Schedule, now)
	}
	if !ok || from >= w.From && !w.Open {
		return c, nil
	}
	var passed []Passage
	if w.Open {
		c.Mode, c.From = w.Before, cmp.Or(w.Since, now)
		passed = append(passed, Passage{now, false, w.Before})
	}
	shut(&w, from, to)
	c.Window = &w
	return c, passed
}

// again gives a window that has closed with its next stretch. When there is none, an earlier window without an end goes on, if
// the item goes back to what that has made.
func again(w belfry.Window, now belfry.Time) *belfry.Window {
	from, to, ok := turn(w.Schedule, max(now, w.To))
	switch {
	case !ok && w.Mode == belfry.Managed && w.Base != nil:
		b := *w.Base
		return &belfry.Window{Mode: w.Back, From: b.From, By: w.By, Open: true, Before: b.Before, Since: b.Since, Base: b.Base}
	case !ok:
		return nil
	}
	shut(&w, from, to)
	if w.Mode != belfry.Managed {
		w.Base = nil // the item is managed now, whatever it was before
	}
	return &w
}

// shut lets a window wait for a stretch.
func shut(w *belfry.Window, from, to belfry.Time) {
	w.Open, w.From, w.To = false, from, to
	w.Before, w.Since = belfry.Managed, 0
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

// WindowDue is the next moment at which the window of an item opens or closes; 0 when there is none.
func WindowDue(c *belfry.Care) belfry.Time {
	switch {
	case c == nil || c.Window == nil:
		return 0
	case c.Window.Open:
		return c.Window.To
	}
	return c.Window.From
}

package belfry

import (
	"encoding/json"
	"slices"
)

// formerWindow is how the one window of an item was kept before there could be several. What it said about the time before it opened is
// said by the windows below it now.
type formerWindow struct {
	Mode     Mode
	Back     Mode // after its end
	Open     bool
	From, To Time
	Schedule string
	By       string
	AtOnce   bool

	Before Mode // how the item was managed before it opened, and since when
	Since  Time
	Base   *formerBase // an open-ended window that had made that mode, or the one that the item has while this one is to come
}

type formerBase struct {
	From   Time
	Before Mode
	Since  Time
	Base   *formerBase
}

// maxFormerBases is how many of them a window had.
const maxFormerBases = 4

// windows gives what the care of an item with that window says in its list.
func (w *formerWindow) windows(c *Care) (list []Window) {
	mode, since := c.Mode, c.From
	if w.Open {
		if mode, since = w.Before, w.Since; w.Mode == Managed {
			mode = w.Back // the same; the first versions had no other
		}
	}
	for b := w.Base; b != nil; b = b.Base {
		list = append(list, Window{Mode: mode, Open: true, From: b.From})
		mode, since = b.Before, b.Since
	}
	if mode != Managed {
		list = append(list, Window{Mode: mode, Open: true, From: since, AtOnce: true})
	}
	slices.Reverse(list)
	return append(list, Window{Mode: w.Mode, Open: w.Open, From: w.From, To: w.To, Schedule: w.Schedule, By: w.By, AtOnce: w.AtOnce})
}

// formerWindow reads a window as it was written once.
func (d *decoder) formerWindow(bits byte) *formerWindow {
	w := &formerWindow{
		Mode: d.mode(), Back: d.mode(), Open: bits&openBit != 0,
		From: Time(d.varint()), To: Time(d.varint()), Schedule: d.text(), By: d.text(),
	}
	if w.Open {
		w.Before = w.Back
	}
	if bits&plannedBit == 0 {
		return w
	}
	first := d.byte()
	if first>>1 > maxFormerBases {
		d.fail("a window with %d bases", first>>1)
		return w
	}
	w.AtOnce, w.Before, w.Since = first&1 != 0, d.mode(), Time(d.varint())
	next := &w.Base
	for range first >> 1 {
		*next = &formerBase{From: Time(d.varint()), Before: d.mode(), Since: Time(d.varint())}
		next = &(*next).Base
	}
	return w
}

// UnmarshalJSON reads what the past has of a care, also as it was written once.
func (c *Care) UnmarshalJSON(text []byte) error {
	type plain Care
	var read struct {
		plain
		Window *formerWindow
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*c = Care(read.plain)
	if read.Window != nil {
		c.Windows = read.Window.windows(c)
	}
	return nil
}

package demo

import (
	"context"
	"slices"
	"strconv"
	"time"

	"belfry"
	"belfry/meta"
)

const (
	pastSpan   = 24 * time.Hour
	coarse     = 5 * time.Minute // between two values of an object in the past
	fine       = time.Minute     // and in the last hours
	fineSpan   = 3 * time.Hour
	pastRows   = 5000            // in one body
	tick       = 3 * time.Second // between two bodies of new values
	phases     = 10              // ticks in which every object is sent once
	worthwhile = 2 * time.Minute // a shorter gap is not filled
)

// Run fills the gap since the newest value, at most a day, and then sends new values until ctx ends. It skips values that cannot
// be stored, since newer ones follow soon.
func (d *Demo) Run(ctx context.Context) error {
	now := d.Now()
	from := d.newest()
	if oldest := now.Add(-pastSpan); from.Before(oldest) {
		from = oldest
	}
	if now.Sub(from) > worthwhile {
		if err := d.past(ctx, from, now); err != nil && ctx.Err() == nil {
			d.Log.Warn("the past of the demo is not whole", "err", err)
		}
	}
	d.Log.Info("demo filled", "objects", len(d.plan.objects), "dur", d.Now().Sub(now).Round(time.Millisecond))
	d.live(ctx)
	return nil
}

// newest returns the time of the newest value of any object; zero: there is none.
func (d *Demo) newest() (at time.Time) {
	var last belfry.Time
	d.Tree.Read(d.Customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		for _, o := range d.plan.objects {
			if n, _ := e.ObjectAndView(o.resource, o.name); n != nil {
				last = max(last, n.State.LastData)
			}
		}
	})
	if last == 0 {
		return at
	}
	return last.Std()
}

// past sends the values from one time to another, in order of time, so that statuses follow as they would have then.
func (d *Demo) past(ctx context.Context, from, to time.Time) error {
	b := newRows()
	for at := from.Truncate(fine).Add(fine); at.Before(to); {
		m := d.mood(at)
		for _, o := range d.present(d.plan.objects) {
			d.row(b, m, o)
			d.logs(b, m, o, step(at, to))
		}
		if b.rows >= pastRows {
			if err := d.send(ctx, b); err != nil {
				return err
			}
			b = newRows()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at = at.Add(step(at, to))
	}
	return d.send(ctx, b)
}

// step returns the time between two values of the past.
func step(at, now time.Time) time.Duration {
	if now.Sub(at) > fineSpan {
		return coarse
	}
	return fine
}

// live sends new values until ctx ends: each time of a tenth of the objects, and of all that are affected by incidents.
func (d *Demo) live(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for n := 0; ; n++ {
		d.update(ctx, n)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// update sends new values and handles incidents.
func (d *Demo) update(ctx context.Context, n int) {
	m := d.mood(d.Now())
	b := newRows()
	var silent []*object
	for _, o := range d.present(d.plan.objects) {
		switch {
		case m.silent[o]:
			silent = append(silent, o)
		case o.index%phases == n%phases || m.stress[o] > 0:
			d.row(b, m, o)
			d.logs(b, m, o, phases*tick)
		}
	}
	err := d.send(ctx, b)
	for _, o := range silent {
		if err == nil {
			_, _, err = d.Intake.SendOne(ctx, belfry.Whole(d.Customer), &belfry.Row{Type: "data", NoResponse: true, Resource: o.resource, Object: o.name})
		}
	}
	if err == nil {
		err = d.operate(ctx, m)
	}
	if err != nil && ctx.Err() == nil {
		d.Log.Debug("sample data passed over", "err", err)
	}
}

// present drops objects that were removed.
func (d *Demo) present(all []*object) []*object {
	there := slices.Clone(all)
	d.Tree.Read(d.Customer, func(e *meta.Tenant) {
		there = slices.DeleteFunc(there, func(o *object) bool {
			if e == nil { // the whole customer
				return true
			}
			n, _ := e.ObjectAndView(o.resource, o.name)
			return n == nil || n.Class.Name != o.class
		})
	})
	return there
}

// newRows returns a body for data and log rows.
func newRows() *body {
	return newBody("", "type", "resname", "object", "timestamp", "log", "i1", "i2", "i3", "i4")
}

func (d *Demo) row(b *body, m *mood, o *object) {
	if values := d.values(m, o); values != nil {
		b.add(append([]string{"data", o.resource, o.name, stamp(m.at), ""}, cells(values)...)...)
	}
}

func stamp(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

package intake

import (
	"math"

	"belfry"
	"belfry/catalog"
	"belfry/status"
)

// rowValues are those of one row out of many.
type rowValues struct {
	columns [belfry.MaxIndicators + 1]*valueColumn // by indicator
	row     int
	rows    int
	of      *status.Rules // the rules of which some are possible
	some    *status.Rules
}

// reset makes v return the values of d.
func (v *rowValues) reset(d *dataRows) {
	clear(v.columns[:])
	for i := range d.columns {
		v.columns[d.columns[i].n] = &d.columns[i]
	}
	v.rows, v.of, v.some = len(d.nodes), nil, nil
}

// Number returns an indicator that is a number.
func (v *rowValues) Number(n int) (float64, bool) {
	c := v.columns[n]
	if c == nil || math.IsNaN(c.numbers[v.row]) {
		return 0, false
	}
	return c.numbers[v.row], true
}

// Text returns an indicator that is a text.
func (v *rowValues) Text(n int) (string, bool) {
	c := v.columns[n]
	if c == nil || c.texts == nil || c.texts[v.row] == "" {
		return "", false
	}
	return c.texts[v.row], true
}

// Possible leaves out thresholds that no row meets. For an object without marks they make no difference, and most objects
// are well most of the time: so a look at the extremes of a column saves a look at each of its values.
func (v *rowValues) Possible(r *status.Rules) *status.Rules {
	const few = 64 // rows for which it does not pay
	switch {
	case v.rows < few || len(r.Thresholds) == 0:
		return r
	case v.of == r:
		return v.some
	}
	some := *r
	some.Thresholds = nil
	for i := range r.Thresholds {
		if v.meets(&r.Thresholds[i]) {
			some.Thresholds = append(some.Thresholds, r.Thresholds[i])
		}
	}
	v.of, v.some = r, &some
	return v.some
}

// meets reports whether any row may meet a threshold.
func (v *rowValues) meets(r *catalog.Rule) bool {
	c := v.columns[r.N]
	switch {
	case c == nil:
		return false
	case r.When.IsText:
		return c.texts != nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, n := range c.numbers { // one that is absent is neither lower nor higher
		if n < low {
			low = n
		}
		if n > high {
			high = n
		}
	}
	return low <= high && r.When.Within(low, high)
}

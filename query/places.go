package query

import (
	"iter"
	"math/rand/v2"
	"slices"

	"belfry"
)

// Places finds the rows of a page that begins far from the top: the marks of those that Eval would give for the plan, in
// their order, and of the one after them. Eval holds every row up to the end of the page with all its fields; this
// holds the keys of the rows alone and never sorts what is before the page. Who has the marks can read the page itself.
// The plan has no groups.
func (e *Evaluator) Places(p *Plan, rows iter.Seq2[int, Row]) ([]int, error) {
	d := deep{plan: p}
	for mark, r := range rows {
		matches := e.matches(p, r)
		if e.err != nil {
			return nil, e.err
		}
		if !matches {
			continue
		}
		d.at = append(d.at, int32(len(d.marks)))
		d.marks = append(d.marks, mark)
		for _, o := range p.Order {
			d.keys = append(d.keys, o.Column.of(r))
		}
	}
	first := min(p.Offset, len(d.at))
	last := min(p.Offset+p.Limit+1, len(d.at))
	d.divide(d.at, first)
	page := d.at[first:]
	d.divide(page, last-first)
	page = page[:last-first]
	slices.SortFunc(page, d.compare)
	places := make([]int, len(page))
	for i, row := range page {
		places[i] = d.marks[row]
	}
	return places, nil
}

// deep has what is known of the rows while the page is looked for.
type deep struct {
	plan  *Plan
	marks []int          // by row
	keys  []belfry.Value // of all rows, one after the other
	at    []int32        // rows, in the order that is being found
}

func (d *deep) compare(a, b int32) int {
	n := len(d.plan.Order)
	x, y := d.keys[int(a)*n:], d.keys[int(b)*n:]
	for i, o := range d.plan.Order {
		if c := o.compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return 0
}

// divide moves the first n rows of the order before the others. Parts are halved around a row taken by chance, so that
// nobody can make an order of names for which it takes long.
func (d *deep) divide(rows []int32, n int) {
	for n > 0 && n < len(rows) {
		low := d.part(rows)
		switch {
		case n <= low:
			rows = rows[:low]
		case n == low+1:
			return
		default:
			rows, n = rows[low+1:], n-low-1
		}
	}
}

// part moves what comes before one of the rows to its left, the rest to its right, and tells where that row is then.
func (d *deep) part(rows []int32) int {
	end := len(rows) - 1
	pick := rand.IntN(len(rows))
	rows[pick], rows[end] = rows[end], rows[pick]
	low := 0
	for i := range end {
		if d.compare(rows[i], rows[end]) < 0 {
			rows[i], rows[low] = rows[low], rows[i]
			low++
		}
	}
	rows[low], rows[end] = rows[end], rows[low]
	return low
}

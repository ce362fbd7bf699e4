package query

import "belfry"

// Paged reports whether the rows of the plan can be read page by page, each after the last row of the one before: they
// must be ordered by time and then by id, which is unique.
func (p *Plan) Paged() bool {
	return p.Grouping == nil && p.Period == "" && p.Collection.Historical && p.byTimeAndID()
}

// Page returns the plan for at most n rows of a paged plan, with time and id of each row after its outputs: CursorOf
// reads them.
func (p *Plan) Page(n int) *Plan {
	q := *p
	q.Outputs = append(append([]Output{}, p.Outputs...), Output{Name: timestamp, Column: p.Order[0].Column}, Output{Name: "id", Column: p.Order[1].Column})
	q.Limit = n - 1 // engines deliver one more
	return &q
}

// Cursor is the position of a row in the order of a paged plan.
type Cursor struct {
	Time belfry.Time
	ID   belfry.RowID
}

// CursorOf splits the cursor off the end of a row of a page.
func CursorOf(row []belfry.Value) ([]belfry.Value, Cursor) {
	n := len(row) - 2
	return row[:n], Cursor{belfry.Time(row[n].Int), belfry.RowID(row[n+1].Int)}
}

// After returns the plan for the rows after a cursor. Unless newest is 0, it reads only rows with ids up to newest, so
// that rows stored after the first page was read are not in later pages.
func (p *Plan) After(at Cursor, newest belfry.RowID) *Plan {
	q := *p
	q.Offset = 0
	time, id := p.Order[0], p.Order[1]
	beyond := func(desc bool) Op {
		if desc {
			return Less
		}
		return Greater
	}
	if time.Desc {
		q.To = min(q.To, at.Time)
	} else {
		q.From = max(q.From, at.Time)
	}
	q.Where = conjunction(p.Where, Or{
		Compare{time.Column, beyond(time.Desc), belfry.Value{Type: belfry.TimeValue, Int: int64(at.Time)}},
		Compare{id.Column, beyond(id.Desc), belfry.Value{Type: belfry.IDValue, Int: int64(at.ID)}},
	})
	q.LastID = newest
	if newest != 0 {
		q.Where = conjunction(q.Where, Compare{id.Column, LessEqual, belfry.Value{Type: belfry.IDValue, Int: int64(newest)}})
	}
	return &q
}

// Fixed returns the plan with the outputs of SELECT * expanded, so that every page has the same.
func (p *Plan) Fixed(has func(column string) bool) *Plan {
	q := *p
	q.Outputs = p.Expand(has)
	return &q
}

// Open reports whether the outputs depend on the data.
func (p *Plan) Open() bool {
	for _, o := range p.Outputs {
		if o.Every {
			return true
		}
	}
	return false
}

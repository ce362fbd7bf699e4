package query

import "belfry"

// Paged tells whether the rows of the plan can be asked for page by page, each after the last row of the one before:
// they must come by time and then by id, which no two rows share.
func (p *Plan) Paged() bool {
	return p.Grouping == nil && p.Period == "" && p.Collection.Historical && p.byTimeAndID()
}

// Page is the plan for at most n rows of a paged plan, with the place of each row behind its outputs: Place reads it.
func (p *Plan) Page(n int) *Plan {
	q := *p
	q.Outputs = append(append([]Output{}, p.Outputs...), Output{Name: timestamp, Column: p.Order[0].Column}, Output{Name: "id", Column: p.Order[1].Column})
	q.Limit = n - 1 // engines deliver one more
	return &q
}

// Place is where a row stands in the order of a paged plan.
type Place struct {
	Time belfry.Time
	ID   belfry.RowID
}

// PlaceOf takes the place off the end of a row that a page has given.
func PlaceOf(row []belfry.Value) ([]belfry.Value, Place) {
	n := len(row) - 2
	return row[:n], Place{belfry.Time(row[n].Int), belfry.RowID(row[n+1].Int)}
}

// After is the plan for the rows that come after a place. Of them it takes those with ids up to newest, unless that is 0:
// so rows that were stored after a first page had been read are not in the pages behind it.
func (p *Plan) After(at Place, newest belfry.RowID) *Plan {
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

// Fixed is the plan with the outputs that SELECT * stands for written out, so that every page has the same.
func (p *Plan) Fixed(has func(column string) bool) *Plan {
	q := *p
	q.Outputs = p.Expand(has)
	return &q
}

// Open tells whether the outputs depend on the data.
func (p *Plan) Open() bool {
	for _, o := range p.Outputs {
		if o.Every {
			return true
		}
	}
	return false
}

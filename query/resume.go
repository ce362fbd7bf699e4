package query

import (
	"slices"
	"strconv"
	"time"

	"belfry"
	"belfry/catalog"
)

// An answer that is too long for one request is read in pages, each in its own request:
//
//	rows=100000&after=        ──► first page, and the mark of its last row
//	rows=100000&after=mark    ──► the rows after that row
//
// The mark has the values that rows are ordered by. The order is total, so no row is missed or repeated, even among equal
// timestamps and while new rows arrive.

// Resumable reports whether the answer can be continued after a given row: it is ordered by time and id, or in the
// default order of a current collection. In these orders every row has a value.
func (p *Plan) Resumable() bool {
	if p.Grouping != nil {
		return false
	}
	if p.Collection.Historical {
		return p.byTimeAndID()
	}
	own := defaultOrder(p.Collection)
	return !slices.ContainsFunc(p.Order, func(o Order) bool {
		return o.Column.Name != "id" && !slices.ContainsFunc(own, func(k Key) bool { return k.Field.Text == o.Column.Name })
	})
}

// byTimeAndID reports whether rows are ordered by time and then by id, which is unique.
func (p *Plan) byTimeAndID() bool {
	return len(p.Order) == 2 && isTimestamp(p.Order[0].Column) && p.Order[1].Column.Name == "id"
}

// Marked returns the plan with the order keys of each row after its outputs.
func (p *Plan) Marked() *Plan {
	q := *p
	q.Outputs = slices.Clone(p.Outputs)
	for i, o := range p.Order {
		q.Outputs = append(q.Outputs, Output{Name: "mark " + strconv.Itoa(i), Column: o.Column})
	}
	return &q
}

// Mark splits the mark off the end of a row of a marked plan.
func (p *Plan) Mark(row []belfry.Value) (rest []belfry.Value, mark []string) {
	n := len(row) - len(p.Order)
	for _, v := range row[n:] {
		mark = append(mark, v.String())
	}
	return row[:n], mark
}

// Resume returns the plan for the rows after the one with the mark.
func (p *Plan) Resume(mark []string) (*Plan, error) {
	if !p.Resumable() {
		return nil, belfry.Errorf(belfry.BadParameter, "after is for rows that come by time; leave out ORDER BY, write ORDER BY timestamp, or take LIMIT and OFFSET instead of after")
	}
	if len(mark) != len(p.Order) {
		return nil, ErrMark
	}
	at := make([]belfry.Value, len(mark))
	for i, text := range mark {
		var ok bool
		if at[i], ok = markValue(p.Order[i].Column.Type, text); !ok {
			return nil, ErrMark
		}
	}
	if p.byTimeAndID() {
		return p.After(Cursor{belfry.Time(at[0].Int), belfry.RowID(at[1].Int)}, 0), nil
	}
	q := *p
	q.Where = conjunction(p.Where, beyond(p.Order, at))
	return &q, nil
}

// ErrMark is the error for an invalid parameter after.
var ErrMark = belfry.Errorf(belfry.BadParameter, "after is empty for the first page, else what the answer before gave as next, or the timestamp and the id of the last row you have, "+
	"as 2026-11-15T08:30:00.000000Z,00000000000001a4")

func markValue(t catalog.Type, text string) (v belfry.Value, ok bool) {
	switch t {
	case catalog.Time:
		at, err := time.Parse(time.RFC3339, text)
		return belfry.Value{Type: belfry.TimeValue, Int: int64(belfry.At(at))}, err == nil
	case catalog.ID:
		id, ok := belfry.ParseRowID(text)
		return belfry.Value{Type: belfry.IDValue, Int: int64(id)}, ok
	}
	return belfry.Value{Type: belfry.TextValue, Text: text}, text != ""
}

// beyond returns the condition that a row comes after the one with these values.
func beyond(order []Order, at []belfry.Value) Pred {
	var any Or
	for i, o := range order {
		op := Greater
		if o.Desc {
			op = Less
		}
		all := And{Compare{o.Column, op, at[i]}}
		for j := range i {
			all = append(all, Compare{order[j].Column, Equal, at[j]})
		}
		any = append(any, conjunction(all...))
	}
	return disjunction(any)
}

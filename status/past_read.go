package status

import (
	"context"
	"errors"
	"fmt"
	"io"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// end is the last row of a snapshot.
type end struct {
	at   belfry.Time
	rows int
}

// snapshots lists the newest whole snapshots that were begun since and ended until the given moments, newest first.
func (s Past) snapshots(ctx context.Context, c belfry.CustomerID, since, until belfry.Time) (ends []end, err error) {
	col := s.Catalog.KeptAs(belfry.StatusDay)
	rows, done := stored("rows", catalog.Integer), stored("done", catalog.Time)
	const enough = 5
	p := &query.Plan{
		Customer: c, Collection: col, From: since, To: query.Forever, Limit: enough,
		Outputs: outputs(stored("timestamp", catalog.Time), rows),
		Where: query.And{
			query.Null{Column: rows, Not: true},
			query.Compare{Column: done, Op: query.LessEqual, Value: belfry.Value{Type: belfry.TimeValue, Int: int64(until)}},
		},
		Order: []query.Order{{Column: stored("timestamp", catalog.Time), Desc: true}, {Column: stored("id", catalog.ID), Desc: true}},
	}
	_, err = s.read(ctx, p, func(row []belfry.Value) error {
		ends = append(ends, end{belfry.Time(row[0].Int), int(row[1].Int)})
		return nil
	})
	return ends, err
}

// whole tells whether all rows of a snapshot are there, and gives the lowest id of them.
func (s Past) whole(ctx context.Context, c belfry.CustomerID, e end) (first belfry.RowID, ok bool, err error) {
	p := &query.Plan{
		Customer: c, Collection: s.Catalog.KeptAs(belfry.StatusDay), From: e.at, To: e.at, Limit: 1,
		Grouping: &query.Grouping{Calls: []query.Call{{Func: query.FuncCount}, {Func: query.FuncMin, Column: idColumn}}},
		Outputs: outputs(query.Column{Name: "rows", Type: catalog.Integer, From: query.Grouped},
			query.Column{Name: "first", Type: catalog.ID, From: query.Grouped, N: 1}),
		Where: query.Null{Column: itemColumn, Not: true},
	}
	_, err = s.read(ctx, p, func(row []belfry.Value) error {
		ok, first = int(row[0].Int) == e.rows, belfry.RowID(row[1].Int)
		return nil
	})
	return first, ok, err
}

// base reads a snapshot.
func (s Past) base(ctx context.Context, a scope, e end) (states, error) {
	states := states{}
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.StatusDay), From: e.at, To: e.at,
		Outputs: outputs(idColumn, itemColumn, stored("status", catalog.Status), stored("since", catalog.Time), stored("info", catalog.FullText),
			stored("own", catalog.Status), stored("mode", catalog.Integer), stored("quiet", catalog.Bool),
			stored("management", catalog.Text), stored("ack", catalog.Text), stored("note", catalog.Text)),
	}
	a.narrow(p, query.And{query.Null{Column: itemColumn, Not: true}})
	return states, s.pages(ctx, p, 0, states.begin())
}

// replay lets what came after the given row, up to the moment, happen to the states. Changes come first, as each says
// between which events it belongs.
func (s Past) replay(ctx context.Context, a scope, at belfry.Time, after belfry.RowID, states states) error {
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.StatusChange), To: at,
		Outputs: outputs(idColumn, itemColumn, stored("facets", catalog.Integer), stored("after", catalog.ID),
			stored("status", catalog.Status), stored("since", catalog.Time), stored("info", catalog.FullText),
			stored("own", catalog.Status), stored("mode", catalog.Integer), stored("quiet", catalog.Bool),
			stored("management", catalog.Text), stored("ack", catalog.Text), stored("note", catalog.Text)),
	}
	a.narrow(p, query.And{query.Null{Column: itemColumn, Not: true}})
	if err := s.pages(ctx, p, after, states.change()); err != nil {
		return err
	}
	p = &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.Events), To: at,
		Outputs: outputs(idColumn, itemColumn, stored("status", catalog.Status), stored("timestamp", catalog.Time), stored("info", catalog.FullText), stored("source", catalog.Text)),
	}
	a.narrow(p, query.And{
		query.Compare{Column: stored("type", catalog.Text), Value: belfry.Value{Type: belfry.TextValue, Text: "alarm"}},
		query.Null{Column: itemColumn, Not: true},
	})
	return s.pages(ctx, p, after, states.alarm())
}

// pages reads all rows of a plan whose id, which is its first output, is above the given one, in the order of their ids
// and so many at a time that neither we nor the engine holds them all.
func (s Past) pages(ctx context.Context, p *query.Plan, after belfry.RowID, each func([]belfry.Value) error) error {
	where := p.Where.(query.And)
	p.Limit, p.Order = query.MaxRows, []query.Order{{Column: idColumn}}
	for {
		p.Where = append(query.And{
			query.Compare{Column: idColumn, Op: query.Greater, Value: belfry.Value{Type: belfry.IDValue, Int: int64(after)}},
		}, where...)
		n, err := s.read(ctx, p, func(row []belfry.Value) error {
			after = belfry.RowID(row[0].Int)
			return each(row)
		})
		if err != nil || n <= p.Limit {
			return err
		}
	}
}

// read gives the rows of a plan one by one, and tells how many there were.
func (s Past) read(ctx context.Context, p *query.Plan, each func([]belfry.Value) error) (n int, err error) {
	p.Partial = s.partial
	rows, err := s.Rows.Select(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", p.Collection.Name, err)
	}
	defer rows.Close()
	for ; ; n++ {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("read %s: %w", p.Collection.Name, err)
		}
		if err := each(row); err != nil {
			return n, err
		}
	}
}

var (
	idColumn   = stored("id", catalog.ID)
	itemColumn = stored(belfry.ItemColumn, catalog.ID)
)

func stored(name string, t catalog.Type) query.Column { return query.Column{Name: name, Type: t} }

func outputs(columns ...query.Column) []query.Output {
	outs := make([]query.Output, len(columns))
	for i, c := range columns {
		outs[i] = query.Output{Name: c.Name, Column: c}
	}
	return outs
}

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

// snapshotEnd is the last row of a snapshot.
type snapshotEnd struct {
	at   belfry.Time
	rows int
}

// snapshots lists the newest snapshots that were begun at or after since and ended by until, newest first.
func (s Past) snapshots(ctx context.Context, c belfry.CustomerID, since, until belfry.Time) (ends []snapshotEnd, err error) {
	col := s.Catalog.KeptAs(belfry.StatusDay)
	rows, done := storedColumn("rows", catalog.Integer), storedColumn("done", catalog.Time)
	const limit = 5
	p := &query.Plan{
		Customer: c, Collection: col, From: since, To: query.Forever, Limit: limit,
		Outputs: outputs(storedColumn("timestamp", catalog.Time), rows),
		Where: query.And{
			query.Null{Column: rows, Not: true},
			query.Compare{Column: done, Op: query.LessEqual, Value: belfry.Value{Type: belfry.TimeValue, Int: int64(until)}},
		},
		Order: []query.Order{{Column: storedColumn("timestamp", catalog.Time), Desc: true}, {Column: storedColumn("id", catalog.ID), Desc: true}},
	}
	_, err = s.read(ctx, p, func(row []belfry.Value) error {
		ends = append(ends, snapshotEnd{belfry.Time(row[0].Int), int(row[1].Int)})
		return nil
	})
	return ends, err
}

// isComplete reports whether all rows of a snapshot are there, and returns the lowest of their ids.
func (s Past) isComplete(ctx context.Context, c belfry.CustomerID, e snapshotEnd) (first belfry.RowID, ok bool, err error) {
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
func (s Past) base(ctx context.Context, a selection, e snapshotEnd) (states, error) {
	states := states{}
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.StatusDay), From: e.at, To: e.at,
		Outputs: outputs(idColumn, itemColumn, storedColumn("status", catalog.Status), storedColumn("since", catalog.Time), storedColumn("info", catalog.FullText),
			storedColumn("own", catalog.Status), storedColumn("mode", catalog.Integer), storedColumn("quiet", catalog.Bool),
			storedColumn("management", catalog.Text), storedColumn("ack", catalog.Text), storedColumn("note", catalog.Text)),
	}
	a.restrict(p, query.And{query.Null{Column: itemColumn, Not: true}})
	return states, s.pages(ctx, p, 0, states.snapshotReader())
}

// replay applies the changes and events after the given row, up to the given time. Changes come first, because each
// records the event it follows.
func (s Past) replay(ctx context.Context, a selection, at belfry.Time, after belfry.RowID, states states) error {
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.StatusChange), To: at,
		Outputs: outputs(idColumn, itemColumn, storedColumn("facets", catalog.Integer), storedColumn("after", catalog.ID),
			storedColumn("status", catalog.Status), storedColumn("since", catalog.Time), storedColumn("info", catalog.FullText),
			storedColumn("own", catalog.Status), storedColumn("mode", catalog.Integer), storedColumn("quiet", catalog.Bool),
			storedColumn("management", catalog.Text), storedColumn("ack", catalog.Text), storedColumn("note", catalog.Text)),
	}
	a.restrict(p, query.And{query.Null{Column: itemColumn, Not: true}})
	if err := s.pages(ctx, p, after, states.changeReader()); err != nil {
		return err
	}
	p = &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.Events), To: at,
		Outputs: outputs(idColumn, itemColumn, storedColumn("status", catalog.Status), storedColumn("timestamp", catalog.Time), storedColumn("info", catalog.FullText), storedColumn("source", catalog.Text)),
	}
	a.restrict(p, query.And{
		query.Compare{Column: storedColumn("type", catalog.Text), Value: belfry.Value{Type: belfry.TextValue, Text: "alarm"}},
		query.Null{Column: itemColumn, Not: true},
	})
	return s.pages(ctx, p, after, states.alarmReader())
}

// pages reads all rows of a plan whose id, its first output, is above the given one, in order of id. It reads in pages,
// so that neither this process nor the engine holds all rows.
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

// read calls each for every row of a plan and returns the number of rows.
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
	idColumn   = storedColumn("id", catalog.ID)
	itemColumn = storedColumn(belfry.ItemColumn, catalog.ID)
)

func storedColumn(name string, t catalog.Type) query.Column { return query.Column{Name: name, Type: t} }

func outputs(columns ...query.Column) []query.Output {
	outs := make([]query.Output, len(columns))
	for i, c := range columns {
		outs[i] = query.Output{Name: c.Name, Column: c}
	}
	return outs
}

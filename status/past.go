package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/query"
)

// Ahead is how far the time of a row, and so of an event, may be ahead of its arrival.
const Ahead = 5 * time.Minute

// Past answers what objectstatus would have answered at a past moment, from snapshots and events:
//
//	           snapshot            what each item showed once a day
//	─────────────┼──────────┬───►
//	             └─ events ─┘ T    later by id, and not after T by their own time; the last one of an item counts
//
// A snapshot takes a while. Events that come meanwhile may be in it already; to let them happen again changes nothing.
//
// So it follows the order in which things became known, as the present does, and leaves out what is said to have
// happened after T. Without a snapshot the events alone will do, if none have been dropped.
type Past struct {
	Tree    *meta.Tree
	Catalog *catalog.Catalog
	Rows    query.Source                        // of events and snapshots
	Oldest  func(collection string) belfry.Time // rows before it have been dropped; 0 when none have
}

// was is what an item showed.
type was struct {
	since  belfry.Time
	info   string
	status belfry.Status
}

// Select runs a plan over the state of things at the moment that it names.
func (s Past) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	about := s.about(p)
	states, err := s.states(ctx, about, p.AsOf)
	if err != nil {
		return nil, err
	}
	rows, err := query.Eval(p, s.rows(ctx, p, about, states))
	if err == nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return rows, err
}

// scope is whose items are asked for, and which: all, unless they have one name.
type scope struct {
	customer belfry.CustomerID
	name     *string // of objects
	items    []belfry.ID
}

// maxNamed is how many objects of one name are looked for by themselves.
const maxNamed = 1000

// about finds which items can be in the answer. People mostly ask for one object, or for all.
func (s Past) about(p *query.Plan) scope {
	a := scope{customer: p.Customer}
	name, ok := p.Wanted("object")
	if !ok {
		return a
	}
	if items := s.Tree.Items(p.Customer, query.ItemMatch{Object: &name}); len(items) <= maxNamed {
		a.name, a.items = &name, items
	}
	return a
}

// narrow has a plan give rows of these items alone.
func (a scope) narrow(p *query.Plan, where query.And) {
	p.Customer, p.Where = a.customer, where
	if a.name != nil {
		object := query.Column{Name: "object", Type: catalog.Text, From: query.FromItem, Of: "object"}
		p.Where = append(where, query.Compare{Column: object, Value: belfry.Value{Type: belfry.TextValue, Text: *a.name}})
		p.Items, p.ItemsKnown = a.items, true
	}
}

// Taken tells whether the customer has a whole snapshot that was begun at or after the moment.
func (s Past) Taken(ctx context.Context, c belfry.CustomerID, since belfry.Time) (bool, error) {
	ends, err := s.snapshots(ctx, c, since, query.Forever)
	return len(ends) > 0, err
}

// states finds the states of the items of which anything was known.
func (s Past) states(ctx context.Context, a scope, at belfry.Time) (states, error) {
	// What a snapshot has must be no news at the moment: events may be ahead of the time at which they are written.
	ends, err := s.snapshots(ctx, a.customer, 0, at-belfry.Time(Ahead.Microseconds()))
	if err != nil {
		return nil, err
	}
	for _, end := range ends {
		first, whole, err := s.whole(ctx, a.customer, end)
		if err != nil {
			return nil, err
		}
		if !whole { // some of it was lost in the journal, and an older one has to do
			continue
		}
		states, err := s.base(ctx, a, end)
		if err != nil {
			return nil, err
		}
		return states, s.replay(ctx, a, at, first, states)
	}
	if oldest := s.Oldest(belfry.Events); s.began(a.customer) < oldest {
		return nil, belfry.Errorf(belfry.BadQuery, "the status as of %s is not known any more: events before %s are no longer kept", at, oldest)
	}
	states := states{}
	return states, s.replay(ctx, a, at, 0, states)
}

// began is when the customer came; nothing of it can have been dropped that is older.
func (s Past) began(c belfry.CustomerID) (at belfry.Time) {
	s.Tree.Read(c, func(e *meta.Estate) {
		if e != nil && e.Main != nil {
			at = e.Main.Created
		}
	})
	return at
}

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
	_, err = s.read(ctx, p, func(row []belfry.Value) {
		ends = append(ends, end{belfry.Time(row[0].Int), int(row[1].Int)})
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
	_, err = s.read(ctx, p, func(row []belfry.Value) { ok, first = int(row[0].Int) == e.rows, belfry.RowID(row[1].Int) })
	return first, ok, err
}

// base reads a snapshot.
func (s Past) base(ctx context.Context, a scope, e end) (states, error) {
	states := states{}
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.StatusDay), From: e.at, To: e.at,
		Outputs: outputs(idColumn, itemColumn, stored("status", catalog.Status), stored("since", catalog.Time), stored("info", catalog.FullText)),
	}
	a.narrow(p, query.And{query.Null{Column: itemColumn, Not: true}})
	return states, s.pages(ctx, p, 0, states.remember())
}

// replay lets the events after the given row, up to the moment, happen to the states.
func (s Past) replay(ctx context.Context, a scope, at belfry.Time, after belfry.RowID, states states) error {
	p := &query.Plan{
		Collection: s.Catalog.KeptAs(belfry.Events), To: at,
		Outputs: outputs(idColumn, itemColumn, stored("status", catalog.Status), stored("timestamp", catalog.Time), stored("info", catalog.FullText)),
	}
	a.narrow(p, query.And{
		query.Compare{Column: stored("type", catalog.Text), Value: belfry.Value{Type: belfry.TextValue, Text: "alarm"}},
		query.Null{Column: itemColumn, Not: true},
	})
	return s.pages(ctx, p, after, states.remember())
}

// states are what items showed, by their numbers.
type states map[belfry.ID]was

// remember takes in rows of id, item, status, since and info.
func (m states) remember() func(row []belfry.Value) {
	names := shared{}
	return func(row []belfry.Value) {
		m[belfry.ID(row[1].Int)] = was{
			status: belfry.Status(row[2].Int), since: belfry.Time(row[3].Int), info: names.text(row[4].Text),
		}
	}
}

// pages reads all rows of a plan whose id, which is its first output, is above the given one, in the order of their ids
// and so many at a time that neither we nor the engine holds them all.
func (s Past) pages(ctx context.Context, p *query.Plan, after belfry.RowID, each func([]belfry.Value)) error {
	where := p.Where.(query.And)
	p.Limit, p.Order = query.MaxRows, []query.Order{{Column: idColumn}}
	for {
		p.Where = append(query.And{
			query.Compare{Column: idColumn, Op: query.Greater, Value: belfry.Value{Type: belfry.IDValue, Int: int64(after)}},
		}, where...)
		n, err := s.read(ctx, p, func(row []belfry.Value) {
			after = belfry.RowID(row[0].Int)
			each(row)
		})
		if err != nil || n <= p.Limit {
			return err
		}
	}
}

// read gives the rows of a plan one by one, and tells how many there were.
func (s Past) read(ctx context.Context, p *query.Plan, each func([]belfry.Value)) (n int, err error) {
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
		each(row)
	}
}

// rows gives the items that existed at the moment: those that had been made by then, or of which something is known
// from then, as data may be older than their object.
func (s Past) rows(ctx context.Context, p *query.Plan, a scope, states states) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		seen := 0
		for n := range s.Tree.EachEver(s.nodes(a)) {
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				return
			}
			state, known := states[n.ID]
			if n.Created > p.AsOf && !known || n.Removed != 0 && n.Removed <= p.AsOf {
				continue
			}
			if !known {
				state.since = n.Created
			}
			if !yield(pastRow{n, state}) {
				return
			}
		}
	}
}

func (s Past) nodes(a scope) []*meta.Node {
	if a.name == nil {
		return s.Tree.Ever(a.customer)
	}
	return s.Tree.Nodes(a.customer, a.items)
}

// pastRow is an item as a row of objectstatus at a past moment.
type pastRow struct {
	*meta.Node
	was was
}

// Value gives what is known about that moment, and what describes the item as it is now. The rest is absent: it would
// be of now, too, but look as if it had been so then.
func (r pastRow) Value(field string) belfry.Value {
	switch field {
	case "status":
		return belfry.Value{Type: belfry.StatusValue, Int: int64(r.was.status)}
	case "statusname":
		return text(r.was.status.Name())
	case "info":
		return text(r.was.info)
	case "since", "timestamp":
		return moment(r.was.since)
	case "acknowledged", "isunmanaged", "unmanageifred", "collectunmanage", "collectorunmanage":
		return belfry.Value{Type: belfry.BoolValue}
	case "id", "name", "kind", "resource", "view", "parentview", "object", "class", "package", "ip", "host",
		"object_1", "object_2", "object_3", "object_4", "object_5":
		return fields[field](r.Node)
	}
	return belfry.Value{}
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

// shared keeps one copy of each text: the same few reasons stand in a great many rows.
type shared map[string]string

func (s shared) text(t string) string {
	if known, ok := s[t]; ok {
		return known
	}
	if len(s) < 10_000 {
		s[t] = t
	}
	return t
}

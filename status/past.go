package status

import (
	"context"
	"iter"
	"maps"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/query"
)

// Ahead is how far the time of a row, and so of an event, may be ahead of its arrival.
const Ahead = belfry.Ahead

// Past answers what objectstatus would have answered at a past moment, from snapshots and events:
//
//	           snapshot            what each item showed once a day
//	─────────────┼──────────┬───►
//	             ├─ alarms ─┤ T    later by id, and not after T by their own time; the last one of an item counts
//	             └─ changes ┘      the same for what no alarm tells: management, acknowledgments, notes
//
// A snapshot takes a while. Events that come meanwhile may be in it already; to let them happen again changes nothing.
//
// So it follows the order in which things became known, as the present does, and leaves out what is said to have
// happened after T. Without a snapshot the events alone will do, if none have been dropped.
type Past struct {
	Tree    *meta.Tree
	Catalog *catalog.Catalog
	Rows    query.Source                        // of events, changes and snapshots
	Oldest  func(collection string) belfry.Time // rows before it have been dropped; 0 when none have

	partial *query.Partial // of the plan that is answered
}

// Select runs a plan over the state of things at the moment that it names.
func (s Past) Select(ctx context.Context, p *query.Plan, turns *Turns) (query.Rows, error) {
	s.partial = p.Partial
	about, err := s.about(ctx, p)
	if err != nil {
		return nil, err
	}
	states, err := s.states(ctx, about, p.AsOf)
	if err == nil && len(about.around) > 0 {
		err = s.addAround(ctx, about, p.AsOf, states)
	}
	if err != nil {
		return nil, err
	}
	var failed error
	turn, err := turns.Begin(ctx, p.Customer)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	e := &query.Evaluator{Pause: turn.Pause}
	rows, err := e.Eval(p, s.rows(ctx, p, about, states, &failed))
	if err == nil && failed != nil {
		return nil, failed
	}
	return rows, err
}

// addAround adds the states of what the items stand in.
func (s Past) addAround(ctx context.Context, a scope, at belfry.Time, to states) error {
	more, err := s.states(ctx, scope{customer: a.customer, items: a.around}, at)
	maps.Copy(to, more)
	return err
}

// scope is whose items are asked for, and which: all, unless they have one name.
type scope struct {
	customer belfry.CustomerID
	name     *string // of objects
	items    []belfry.ID
	nodes    []*meta.Node // of these
	around   []belfry.ID  // the views and resources in which these stand, whose management they may have inherited
}

// So many objects of one name are looked for by themselves, in so many views and resources.
const (
	maxNamed  = 1000
	maxAround = 100
)

// about finds which items can be in the answer. People mostly ask for one object, or for all.
func (s Past) about(ctx context.Context, p *query.Plan) (scope, error) {
	a := scope{customer: p.Customer}
	name, ok := p.Wanted("object")
	if !ok {
		return a, nil
	}
	items, known, err := s.Tree.Items(ctx, p.Scope(), query.ItemMatch{Object: &name})
	if err != nil || !known || len(items) > maxNamed {
		return a, err
	}
	nodes, err := s.Tree.Nodes(ctx, p.Customer, items)
	if err != nil {
		return a, err
	}
	if around := s.around(nodes); len(around) <= maxAround {
		a.name, a.items, a.nodes, a.around = &name, items, nodes, around
	}
	return a, nil
}

// around lists what items stand in, up to MAIN.
func (s Past) around(nodes []*meta.Node) (ids []belfry.ID) {
	seen := map[belfry.ID]bool{}
	for n := range s.Tree.EachEver(nodes) {
		for p := n.Parent; p != nil && !seen[p.ID]; p = p.Parent {
			seen[p.ID] = true
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// narrow has a plan give rows of these items alone.
func (a scope) narrow(p *query.Plan, where query.And) {
	p.Customer, p.Where = a.customer, where
	switch {
	case a.name != nil:
		object := query.Column{Name: "object", Type: catalog.Text, From: query.FromItem, Of: "object"}
		p.Where = append(where, query.Compare{Column: object, Value: belfry.Value{Type: belfry.TextValue, Text: *a.name}})
		p.Items, p.ItemsKnown = a.items, true
	case a.items != nil:
		var one query.Or
		for _, id := range a.items {
			one = append(one, query.Compare{Column: itemColumn, Value: belfry.Value{Type: belfry.IDValue, Int: int64(id)}})
		}
		p.Where = append(where, one)
		p.Items, p.ItemsKnown = a.items, true
	}
}

// Taken tells whether the customer has a whole snapshot that was begun at or after since and ended until now. One that
// lies in the future was taken while the clock was ahead; it must not keep the days until then from having their own.
func (s Past) Taken(ctx context.Context, c belfry.CustomerID, since, now belfry.Time) (bool, error) {
	s.partial = new(query.Partial) // one that cannot be read is as good as none
	ends, err := s.snapshots(ctx, c, since, now)
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
	s.Tree.Read(c, func(e *meta.Tenant) {
		if e != nil && e.Main != nil {
			at = e.Main.Created
		}
	})
	return at
}

// rows gives the items that existed at the moment: those that had been made by then, or of which something is known
// from then, as data may be older than their object. The tree is locked while rows are made, some at a time, and not
// while the caller has one.
func (s Past) rows(ctx context.Context, p *query.Plan, a scope, states states, failed *error) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		within := s.Tree.Within(p.Scope())
		then := picture{states, map[*meta.Node]*meta.Node{}, &within}
		var rows []*row
		for list, err := range s.then(ctx, a, p.AsOf) {
			if err != nil {
				*failed = err
				return
			}
			for part := range slices.Chunk(list, copied) {
				rows = rows[:0]
				for n := range s.Tree.EachEver(part) {
					if then.existed(n, p.AsOf) {
						rows = append(rows, then.row(n))
					}
				}
				for _, r := range rows {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

// existed tells whether the item had been made by then, and not been removed.
func (p *picture) existed(n *meta.Node, at belfry.Time) bool {
	_, known := p.states[n.ID]
	return (n.Created <= at || known) && (n.Removed == 0 || n.Removed > at)
}

// then gives the items that can be in the answer.
func (s Past) then(ctx context.Context, a scope, at belfry.Time) iter.Seq2[[]*meta.Node, error] {
	if a.name == nil {
		return s.Tree.Then(ctx, a.customer, at)
	}
	return func(yield func([]*meta.Node, error) bool) { yield(a.nodes, nil) }
}

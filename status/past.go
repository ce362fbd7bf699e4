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
	"belfry/store"
)

// Ahead is how far the time of a row, and so of an event, may be ahead of its arrival.
const Ahead = belfry.Ahead

// Past answers what objectstatus would have answered at a past moment, from snapshots and events:
//
//	           snapshot            what each item showed once a day
//	─────────────┼──────────┬───►
//	             ├─ alarms ─┤ T    later by id, and not after T by their own time; the last of each item counts
//	             └─ changes ┘      the same for what no alarm reports: management, acknowledgments, notes
//
// A snapshot takes a while. Events during that time may be in it already; applying them again changes nothing.
//
// So it follows the order in which changes became known, as the present does, and ignores those dated after T. Without
// a snapshot the events alone are enough, if none have been dropped.
type Past struct {
	Tree    *meta.Tree
	Catalog *catalog.Catalog
	Rows    *store.Mover                        // of events, changes and snapshots
	Oldest  func(collection string) belfry.Time // rows before it have been dropped; 0 if none have

	partial *query.Partial // of the plan being answered
}

// Select runs a plan over the state at the time given in the plan.
func (s Past) Select(ctx context.Context, p *query.Plan, turns *Turns) (query.Rows, error) {
	s.partial = p.Partial
	about, err := s.selectItems(ctx, p)
	if err != nil {
		return nil, err
	}
	states, err := s.states(ctx, about, p.AsOf)
	if err == nil && len(about.ancestors) > 0 {
		err = s.addAncestors(ctx, about, p.AsOf, states)
	}
	if err != nil {
		return nil, err
	}
	var failed error
	turn := turns.Begin(ctx, p.Customer)
	defer turn.End()
	e := &query.Evaluator{Pause: turn.Pause}
	rows, err := e.Eval(p, s.rows(ctx, p, about, states, &failed))
	if err == nil && failed != nil {
		return nil, failed
	}
	return rows, err
}

// addAncestors adds the states of the views and resources that contain the items.
func (s Past) addAncestors(ctx context.Context, a selection, at belfry.Time, to states) error {
	more, err := s.states(ctx, selection{customer: a.customer, items: a.ancestors}, at)
	maps.Copy(to, more)
	return err
}

// selection is the set of items that a query needs: all of a customer, or the objects of one name.
type selection struct {
	customer  belfry.CustomerID
	name      *string // of objects
	items     []belfry.ID
	nodes     []*meta.Node // of items
	ancestors []belfry.ID  // views and resources that contain the items; they may inherit their management
}

// Objects of one name are read alone up to these numbers of objects and ancestors.
const (
	maxNamed     = 1000
	maxAncestors = 100
)

// selectItems finds the items that can be in the answer. Most queries are for one object or for all.
func (s Past) selectItems(ctx context.Context, p *query.Plan) (selection, error) {
	a := selection{customer: p.Customer}
	name, ok := p.Wanted("object")
	if !ok {
		return a, nil
	}
	items, known, err := s.Tree.History().Items(ctx, p.Scope(), query.ItemMatch{Object: &name})
	if err != nil || !known || len(items) > maxNamed {
		return a, err
	}
	nodes, err := s.Tree.History().Nodes(ctx, p.Customer, items)
	if err != nil {
		return a, err
	}
	if around := s.ancestors(nodes); len(around) <= maxAncestors {
		a.name, a.items, a.nodes, a.ancestors = &name, items, nodes, around
	}
	return a, nil
}

// ancestors lists the views and resources that contain the items, up to MAIN.
func (s Past) ancestors(nodes []*meta.Node) (ids []belfry.ID) {
	seen := map[belfry.ID]bool{}
	for n := range s.Tree.EachWithRemoved(nodes) {
		for p := n.Parent; p != nil && !seen[p.ID]; p = p.Parent {
			seen[p.ID] = true
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// restrict limits a plan to rows of the selected items.
func (a selection) restrict(p *query.Plan, where query.And) {
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

// Taken reports whether the customer has a complete snapshot that was begun at or after since and ended by now. One in
// the future was taken while the clock was ahead; it must not prevent snapshots of the days until then.
func (s Past) Taken(ctx context.Context, c belfry.CustomerID, since, now belfry.Time) (bool, error) {
	s.partial = new(query.Partial) // an unreadable snapshot counts as none
	ends, err := s.snapshots(ctx, c, since, now)
	return len(ends) > 0, err
}

// states returns the states of all items of which anything was known.
func (s Past) states(ctx context.Context, a selection, at belfry.Time) (states, error) {
	// Everything in the snapshot must be known at the time asked for: events may be ahead of the time at which they are written.
	ends, err := s.snapshots(ctx, a.customer, 0, at-belfry.Time(Ahead.Microseconds()))
	if err != nil {
		return nil, err
	}
	for _, end := range ends {
		first, whole, err := s.isComplete(ctx, a.customer, end)
		if err != nil {
			return nil, err
		}
		if !whole { // rows were lost in the journal: use an older one
			continue
		}
		states, err := s.base(ctx, a, end)
		if err != nil {
			return nil, err
		}
		return states, s.replay(ctx, a, at, first, states)
	}
	if oldest := s.Oldest(belfry.Events); s.customerCreated(a.customer) < oldest {
		return nil, belfry.Errorf(belfry.BadQuery, "the status as of %s is not known any more: events before %s are no longer kept", at, oldest)
	}
	states := states{}
	return states, s.replay(ctx, a, at, 0, states)
}

// customerCreated returns when the customer was created. No older rows of it can have been dropped.
func (s Past) customerCreated(c belfry.CustomerID) (at belfry.Time) {
	s.Tree.Read(c, func(e *meta.Tenant) {
		if e != nil && e.Main != nil {
			at = e.Main.Created
		}
	})
	return at
}

// rows iterates over the items that existed at the time: those created by then, and those with a known state, because
// data may be older than its object. The tree is locked while a batch of rows is built, not while the caller handles
// one.
func (s Past) rows(ctx context.Context, p *query.Plan, a selection, states states, failed *error) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		within := s.Tree.Visibility(p.Scope())
		then := pastTree{states, map[*meta.Node]*meta.Node{}, &within}
		var rows []*row
		for list, err := range s.nodesAt(ctx, a, p.AsOf) {
			if err != nil {
				*failed = err
				return
			}
			for part := range slices.Chunk(list, copyBatch) {
				rows = rows[:0]
				for n := range s.Tree.EachWithRemoved(part) {
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

// existed reports whether the item existed at the given time.
func (p *pastTree) existed(n *meta.Node, at belfry.Time) bool {
	_, known := p.states[n.ID]
	return (n.Created <= at || known) && (n.Removed == 0 || n.Removed > at)
}

// nodesAt iterates over the items that can be in the answer.
func (s Past) nodesAt(ctx context.Context, a selection, at belfry.Time) iter.Seq2[[]*meta.Node, error] {
	if a.name == nil {
		return s.Tree.History().ItemsAt(ctx, a.customer, at)
	}
	return func(yield func([]*meta.Node, error) bool) { yield(a.nodes, nil) }
}

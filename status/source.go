package status

import (
	"context"
	"fmt"
	"iter"
	"math"

	"belfry"
	"belfry/meta"
	"belfry/query"
)

// Source answers queries of the current collections from the live tree.
type Source struct {
	Tree  *meta.Tree
	Past  *Past  // answers queries with a past time
	Turns *Turns // limits each customer to one processor; may be nil
}

// Select runs a plan over the present state.
func (s Source) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if p.AsOf != 0 {
		return s.Past.Select(ctx, p, s.Turns)
	}
	within := s.Tree.Visibility(p.Scope())
	nodes := s.candidates(p).nodes
	turn := s.Turns.Begin(ctx, p.Customer)
	defer turn.End()
	e := &query.Evaluator{Pause: turn.Pause}
	if p.Offset >= deepOffset && p.Grouping == nil {
		page := *p
		page.Offset = 0
		found, err := s.page(e, p, nodes, &within)
		if err != nil {
			return nil, err
		}
		p, nodes = &page, found
	}
	return e.Eval(p, s.rows(nodes, &within))
}

// deepOffset is the offset from which it pays to find the rows of a page first and read them afterwards. The web
// interface scrolls through lists of any length.
const deepOffset = 1000

// page finds the nodes of a page's rows. A change of one of them between finding and reading is in the answer, as is any
// change while a query runs.
func (s Source) page(e *query.Evaluator, p *query.Plan, nodes []*meta.Node, within *meta.Visibility) ([]*meta.Node, error) {
	var seen []*meta.Node // without removed ones
	indexes, err := e.PageRows(p, func(yield func(int, query.Row) bool) {
		for n, r := range eachRow(s.Tree, nodes, within) {
			seen = append(seen, n)
			if !yield(len(seen)-1, r) {
				return
			}
		}
	})
	found := make([]*meta.Node, len(indexes))
	for i, j := range indexes {
		found[i] = seen[j]
	}
	return found, err
}

// Explain describes which items Select would read, and how it finds them.
func (s Source) Explain(ctx context.Context, p *query.Plan) ([]query.Line, error) {
	text, err := s.found(ctx, p)
	return []query.Line{{Part: "found", Text: text}}, err
}

func (s Source) found(ctx context.Context, p *query.Plan) (string, error) {
	if p.AsOf == 0 {
		return s.candidates(p).String(), nil
	}
	if a, err := s.Past.selectItems(ctx, p); err != nil || a.name != nil {
		return fmt.Sprintf("%d objects by name, from the snapshot before and the events since", len(a.items)), err
	}
	return "all items, from the snapshot before and the events since", nil
}

func (s Source) candidates(p *query.Plan) candidates {
	if p.Collection.Name != "objectstatus" { // nothing feeds the other current collections yet
		return candidates{}
	}
	return find(s.Tree, p.Customer, p.Where)
}

// rows iterates over items as seen from a scope. The tree is not locked while the caller handles a row.
func (s Source) rows(nodes []*meta.Node, within *meta.Visibility) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		for _, r := range eachRow(s.Tree, nodes, within) {
			if !yield(r) {
				return
			}
		}
	}
}

// row is a copy of an item, as a row of objectstatus. It has all that fields are read from, so the tree need not be
// locked while conditions are tested: no record can be applied during that lock, so no sender would get an answer.
type row struct {
	meta.Node
	grandparent *meta.Node
	operator    *belfry.OperatorState // see effectiveManagement
}

// set copies an item. The caller holds the lock of the tree.
func (r *row) set(n *meta.Node) {
	r.Node = *n
	r.State.Info = n.Info() // may come from the only item in it
	if r.grandparent = nil; n.Parent != nil {
		r.grandparent = n.Parent.Parent
	}
	r.operator = effectiveManagement(n)
}

// Value returns a field of the item.
func (r *row) Value(field string) belfry.Value {
	if f := fields[field]; f != nil {
		return f(r)
	}
	if f := operatorFields[field]; f != nil {
		return f(r)
	}
	if n, asText, ok := belfry.ParseIndicatorColumn(field); ok {
		return r.indicator(n, asText)
	}
	return belfry.Value{}
}

func (r *row) indicator(n int, asText bool) belfry.Value {
	s := &r.State
	if !asText && n <= len(s.Numbers) && !math.IsNaN(s.Numbers[n-1]) {
		return belfry.Value{Type: belfry.NumberValue, Num: s.Numbers[n-1]}
	}
	if n <= len(s.Texts) {
		return textValue(s.Texts[n-1])
	}
	return belfry.Value{}
}

// fields maps the fields of objectstatus, except operatorFields, to their values.
var fields = map[string]func(*row) belfry.Value{
	belfry.PlaceColumn: func(n *row) belfry.Value {
		return belfry.Value{Type: belfry.IDValue, Int: int64(n.Place().ID)}
	},
	"id":         func(n *row) belfry.Value { return belfry.Value{Type: belfry.IDValue, Int: int64(n.Number)} },
	"timestamp":  func(n *row) belfry.Value { return timeValue(max(n.State.LastData, n.State.Since)) },
	"name":       func(n *row) belfry.Value { return textValue(n.Name) },
	"kind":       func(n *row) belfry.Value { return textValue(n.Kind.String()) },
	"class":      func(n *row) belfry.Value { return textValue(n.Class.Name) },
	"package":    func(n *row) belfry.Value { return textValue(n.Package) },
	"statusname": func(n *row) belfry.Value { return textValue(n.State.StatusName()) },
	"info":       info,
	"since":      func(n *row) belfry.Value { return timeValue(n.State.Since) },
	"lastdata":   func(n *row) belfry.Value { return timeValue(n.State.LastData) },
	"status": func(n *row) belfry.Value {
		return belfry.Value{Type: belfry.StatusValue, Int: int64(n.State.Status)}
	},
	"resource": func(n *row) belfry.Value {
		if n.Resource == nil {
			return belfry.Value{}
		}
		return textValue(n.Resource.Name)
	},
	"view": func(n *row) belfry.Value {
		if n.Kind == belfry.KindView {
			return textValue(n.Name)
		}
		return nameOf(n.Parent)
	},
	"parentview": parentView,
	"object": func(n *row) belfry.Value {
		if n.Kind != belfry.KindObject {
			return belfry.Value{}
		}
		return textValue(n.Name)
	},
	"ip":       detail(func(d *belfry.Details) string { return d.IP }),
	"host":     detail(func(d *belfry.Details) string { return d.Host }),
	"object_1": detail(func(d *belfry.Details) string { return d.Constants[0] }),
	"object_2": detail(func(d *belfry.Details) string { return d.Constants[1] }),
	"object_3": detail(func(d *belfry.Details) string { return d.Constants[2] }),
	"object_4": detail(func(d *belfry.Details) string { return d.Constants[3] }),
	"object_5": detail(func(d *belfry.Details) string { return d.Constants[4] }),
}

// parentView returns the view around the one that contains the item; for a view, the one that contains it.
func parentView(n *row) belfry.Value {
	if n.Kind == belfry.KindView || n.Parent == nil {
		return nameOf(n.Parent)
	}
	return nameOf(n.grandparent)
}

func detail(f func(*belfry.Details) string) func(*row) belfry.Value {
	return func(n *row) belfry.Value {
		if n.Details == nil {
			return belfry.Value{}
		}
		return textValue(f(n.Details))
	}
}

func nameOf(n *meta.Node) belfry.Value {
	if n == nil {
		return belfry.Value{}
	}
	return textValue(n.Name)
}

func textValue(s string) belfry.Value {
	if s == "" {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TextValue, Text: s}
}

func timeValue(t belfry.Time) belfry.Value {
	if t == 0 {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TimeValue, Int: int64(t)}
}

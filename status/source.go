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
	Past  *Past  // answers for a past moment
	Turns *Turns // of the queries of each customer; may be nil
}

// Select runs a plan over the present state of things.
func (s Source) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if p.AsOf != 0 {
		return s.Past.Select(ctx, p, s.Turns)
	}
	within := s.Tree.Within(p.Scope())
	nodes := s.candidates(p).nodes
	turn, err := s.Turns.Begin(ctx, p.Customer)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	e := &query.Evaluator{Pause: turn.Pause}
	if p.Offset >= deep && p.Grouping == nil {
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

// deep is an offset from which on it pays to look for the rows of a page first, and to read them afterwards. The web
// interface scrolls through lists of any length.
const deep = 1000

// page finds the nodes that the rows of a page are about. What happens to one of them between looking and reading is in
// the answer, as it is for everything that happens while a query runs.
func (s Source) page(e *query.Evaluator, p *query.Plan, nodes []*meta.Node, within *meta.Within) ([]*meta.Node, error) {
	var seen []*meta.Node // removed ones do not come
	places, err := e.PageRows(p, func(yield func(int, query.Row) bool) {
		for n, r := range eachRow(s.Tree, nodes, within) {
			seen = append(seen, n)
			if !yield(len(seen)-1, r) {
				return
			}
		}
	})
	found := make([]*meta.Node, len(places))
	for i, at := range places {
		found[i] = seen[at]
	}
	return found, err
}

// Explain tells which items Select would look at, and how it finds them.
func (s Source) Explain(ctx context.Context, p *query.Plan) ([]query.Line, error) {
	text, err := s.found(ctx, p)
	return []query.Line{{Part: "found", Text: text}}, err
}

func (s Source) found(ctx context.Context, p *query.Plan) (string, error) {
	if p.AsOf == 0 {
		return s.candidates(p).String(), nil
	}
	if a, err := s.Past.about(ctx, p); err != nil || a.name != nil {
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

// rows shows items as they are seen from within a scope. The tree is not locked while the caller has a row.
func (s Source) rows(nodes []*meta.Node, within *meta.Within) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		for _, r := range eachRow(s.Tree, nodes, within) {
			if !yield(r) {
				return
			}
		}
	}
}

// row is a copy of an item, as a row of objectstatus. It has all that fields are read from, so that the tree need not be
// locked while conditions are tested: no record can be applied while it is, and so nobody's rows are acknowledged.
type row struct {
	meta.Node
	around *meta.Node            // in which the parent stands
	care   *belfry.OperatorState // what was said about its management, see careAbout
}

// set copies an item. The tree is locked.
func (r *row) set(n *meta.Node) {
	r.Node = *n
	r.State.Info = n.Info() // may be that of what stands in it
	if r.around = nil; n.Parent != nil {
		r.around = n.Parent.Parent
	}
	r.care = careAbout(n)
}

// Value gives a field of the item.
func (r *row) Value(field string) belfry.Value {
	if f := fields[field]; f != nil {
		return f(r)
	}
	if f := careFields[field]; f != nil {
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
		return text(s.Texts[n-1])
	}
	return belfry.Value{}
}

// fields are the fields of objectstatus and where they come from, beside careFields.
var fields = map[string]func(*row) belfry.Value{
	belfry.PlaceColumn: func(n *row) belfry.Value {
		return belfry.Value{Type: belfry.IDValue, Int: int64(n.Place().ID)}
	},
	"id":         func(n *row) belfry.Value { return belfry.Value{Type: belfry.IDValue, Int: int64(n.Number)} },
	"timestamp":  func(n *row) belfry.Value { return moment(max(n.State.LastData, n.State.Since)) },
	"name":       func(n *row) belfry.Value { return text(n.Name) },
	"kind":       func(n *row) belfry.Value { return text(n.Kind.String()) },
	"class":      func(n *row) belfry.Value { return text(n.Class.Name) },
	"package":    func(n *row) belfry.Value { return text(n.Package) },
	"statusname": func(n *row) belfry.Value { return text(n.State.StatusName()) },
	"info":       info,
	"since":      func(n *row) belfry.Value { return moment(n.State.Since) },
	"lastdata":   func(n *row) belfry.Value { return moment(n.State.LastData) },
	"status": func(n *row) belfry.Value {
		return belfry.Value{Type: belfry.StatusValue, Int: int64(n.State.Status)}
	},
	"resource": func(n *row) belfry.Value {
		if n.Resource == nil {
			return belfry.Value{}
		}
		return text(n.Resource.Name)
	},
	"view": func(n *row) belfry.Value {
		if n.Kind == belfry.KindView {
			return text(n.Name)
		}
		return nameOf(n.Parent)
	},
	"parentview": parentView,
	"object": func(n *row) belfry.Value {
		if n.Kind != belfry.KindObject {
			return belfry.Value{}
		}
		return text(n.Name)
	},
	"ip":       detail(func(d *belfry.Details) string { return d.IP }),
	"host":     detail(func(d *belfry.Details) string { return d.Host }),
	"object_1": detail(func(d *belfry.Details) string { return d.Constants[0] }),
	"object_2": detail(func(d *belfry.Details) string { return d.Constants[1] }),
	"object_3": detail(func(d *belfry.Details) string { return d.Constants[2] }),
	"object_4": detail(func(d *belfry.Details) string { return d.Constants[3] }),
	"object_5": detail(func(d *belfry.Details) string { return d.Constants[4] }),
}

// parentView is the view around the one in which the item stands; for a view, the one in which it stands.
func parentView(n *row) belfry.Value {
	if n.Kind == belfry.KindView || n.Parent == nil {
		return nameOf(n.Parent)
	}
	return nameOf(n.around)
}

func detail(f func(*belfry.Details) string) func(*row) belfry.Value {
	return func(n *row) belfry.Value {
		if n.Details == nil {
			return belfry.Value{}
		}
		return text(f(n.Details))
	}
}

func nameOf(n *meta.Node) belfry.Value {
	if n == nil {
		return belfry.Value{}
	}
	return text(n.Name)
}

func text(s string) belfry.Value {
	if s == "" {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TextValue, Text: s}
}

func moment(t belfry.Time) belfry.Value {
	if t == 0 {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TimeValue, Int: int64(t)}
}

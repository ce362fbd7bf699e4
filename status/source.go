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
	Tree *meta.Tree
	Past *Past // answers for a past moment
}

// Select runs a plan over the present state of things.
func (s Source) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if p.AsOf != 0 {
		return s.Past.Select(ctx, p)
	}
	within := s.Tree.Within(p.Scope())
	nodes := s.candidates(p).nodes
	if p.Offset >= deep && p.Grouping == nil {
		page := *p
		page.Offset = 0
		p, nodes = &page, s.page(ctx, p, nodes, &within)
	}
	rows, err := query.Eval(p, s.rows(ctx, nodes, &within))
	if err == nil && ctx.Err() != nil {
		return nil, ctx.Err() // what was gathered until then is not the answer
	}
	return rows, err
}

// deep is an offset from which on it pays to look for the rows of a page first, and to read them afterwards. The web
// interface scrolls through lists of any length.
const deep = 1000

// page finds the nodes that the rows of a page are about. What happens to one of them between looking and reading is in
// the answer, as it is for everything that happens while a query runs.
func (s Source) page(ctx context.Context, p *query.Plan, nodes []*meta.Node, within *meta.Within) []*meta.Node {
	var seen []*meta.Node // removed ones do not come
	places := query.Places(p, func(yield func(int, query.Row) bool) {
		for n := range s.Tree.Each(nodes) {
			if seen = append(seen, n); len(seen)%1024 == 0 && ctx.Err() != nil {
				return
			}
			if !yield(len(seen)-1, row{within.Show(n)}) {
				return
			}
		}
	})
	found := make([]*meta.Node, len(places))
	for i, at := range places {
		found[i] = seen[at]
	}
	return found
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

// rows shows items as they are seen from within a scope.
func (s Source) rows(ctx context.Context, nodes []*meta.Node, within *meta.Within) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		seen := 0
		for n := range s.Tree.Each(nodes) {
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				return
			}
			if !yield(row{within.Show(n)}) {
				return
			}
		}
	}
}

// row is an item as a row of objectstatus.
type row struct{ *meta.Node }

// Value gives a field of the item.
func (r row) Value(field string) belfry.Value {
	if f := fields[field]; f != nil {
		return f(r.Node)
	}
	if f := careFields[field]; f != nil {
		return f(r.Node)
	}
	if n, asText, ok := belfry.ParseIndicatorColumn(field); ok {
		return r.indicator(n, asText)
	}
	return belfry.Value{}
}

func (r row) indicator(n int, asText bool) belfry.Value {
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
var fields = map[string]func(*meta.Node) belfry.Value{
	belfry.PlaceColumn: func(n *meta.Node) belfry.Value {
		return belfry.Value{Type: belfry.IDValue, Int: int64(n.Place().ID)}
	},
	"id":         func(n *meta.Node) belfry.Value { return belfry.Value{Type: belfry.IDValue, Int: itemNumber(n)} },
	"timestamp":  func(n *meta.Node) belfry.Value { return moment(max(n.State.LastData, n.State.Since)) },
	"name":       func(n *meta.Node) belfry.Value { return text(n.Name) },
	"kind":       func(n *meta.Node) belfry.Value { return text(n.Kind.String()) },
	"class":      func(n *meta.Node) belfry.Value { return text(n.Class.Name) },
	"package":    func(n *meta.Node) belfry.Value { return text(n.Package) },
	"statusname": func(n *meta.Node) belfry.Value { return text(n.State.StatusName()) },
	"info":       info,
	"since":      func(n *meta.Node) belfry.Value { return moment(n.State.Since) },
	"lastdata":   func(n *meta.Node) belfry.Value { return moment(n.State.LastData) },
	"status": func(n *meta.Node) belfry.Value {
		return belfry.Value{Type: belfry.StatusValue, Int: int64(n.State.Status)}
	},
	"resource": func(n *meta.Node) belfry.Value {
		if n.Resource == nil {
			return belfry.Value{}
		}
		return text(n.Resource.Name)
	},
	"view": func(n *meta.Node) belfry.Value {
		if n.Kind == belfry.KindView {
			return text(n.Name)
		}
		return nameOf(n.Parent)
	},
	"parentview": parentView,
	"object": func(n *meta.Node) belfry.Value {
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
func parentView(n *meta.Node) belfry.Value {
	if n.Kind == belfry.KindView || n.Parent == nil {
		return nameOf(n.Parent)
	}
	return nameOf(n.Parent.Parent)
}

func detail(f func(*belfry.Details) string) func(*meta.Node) belfry.Value {
	return func(n *meta.Node) belfry.Value {
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

// itemNumber is by what the answer identifies an item. One that is read from the database has no Number, and gets one that
// no other can have.
func itemNumber(n *meta.Node) int64 {
	if n.Number == 0 {
		return 1<<40 | int64(n.ID)
	}
	return int64(n.Number)
}

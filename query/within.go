package query

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Within limits a plan to sub-trees of a customer. Check adds the condition Inside to every plan of a limited scope, and
// Resolve sets the places: a plan that has not been resolved finds nothing.
type Within struct {
	Views  []string    // the scope as given
	Places []belfry.ID // that items inside belong to: resources, and views of the customer; sorted

	// Tops are the resources among them whose view is outside: their field view reads MAIN.
	Tops []belfry.ID
}

// Inside is the condition that the item of a row belongs to one of the places. Clients cannot write it.
type Inside struct{ *Within }

func (p Inside) writePred(b *strings.Builder) {
	b.WriteString("INSIDE (")
	for i, v := range p.Views {
		separate(b, i, ", ")
		b.WriteString(quoteString(v))
	}
	b.WriteByte(')')
}

// scope limits the plan to the sub-trees of its scope. A collection whose rows have no item has no rows inside.
func (k *checker) scope() error {
	s := k.options.scope()
	if !s.Limited() {
		return nil
	}
	k.plan.Within = &Within{Views: s.Views}
	var inside Pred = Inside{k.plan.Within}
	if !aboutItems(k.plan.Collection) {
		inside = Always(false)
	}
	k.plan.Where = conjunction(k.plan.Where, inside)
	return nil
}

// scope returns the scope of the query.
func (o Options) scope() belfry.Scope { return belfry.Scope{Customer: o.Customer, Views: o.Views} }

// aboutItems reports whether the rows of a collection refer to an item.
func aboutItems(c *catalog.Collection) bool {
	return c.Name == "objectstatus" || slices.ContainsFunc(c.Fields, func(f catalog.Field) bool { return f.Of != "" })
}

// Scope returns the scope of the plan.
func (p *Plan) Scope() belfry.Scope {
	s := belfry.Whole(p.Customer)
	if p.Within != nil {
		s.Views = p.Within.Views
	}
	return s
}

// holds reports whether a row belongs to one of the places.
func (p Inside) holds(r Row) bool {
	v := r.Value(belfry.PlaceColumn)
	if v.Type == belfry.AbsentValue {
		return false
	}
	_, found := slices.BinarySearch(p.Places, belfry.ID(v.Int))
	return found
}

// isTop reports whether an item is one whose view must not be shown.
func (w *Within) isTop(item belfry.ID) bool {
	if w == nil {
		return false
	}
	_, found := slices.BinarySearch(w.Tops, item)
	return found
}

// mask replaces the view of rows about such items by MAIN.
func (w *Within) mask(rows iter.Seq[Row]) iter.Seq[Row] {
	if w == nil || len(w.Tops) == 0 {
		return rows
	}
	return func(yield func(Row) bool) {
		for r := range rows {
			if v := r.Value(belfry.ItemColumn); v.Type != belfry.AbsentValue && w.isTop(belfry.ID(v.Int)) {
				r = maskedRow{r}
			}
			if !yield(r) {
				return
			}
		}
	}
}

// maskedRow is a row about a resource whose view is outside.
type maskedRow struct{ Row }

func (r maskedRow) Value(field string) belfry.Value {
	if field == "view" {
		return nameValue(belfry.Main)
	}
	return r.Row.Value(field)
}

// label returns those names of an item that the plan may show.
func (p *Plan) label(ctx context.Context, names ItemNames, item belfry.ID) (Label, error) {
	l, err := names.Label(ctx, p.Customer, item)
	if p.Within.isTop(item) {
		l.View = belfry.Main
	}
	return l, err
}

// inside writes the condition for an engine, whose table of items has their places.
func (w *writer) inside(p Inside) string {
	if len(p.Places) == 0 {
		return "FALSE"
	}
	return w.lookup(func() string { return w.name(belfry.PlaceColumn) + " IN (" + w.ids(p.Places) + ")" })
}

// itemName returns a field of an item, qualified with the given table, if the plan may show it.
func (w *writer) itemName(table, field string) string {
	name := table + w.name(field)
	if field != "view" || w.plan.Within == nil || len(w.plan.Within.Tops) == 0 {
		return name
	}
	return "CASE WHEN " + table + w.name("id") + " IN (" + w.ids(w.plan.Within.Tops) + ") THEN '" + belfry.Main + "' ELSE " + name + " END"
}

// ids writes ids as literals, see customer.
func (w *writer) ids(list []belfry.ID) string {
	return w.list(len(list), func(i int) string { return strconv.FormatUint(uint64(list[i]), 10) })
}

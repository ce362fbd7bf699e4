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

// Within limits a plan to sub-trees of a customer. Check puts the condition Inside into every plan of a limited scope,
// beside whatever the query says, and Resolve fills the places in: a plan that nobody has resolved finds nothing.
type Within struct {
	Views  []string    // the scope, as it was given
	Places []belfry.ID // to which items inside belong: resources, and views of the customer; in order

	// Tops are the resources among them whose view is outside: of these, the field view reads MAIN.
	Tops []belfry.ID
}

// Inside is the condition that the item of a row belongs to one of the places. No text of a client becomes one.
type Inside struct{ *Within }

func (p Inside) writePred(b *strings.Builder) {
	b.WriteString("INSIDE (")
	for i, v := range p.Views {
		separate(b, i, ", ")
		b.WriteString(quoteString(v))
	}
	b.WriteByte(')')
}

// scope limits the plan to the sub-trees of its scope. A collection whose rows are about no item has none inside.
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

// scope is whose rows are asked for, and which.
func (o Options) scope() belfry.Scope { return belfry.Scope{Customer: o.Customer, Views: o.Views} }

// aboutItems tells whether each row of a collection says which item it is about.
func aboutItems(c *catalog.Collection) bool {
	return c.Name == "objectstatus" || slices.ContainsFunc(c.Fields, func(f catalog.Field) bool { return f.Of != "" })
}

// Scope is whose rows the plan finds, and which.
func (p *Plan) Scope() belfry.Scope {
	s := belfry.Whole(p.Customer)
	if p.Within != nil {
		s.Views = p.Within.Views
	}
	return s
}

// holds tells whether a row belongs to one of the places.
func (p Inside) holds(r Row) bool {
	v := r.Value(belfry.PlaceColumn)
	if v.Type == belfry.AbsentValue {
		return false
	}
	_, found := slices.BinarySearch(p.Places, belfry.ID(v.Int))
	return found
}

// top tells whether an item is one whose view must not be told.
func (w *Within) top(item belfry.ID) bool {
	if w == nil {
		return false
	}
	_, found := slices.BinarySearch(w.Tops, item)
	return found
}

// mask lets rows show of their items what is to be seen.
func (w *Within) mask(rows iter.Seq[Row]) iter.Seq[Row] {
	if w == nil || len(w.Tops) == 0 {
		return rows
	}
	return func(yield func(Row) bool) {
		for r := range rows {
			if v := r.Value(belfry.ItemColumn); v.Type != belfry.AbsentValue && w.top(belfry.ID(v.Int)) {
				r = topRow{r}
			}
			if !yield(r) {
				return
			}
		}
	}
}

// topRow is a row about a resource whose view is outside.
type topRow struct{ Row }

func (r topRow) Value(field string) belfry.Value {
	if field == "view" {
		return nameValue(belfry.Main)
	}
	return r.Row.Value(field)
}

// label names an item as the plan may tell it.
func (p *Plan) label(ctx context.Context, labels Labels, item belfry.ID) (Label, error) {
	l, err := labels.Label(ctx, p.Customer, item)
	if p.Within.top(item) {
		l.View = belfry.Main
	}
	return l, err
}

// inside writes the condition for an engine: which items belong to the places says its table of items.
func (w *writer) inside(p Inside) string {
	if len(p.Places) == 0 {
		return "FALSE"
	}
	return w.name(belfry.ItemColumn) + " IN (SELECT " + w.name("id") + " FROM " + w.dialect.Items + " WHERE " +
		w.name("customer") + " = " + w.customer() + " AND " + w.name(belfry.PlaceColumn) + " IN (" + w.ids(p.Places) + "))"
}

// itemName is a field of an item, with the table of items before its columns, as the plan may tell it.
func (w *writer) itemName(table, field string) string {
	name := table + w.name(field)
	if field != "view" || w.plan.Within == nil || len(w.plan.Within.Tops) == 0 {
		return name
	}
	return "CASE WHEN " + table + w.name("id") + " IN (" + w.ids(w.plan.Within.Tops) + ") THEN '" + belfry.Main + "' ELSE " + name + " END"
}

// ids are written out, see customer.
func (w *writer) ids(list []belfry.ID) string {
	return w.list(len(list), func(i int) string { return strconv.FormatUint(uint64(list[i]), 10) })
}

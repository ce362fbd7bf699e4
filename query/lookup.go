package query

import (
	"slices"
	"strings"

	"belfry"
)

// lookup is a condition on nothing but the item of a row: a row without an item does not meet it.
type lookup struct{ Pred }

// lookup writes a condition on an item, which is looked up in the table of items. Within a lookup that table is at hand.
func (w *writer) lookup(condition func() string) string {
	if w.inItems {
		return condition()
	}
	w.inItems = true
	defer func() { w.inItems = false }()
	return w.name(belfry.ItemColumn) + " IN (SELECT " + w.name("id") + " FROM " + w.dialect.Items + " WHERE " +
		w.name("customer") + " = " + w.customer() + " AND " + condition() + ")"
}

// joinLookups returns the conditions, which are joined by AND or OR, with one lookup instead of several, and one negated lookup
// instead of several: NOT a AND NOT b is NOT (a OR b). The time that an engine takes to plan a query grows with the cube of its
// lookups, and a term without a field has one for each name.
func (w *writer) joinLookups(of []Pred, or bool) []Pred {
	if w.inItems {
		return of
	}
	of = joinThose(of, w.isLookup, func(l []Pred) Pred { return lookup{join(l, or)} })
	negated := func(p Pred) bool { n, ok := p.(Not); return ok && w.isLookup(n.Of) }
	return joinThose(of, negated, func(l []Pred) Pred {
		for i := range l {
			l[i] = l[i].(Not).Of
		}
		return Not{lookup{join(l, !or)}}
	})
}

func join(of []Pred, or bool) Pred {
	if or {
		return Or(of)
	}
	return And(of)
}

// joinThose replaces several conditions by one in the place of the first.
func joinThose(of []Pred, those func(Pred) bool, one func([]Pred) Pred) []Pred {
	var rest, joined []Pred
	first := slices.IndexFunc(of, those)
	for _, p := range of {
		if those(p) {
			joined = append(joined, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(joined) < 2 {
		return of
	}
	return slices.Insert(rest, first, one(joined))
}

// isLookup reports whether a condition can be part of a lookup. One that a row without an item meets cannot.
func (w *writer) isLookup(p Pred) bool {
	switch p := p.(type) {
	case And:
		return !slices.ContainsFunc(p, func(p Pred) bool { return !w.isLookup(p) })
	case Or:
		return !slices.ContainsFunc(p, func(p Pred) bool { return !w.isLookup(p) })
	case Inside:
		return len(p.Places) > 0
	case Null:
		if !p.Not {
			return false
		}
	}
	c, ok := testedColumn(p)
	return ok && (c.From == FromItem || c.From == RowOrItem && !w.table.Has(c.Name))
}

func (p lookup) writePred(b *strings.Builder) { p.Pred.writePred(b) }

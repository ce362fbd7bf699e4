package query

import (
	"slices"
	"strings"
)

// Conditions on the names of items are looked up in the table of items. Written into the branch of each table they would be looked
// up once for each, and an engine sets memory aside for every look-up: a year has hundreds of tables. So they are applied once, to
// what the branches give:
//
//	(SELECT * FROM (branches) AS q WHERE …) AS q
//
// Everything else stays in the branches, where the engine uses it to skip what it need not read.

// lift takes these conditions out of the branches.
func (w *writer) lift(tables []Table) {
	if len(tables) < 2 {
		return
	}
	w.where, w.lifted = slices.Clone(w.where), nil
	w.where = slices.DeleteFunc(w.where, func(p Pred) bool {
		if !asksItems(p) {
			return false
		}
		w.lifted = append(w.lifted, p)
		return true
	})
}

// asksItems tells whether a condition is looked up in the table of items, if only a part of it.
func asksItems(p Pred) bool {
	switch p := p.(type) {
	case And:
		return slices.ContainsFunc(p, asksItems)
	case Or:
		return slices.ContainsFunc(p, asksItems)
	case Not:
		return asksItems(p.Of)
	case Inside:
		return true
	}
	return mentions(p, Column.ofItem)
}

// liftedNeeds adds the stored columns that the lifted conditions read.
func (w *writer) liftedNeeds(needed []stored) []stored {
	add := func(c Column) bool {
		for _, s := range c.stored() {
			if !slices.Contains(needed, s) {
				needed = append(needed, s)
			}
		}
		return false // to see all of them
	}
	for _, p := range w.lifted {
		add(Column{From: ItemNumber})
		mentions(p, add)
	}
	return needed
}

// union is what the branches give, as the table q. They have the needed columns.
func (w *writer) union(branches []string, needed []stored) string {
	rows := "(\n" + strings.Join(branches, "\nUNION ALL\n") + "\n) AS q"
	if len(w.lifted) == 0 {
		return rows
	}
	w.table = Table{Columns: map[string]bool{}}
	for _, s := range needed {
		w.table.Columns[s.name] = true
	}
	conditions := make([]string, len(w.lifted))
	for i, p := range w.lifted {
		conditions[i] = w.pred(p)
	}
	return "(SELECT * FROM " + rows + "\nWHERE " + strings.Join(conditions, " AND ") + ") AS q"
}

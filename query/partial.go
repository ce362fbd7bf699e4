package query

import (
	"strconv"
	"strings"

	"belfry"
)

// partial is a function in two steps: columns computed from the rows of each item, and how those of several items are
// merged into one result. Rows are grouped by item id before any name is looked up; two items may have the same name.
type partial struct {
	columns []string                       // over the rows q
	merge   func(columns ...string) string // over the partial groups p and the items d
}

// partial returns the two steps of a call; not every function has them.
func (w *writer) partial(c Call) (partial, bool) {
	f := &functions[c.Func]
	switch {
	case c.Column.From == FromItem && f.itemPartial != nil:
		return f.itemPartial(w, w.expressions(c.Column)[0]), true
	case c.Column.From == FromItem || c.Column.From == RowOrItem || f.partial == nil:
		return partial{}, false
	}
	return f.partial(w, c), true
}

// itemAggregate is a function of a name of the item: the name is the same in all rows of the item, so no column is
// needed.
func itemAggregate(fn string) func(*writer, string) partial {
	return func(_ *writer, name string) partial {
		return partial{nil, func(...string) string { return fn + name + ")" }}
	}
}

// itemCount counts the rows of items that have the name.
func itemCount(w *writer, name string) partial {
	return partial{[]string{"COUNT(*)"}, func(p ...string) string {
		return w.sumOfCounts("CASE WHEN " + name + " IS NOT NULL THEN " + p[0] + " END")
	}}
}

// mergeable reports whether the groups can be computed in two steps, and depend on names so that it is worth it.
func (w *writer) mergeable() bool {
	g := w.plan.Grouping
	for _, c := range g.Calls {
		if _, ok := w.partial(c); !ok {
			return false
		}
	}
	return g.joins()
}

// merged writes groups in two steps:
//
//	SELECT keys, merged columns
//	FROM (SELECT item, other keys, partial columns FROM (branches) AS q GROUP BY item, other keys) AS p
//	LEFT JOIN items AS d
func (w *writer) merged(rows string) {
	item := w.qualified("q", belfry.ItemColumn)
	if key := w.groupKey(item, StoredID); key != item {
		item = key + " AS " + w.name(belfry.ItemColumn)
	}
	inner := []string{item}
	named := func(e, prefix string) string {
		name := w.name(prefix + strconv.Itoa(len(inner)))
		inner = append(inner, e+" AS "+name)
		return "p." + name
	}
	var outer []string
	for i, key := range w.plan.Grouping.Keys {
		for j, e := range w.keyExpressions(key) {
			switch key.Column.From {
			case FromItem:
			case RowOrItem:
				e = w.orItem(named(w.qualified("q", key.Column.Name), "k"), key.Column)
			default:
				e = named(e, "k")
			}
			outer = append(outer, e+" AS "+w.groupName(i, j == 1))
		}
	}
	keys := len(inner)
	for i, c := range w.plan.Grouping.Calls {
		part, _ := w.partial(c)
		columns := make([]string, len(part.columns))
		for j, e := range part.columns {
			columns[j] = named(e, "p")
		}
		outer = append(outer, part.merge(columns...)+" AS "+w.groupName(len(w.plan.Grouping.Keys)+i, false))
	}
	w.put("SELECT ", strings.Join(outer, ", "), "\nFROM (SELECT ", strings.Join(inner, ", "), "\nFROM ", rows, groupBy(keys), ") AS p",
		w.joinItems("p"))
}

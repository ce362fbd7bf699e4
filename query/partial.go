package query

import (
	"strconv"
	"strings"

	"belfry"
)

// partial is a function in two steps: columns that are computed of the rows of each item, and how those of several
// items become one result. Rows of one group can so be counted up where they are, by the number of their item, before
// anybody asks for its name; two items may well have the same.
type partial struct {
	columns []string                       // over the rows q
	merge   func(columns ...string) string // over the partial groups p and the items d
}

// partial gives the two steps of a call. Not every function has them.
func (w *writer) partial(c Call) (partial, bool) {
	over := func(fn string) func(...string) string {
		return func(p ...string) string { return fn + "(" + p[0] + ")" }
	}
	sumOf := func(e string) string { return w.dialect.Cast("COALESCE(SUM("+e+"), 0)", StoredInt) }
	switch c.Column.From {
	case FromItem:
		return w.itemPartial(c, sumOf)
	case RowOrItem:
		return partial{}, false
	}
	switch c.Func {
	case FuncCount:
		return partial{[]string{w.aggregate(c)}, func(p ...string) string { return sumOf(p[0]) }}, true
	case FuncSum:
		return partial{[]string{w.sum(c)}, func(p ...string) string { return w.dialect.Finite(w.total(c, "SUM("+p[0]+")")) }}, true
	case FuncMin:
		return partial{[]string{w.aggregate(c)}, over("MIN")}, true
	case FuncMax:
		return partial{[]string{w.aggregate(c)}, over("MAX")}, true
	case FuncMean:
		count := c
		count.Func = FuncCount
		return partial{[]string{w.sum(c), w.aggregate(count)}, func(p ...string) string {
			return w.dialect.Finite("SUM(" + p[0] + ") / SUM(" + p[1] + ")")
		}}, true
	case FuncFirst:
		return partial{[]string{w.aggregate(c), w.whenPresent("MIN", c)}, func(p ...string) string { return w.dialect.AtMin(p[0], p[1]) }}, true
	case FuncLast:
		return partial{[]string{w.aggregate(c), w.whenPresent("MAX", c)}, func(p ...string) string { return w.dialect.AtMax(p[0], p[1]) }}, true
	}
	return partial{}, false
}

// whenPresent is the first or last moment at which the column has a value.
func (w *writer) whenPresent(fn string, c Call) string {
	return fn + "(CASE WHEN " + w.expressions(c.Column)[0] + " IS NOT NULL THEN " + w.when() + " END)"
}

// itemPartial is about a name of the item, which is the same in all rows of a partial group.
func (w *writer) itemPartial(c Call, sumOf func(string) string) (partial, bool) {
	e := w.expressions(c.Column)[0]
	of := func(s string) func(...string) string { return func(...string) string { return s } }
	switch c.Func {
	case FuncCount:
		return partial{[]string{"COUNT(*)"}, func(p ...string) string { return sumOf("CASE WHEN " + e + " IS NOT NULL THEN " + p[0] + " END") }}, true
	case FuncCountDistinct:
		return partial{nil, of("COUNT(DISTINCT " + e + ")")}, true
	case FuncMin:
		return partial{nil, of("MIN(" + e + ")")}, true
	case FuncMax:
		return partial{nil, of("MAX(" + e + ")")}, true
	case FuncFirst:
		return partial{[]string{"MIN(" + w.when() + ")"}, func(p ...string) string { return w.dialect.AtMin(e, p[0]) }}, true
	case FuncLast:
		return partial{[]string{"MAX(" + w.when() + ")"}, func(p ...string) string { return w.dialect.AtMax(e, p[0]) }}, true
	}
	return partial{}, false
}

// mergeable tells whether the groups can be made in two steps, and depend on names so that it is worth it.
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
	item := w.of("q", belfry.ItemColumn)
	if h := w.hashed(item, StoredID); h != item {
		item = h + " AS " + w.name(belfry.ItemColumn)
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
				e = w.orItem(named(w.of("q", key.Column.Name), "k"), key.Column)
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

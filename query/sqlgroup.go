package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// groups writes a plan with groups:
//
//	SELECT outputs
//	FROM (SELECT keys AS g0, g1, …, aggregates AS gN, …
//	      FROM (branches) AS q              ◄─ or in two steps, see merged
//	      GROUP BY keys) AS g
//	WHERE having ORDER BY … LIMIT …
//
// If some of the groups are enough, g is a common table expression that topGroups selects from.
func (w *writer) groups(tables []Table) {
	g := w.plan.Grouping
	needed := w.liftedNeeds(w.groupNeeds())
	branches := w.branches(tables, needed)
	switch {
	case len(branches) == 0 && len(g.Keys) > 0:
		w.emptyResult()
		return
	case len(branches) == 0: // one row even without input
		branches = []string{w.emptyBranch(needed)}
	}
	rows := w.union(branches, needed)
	if w.plan.Latest > 0 {
		rows = w.latestOf(rows)
	}
	outputs := "SELECT " + strings.Join(w.outputs(), ", ") + "\nFROM "
	if w.plan.TopGroups != nil {
		w.put("WITH g AS MATERIALIZED (")
		w.groupRows(rows)
		w.put(")\n", outputs, "g", w.topGroups(w.plan.TopGroups))
		return
	}
	w.put(outputs, "(")
	w.groupRows(rows)
	w.put(") AS g")
	if w.plan.Having != nil {
		w.put("\nWHERE ", w.pred(w.plan.Having))
	}
	if len(w.plan.Order) > 0 {
		w.put("\n", w.order())
	}
	if len(g.Keys) > 0 && w.plan.Limit != AllGroups || w.plan.Offset > 0 {
		w.put("\n", w.limit())
	}
}

// groupRows writes the SELECT that groups the rows.
func (w *writer) groupRows(rows string) {
	g := w.plan.Grouping
	if w.mergeable() {
		w.merged(rows)
	} else {
		w.put("SELECT ", strings.Join(w.groupColumns(), ", "), "\nFROM ", rows)
		if g.joins() {
			w.put(w.joinItems("q"))
		}
	}
	w.put(groupBy(w.width(g.Keys)))
}

// groupColumns returns the columns of the groups: g0, g1, …, and g0t for the text of a key that is an indicator.
func (w *writer) groupColumns() []string {
	g := w.plan.Grouping
	var list []string
	for i, key := range g.Keys {
		for j, e := range w.keyExpressions(key) {
			list = append(list, e+" AS "+w.groupName(i, j == 1))
		}
	}
	for i, c := range g.Calls {
		list = append(list, functions[c.Func].sql(w, c)+" AS "+w.groupName(len(g.Keys)+i, false))
	}
	return list
}

func (w *writer) groupName(i int, text bool) string {
	name := "g" + strconv.Itoa(i)
	if text {
		name += "t"
	}
	return w.name(name)
}

// groupExpressions reads a column from the groups g; for a value there are two, its number first.
func (w *writer) groupExpressions(c Column) []string {
	number, text := "g."+w.groupName(c.N, false), "g."+w.groupName(c.N, true)
	switch {
	case c.isValue():
		return []string{number, text}
	case c.Of == textPart:
		return []string{text}
	}
	return []string{number}
}

// keyExpressions reads a key from the rows q and the items d.
func (w *writer) keyExpressions(key Call) []string {
	list := w.expressions(key.Column)
	if write := functions[key.Func].keySQL; write != nil {
		list[0] = write(key, list[0])
	}
	if key.Column.isValue() {
		return []string{list[0], w.groupKey(list[1], StoredText)}
	}
	return []string{w.groupKey(list[0], storage(key.Column.Type))}
}

// groupKey writes a key as the engine needs it.
func (w *writer) groupKey(key string, t Storage) string {
	if w.dialect.GroupKey == nil {
		return key
	}
	return w.dialect.GroupKey(key, t, len(w.plan.Grouping.Calls))
}

// width returns how many columns the keys have.
func (w *writer) width(keys []Call) int {
	n := len(keys)
	for _, key := range keys {
		if key.Column.isValue() {
			n++
		}
	}
	return n
}

// groupBy groups by the first n columns.
func groupBy(n int) string {
	if n == 0 {
		return ""
	}
	places := make([]string, n)
	for i := range places {
		places[i] = strconv.Itoa(i + 1)
	}
	return "\nGROUP BY " + strings.Join(places, ", ")
}

func (w *writer) joinItems(to string) string {
	return "\nLEFT JOIN " + w.dialect.Items + " AS d ON " + w.qualified("d", "id") + " = " + w.qualified(to, belfry.ItemColumn) +
		" AND " + w.qualified("d", "customer") + " = " + w.customer()
}

// emptyBranch writes a SELECT with the columns of a table and no row.
func (w *writer) emptyBranch(needed []stored) string {
	return "SELECT " + w.nulls(needed) + " WHERE 1 = 0"
}

func (w *writer) nulls(columns []stored) string {
	if len(columns) == 0 {
		return "1"
	}
	return w.list(len(columns), func(i int) string { return w.null(columns[i].as) + " AS " + w.name(columns[i].name) })
}

// groupNeeds returns the stored columns that keys and calls need.
func (w *writer) groupNeeds() (needed []stored) {
	add := func(list ...stored) {
		for _, s := range list {
			if !slices.Contains(needed, s) {
				needed = append(needed, s)
			}
		}
	}
	when := []stored{{timestamp, StoredInt}, {"id", StoredID}}
	if w.plan.Latest > 0 {
		add(when...)
	}
	for i := range w.plan.Grouping.width() {
		c := w.plan.Grouping.call(i)
		if w.summaries {
			add(c.summaryNeeds()...)
			continue
		}
		if c.Column != (Column{}) {
			add(c.Column.stored()...)
		}
		if functions[c.Func].byTime {
			add(when...)
		}
	}
	return needed
}

// joins reports whether the groups depend on the names of items.
func (g *Grouping) joins() bool {
	for i := range g.width() {
		if g.call(i).Column.ofItem() {
			return true
		}
	}
	return false
}

// The methods below write functions over the rows q and the items d or, if w.summaries is set, over summaries.

func (w *writer) count(c Call) string {
	switch {
	case w.summaries && c.Column == (Column{}):
		return w.sumOfCounts(w.qualified("q", RowsColumn))
	case w.summaries:
		return w.sumOfCounts(w.summaryColumn(c, summaryCount))
	case c.Column == (Column{}):
		return "COUNT(*)"
	}
	return countEach("", w.expressions(c.Column))
}

// countEach counts an indicator by its parts: it is a number or a text, never both.
func countEach(distinct string, list []string) string {
	return "COUNT(" + distinct + strings.Join(list, ") + COUNT("+distinct) + ")"
}

// sumOfCounts adds the counts of the parts of a group.
func (w *writer) sumOfCounts(counts ...string) string {
	return w.dialect.Cast("COALESCE(SUM("+counts[0]+"), 0)", StoredInt)
}

func (w *writer) mean(c Call) string {
	if w.summaries {
		return w.dialect.Finite(w.sum(c) + " / SUM(" + w.summaryColumn(c, summaryCount) + ")")
	}
	return w.dialect.Finite("AVG(" + w.expressions(c.Column)[0] + ")")
}

// sum adds integers without loss, in as many bits as needed.
func (w *writer) sum(c Call) string {
	if w.summaries {
		return "SUM(" + w.summaryColumn(c, summaryMean) + " * " + w.summaryColumn(c, summaryCount) + ")"
	}
	return "SUM(" + w.expressions(c.Column)[0] + ")"
}

// total returns a sum, or a sum of sums, as a float.
func (w *writer) total(c Call, sum string) string {
	if c.Column.Type == catalog.Integer {
		return w.dialect.Cast(sum, StoredNumber)
	}
	return sum
}

// operand returns the field of a call or, in summaries, the given column of the indicator.
func (w *writer) operand(c Call, column int) string {
	if w.summaries {
		return w.summaryColumn(c, column)
	}
	return w.expressions(c.Column)[0]
}

// number returns the field of a call as a float.
func (w *writer) number(c Call) string { return w.total(c, w.expressions(c.Column)[0]) }

// timeAndID returns the order of FIRST and LAST: the timestamp, then the id.
func (w *writer) timeAndID() string {
	return w.dialect.Pair(w.qualified("q", timestamp), w.qualified("q", "id"))
}

// stddev has no result if the square of a number would overflow, because engines fail on those.
func stddev(e string) string {
	small := fmt.Sprintf("ABS(%s) < %g", e, maxSquared)
	return "CASE WHEN COUNT(" + e + ") = COUNT(CASE WHEN " + small + " THEN 1 END) THEN STDDEV_SAMP(CASE WHEN " + small + " THEN " + e + " END) END"
}

package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// maxItemIDs limits the item ids that a statement lists, over all its branches. Above it the engine finds the items by
// name in its dimension table.
const maxItemIDs = 20_000

// SQL writes the plan for an engine that has the rows in the given tables:
//
//	SELECT outputs
//	FROM (SELECT columns FROM table1 WHERE customer, span, conditions
//	      UNION ALL
//	      SELECT columns FROM table2 WHERE …)        ◄─ a column that a table lacks is NULL
//	LEFT JOIN items                                  ◄─ if outputs or order have names of items; see Naming
//	ORDER BY … LIMIT …
//
// An absent value must be stored as NULL, and never as an empty text. A statement without any table is valid, and has the
// result of an empty table.
func SQL(p *Plan, d *Dialect, tables []Table) (*Statement, error) {
	if p.Customer == 0 {
		return nil, fmt.Errorf("write query: the plan has no customer")
	}
	p = p.readFromItem(tables)
	w := &writer{plan: p, dialect: d, numbers: map[any]int{}}
	w.columns = p.Expand(func(column string) bool {
		return slices.ContainsFunc(tables, func(t Table) bool { return t.Has(column) })
	})
	w.where = conjuncts(p.Where)
	if _, named, rest := p.itemMatch(); named && p.ItemsKnown {
		switch {
		case len(p.Items) == 0:
			tables = nil
		case len(p.Items)*len(tables) <= maxItemIDs:
			w.items, w.where = p.Items, rest
		}
	}
	if p.From > p.To {
		tables = nil
	}
	w.summaries = len(tables) > 0 && tables[0].Rollup
	w.lift(tables)
	if p.Grouping != nil {
		w.groups(tables)
	} else {
		w.rows(tables)
	}
	return &Statement{Text: w.text.String(), Args: w.args, Columns: w.columns}, nil
}

// writer writes one statement.
type writer struct {
	plan    *Plan
	dialect *Dialect
	columns []Output
	items   []belfry.ID // rows must be of one of these, if there are any
	where   []Pred
	lifted  []Pred // conditions on the union of the branches
	table   Table  // of the current branch
	inItems bool   // inside a lookup

	summaries bool // the tables are summaries, and the plan groups their rows

	text    strings.Builder
	args    []any
	numbers map[any]int // by argument, to reuse its placeholder if the dialect allows it
}

func (w *writer) put(parts ...string) {
	for _, s := range parts {
		w.text.WriteString(s)
	}
}

// arg adds an argument and returns its placeholder.
func (w *writer) arg(v any) string {
	if n, ok := w.numbers[v]; ok && w.dialect.Reuse {
		return w.dialect.Param(n)
	}
	w.args = append(w.args, v)
	w.numbers[v] = len(w.args)
	return w.dialect.Param(len(w.args))
}

func (w *writer) argText(s string) string { return w.arg(s) }

// customer returns the number of the customer. It, the item ids and the ends of the span are written as literals: they
// are numbers by now, and an engine that sees them while planning reads a quarter of what it reads otherwise.
func (w *writer) customer() string { return strconv.FormatUint(uint64(w.plan.Customer), 10) }

func (w *writer) null(t Storage) string { return w.dialect.Cast("NULL", t) }

func (w *writer) name(column string) string { return w.dialect.Quote(column) }

func (w *writer) qualified(table, column string) string { return table + "." + w.name(column) }

func (w *writer) rows(tables []Table) {
	needed, joined := w.needs()
	needed = w.liftedNeeds(needed)
	branches := w.branches(tables, needed)
	if len(branches) == 0 {
		w.emptyResult()
		return
	}
	if w.unfiltered() && !joined && !w.plan.Recent() {
		w.limitEach(branches)
	}
	rows := w.union(branches, needed)
	if w.plan.Recent() {
		rows = w.latestOf(rows)
	}
	w.put("SELECT ", strings.Join(w.outputs(), ", "), "\nFROM ", rows)
	if joined {
		w.put(w.joinItems("q"))
	}
	w.put("\n", w.order(), "\n", w.limit())
}

// unfiltered reports whether the plan needs all rows of its span.
func (w *writer) unfiltered() bool { return len(w.where)+len(w.lifted)+len(w.items) == 0 }

// limitEach limits each branch to the rows that the answer can have. Without other conditions this is several times
// faster than sorting the union of all branches; with one it is slower.
func (w *writer) limitEach(branches []string) {
	if len(branches) == 1 {
		return
	}
	for i, b := range branches {
		branches[i] = fmt.Sprintf("(SELECT * FROM (%s) AS q %s LIMIT %d)", b, w.order(), w.plan.Offset+w.plan.Limit+1)
	}
}

// emptyResult writes a statement with the right columns and no rows.
func (w *writer) emptyResult() {
	var nulls []string
	for _, out := range w.columns {
		nulls = append(nulls, w.null(storage(out.Type())))
		if out.Column.isValue() {
			nulls = append(nulls, w.null(StoredText))
		}
	}
	w.put("SELECT ", strings.Join(nulls, ", "), "\nWHERE 1 = 0")
}

// stored is a column of a table.
type stored struct {
	name string
	as   Storage
}

// needs returns the stored columns that outputs and order need, and whether the names of items must be joined.
func (w *writer) needs() (needed []stored, joined bool) {
	add := func(c Column) {
		for _, s := range c.stored() {
			if !slices.Contains(needed, s) {
				needed = append(needed, s)
			}
		}
		joined = joined || c.ofItem()
	}
	if w.plan.Recent() {
		add(timeColumn)
		add(idColumn)
	}
	for _, o := range w.plan.Order {
		add(o.Column)
	}
	for _, out := range w.columns {
		add(out.Column)
	}
	return needed, joined
}

// ofItem reports whether the column is, or may be, read from the row's item.
func (c Column) ofItem() bool { return c.From == FromItem || c.From == RowOrItem }

// stored returns the columns of a table that contain the column.
func (c Column) stored() []stored {
	switch c.From {
	case Constant:
		return nil
	case FromItem, ItemNumber:
		return []stored{{belfry.ItemColumn, StoredID}}
	case RowOrItem:
		return []stored{{belfry.ItemColumn, StoredID}, {c.Name, StoredText}}
	case FromSplit:
		return []stored{{c.Of, StoredText}, {SeparatorColumn, StoredText}}
	}
	if c.isValue() {
		number, text := parts(c)
		return []stored{{number.Name, StoredNumber}, {text.Name, StoredText}}
	}
	return []stored{{c.Name, storage(c.Type)}}
}

// SeparatorColumn has the separator at which the text of a row is split.
const SeparatorColumn = "sep"

// outputs returns the expressions of the answer.
func (w *writer) outputs() []string {
	var list []string
	for _, out := range w.columns {
		list = append(list, w.expressions(out.Column)...)
	}
	return list
}

// expressions reads a column from the rows q and the items d; for a value there are two, its number first.
func (w *writer) expressions(c Column) []string {
	switch c.From {
	case Grouped:
		return w.groupExpressions(c)
	case Constant:
		return []string{"'" + w.plan.period() + "'"}
	case FromItem:
		return []string{w.itemName("d.", c.Of)}
	case RowOrItem:
		return []string{w.orItem(w.qualified("q", c.Name), c)}
	case FromSplit:
		return []string{w.dialect.Part(w.qualified("q", c.Of), w.qualified("q", SeparatorColumn), c.N)}
	}
	if c.isValue() {
		number, text := parts(c)
		return []string{w.qualified("q", number.Name), w.qualified("q", text.Name)}
	}
	return []string{w.qualified("q", c.Name)}
}

// orItem returns the row's own value of the column, or else that of its item d.
func (w *writer) orItem(own string, c Column) string {
	return "COALESCE(" + own + ", " + w.itemName("d.", c.Of) + ")"
}

// order writes ORDER BY. Numbers of an indicator come before texts: one of its two columns is NULL and so comes last.
func (w *writer) order() string {
	var keys []string
	for _, o := range w.plan.Order {
		if o.Column.From == Constant {
			continue
		}
		list := w.expressions(o.Column)
		if o.Desc {
			slices.Reverse(list)
		}
		for _, e := range list {
			keys = append(keys, e+direction(o.Desc)+" NULLS LAST")
		}
	}
	return "ORDER BY " + strings.Join(keys, ", ")
}

// limit writes the numbers as literals: engines plan better if they see them.
func (w *writer) limit() string {
	s := fmt.Sprintf("LIMIT %d", w.plan.Limit+1)
	if w.plan.Offset > 0 {
		s += fmt.Sprintf(" OFFSET %d", w.plan.Offset)
	}
	return s
}

func (w *writer) list(n int, one func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = one(i)
	}
	return strings.Join(parts, ", ")
}

package query

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"belfry"
	"belfry/catalog"
)

// An engine that groups by names has to read its table of all items, and to compare texts. Where the names of items are
// unique, grouping by the numbers of items gives the same groups, and we have the names at hand:
//
//	engine   SELECT item, functions … GROUP BY item          every function, as none has to be put together of parts
//	here     names of items, HAVING, ORDER BY, LIMIT
//
// Whether the names are unique is known once the numbers are there. If two items have the same, the engine is asked again, for
// the whole plan.

// maxItemGroups is how many groups an answer may have that is made so. Of many the engine finds the order faster.
const maxItemGroups = 1000

// Columnar are rows that are all in memory and can be read by column.
type Columnar interface {
	Rows
	// Words gives the values of an output as Cells.Word does, and which of them are absent; ok is false for a text.
	Words(output int) (words []uint64, null []bool, ok bool)
	// At gives a row by its place, from 0. The slice is valid until the next call.
	At(row int) ([]belfry.Value, error)
}

// groupsOfItems answers a plan with groups by the numbers of items; nil when that cannot be.
func (l WithNames) groupsOfItems(ctx context.Context, p *Plan) (Rows, error) {
	if !p.ofItems() {
		return nil, nil
	}
	if unique, err := l.Labels.NamesUnique(ctx, p.Customer, p.Grouping.fields(), nil); err != nil || !unique {
		return nil, err
	}
	q := p.byNumber()
	q.TopGroups = l.topGroups(p)
	rows, err := l.Source.Select(ctx, q)
	if e, ok := errors.AsType[*belfry.Error](err); ok && e.Code == belfry.BadQuery && ctx.Err() == nil {
		return nil, nil // it may be about the number of groups, of which the plan itself wants a few
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	g := newItemGroups(ctx, p, l.Labels)
	held, ok := rows.(Columnar)
	if ok {
		g.countAll(held)
	} else if err = g.read(rows); err != nil {
		return nil, err
	}
	if unique, err := g.namesUnique(); err != nil || !unique {
		return nil, err
	}
	if ok {
		if err := g.scan(held); err != nil {
			return nil, err
		}
	}
	return g.top.rows(), nil
}

// ofItems tells whether the groups follow from the items of rows, and the answer has few of them.
func (p *Plan) ofItems() bool {
	g := p.Grouping
	if g == nil || len(g.Keys) == 0 || p.Offset+p.Limit > maxItemGroups {
		return false
	}
	return !slices.ContainsFunc(g.Keys, func(c Call) bool { return c.Func != FuncNone || c.Column.From != FromItem }) &&
		!slices.ContainsFunc(g.Calls, func(c Call) bool { return c.Column.From == FromItem })
}

// fields are what the keys take from the items.
func (g *Grouping) fields() []string {
	fields := make([]string, len(g.Keys))
	for i, key := range g.Keys {
		fields[i] = key.Column.Of
	}
	return fields
}

// byNumberColumn is the result of the n-th function, from 0, in the groups of byNumber.
func (p *Plan) byNumberColumn(n int) Column {
	c := p.Grouping.column(len(p.Grouping.Keys) + n)
	c.N = 1 + n
	return c
}

// byNumber is the plan for a group of each item: its number, then the results of the functions; all groups, in any order.
func (p *Plan) byNumber() *Plan {
	q := *p
	number := Column{Name: belfry.ItemColumn, Type: catalog.ID, From: ItemNumber}
	q.Grouping = &Grouping{Keys: []Call{{Column: number}}, Calls: p.Grouping.Calls}
	q.Outputs = make([]Output, q.Grouping.width())
	for i := range q.Outputs {
		c := q.Grouping.column(i)
		q.Outputs[i] = Output{Name: c.Name, Column: c}
	}
	q.Having, q.Order, q.Limit, q.Offset = nil, nil, AllGroups, 0
	return &q
}

// itemGroups makes groups of items into the groups of a plan.
type itemGroups struct {
	ctx    context.Context // of the query
	plan   *Plan
	labels Labels
	fields []string
	top    *top
	row    groupRow
	items  []belfry.ID
	none   int // groups of rows without an item
}

func newItemGroups(ctx context.Context, p *Plan, labels Labels) *itemGroups {
	return &itemGroups{
		ctx: ctx, plan: p, labels: labels, fields: p.Grouping.fields(), row: make(groupRow, p.Grouping.width()),
		top: &top{plan: p, limit: p.Offset + p.Limit + 1, numbered: make([][]Output, len(p.Outputs))},
	}
}

// read takes in groups one by one.
func (g *itemGroups) read(rows Rows) error {
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		g.count(uint64(row[0].Int), row[0].Type == belfry.AbsentValue)
		if err := g.offer(row); err != nil {
			return err
		}
	}
}

// countAll takes note of the items of all groups.
func (g *itemGroups) countAll(rows Columnar) {
	numbers, null, _ := rows.Words(0)
	for i := range numbers {
		g.count(numbers[i], null[i])
	}
}

// scan takes in groups by column. Most of them are not among the first, which one column tells.
func (g *itemGroups) scan(rows Columnar) error {
	const step = 1024 // whoever knows the names is not held up for long
	numbers, _, _ := rows.Words(0)
	for from := 0; from < len(numbers); from += step {
		to := min(from+step, len(numbers))
		first, err := g.first(rows, from, to)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if first != nil && g.top.excludes(first(i-from)) {
				continue
			}
			row, err := rows.At(i)
			if err != nil {
				return err
			}
			if err := g.offer(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// first gives what some of the groups come by first, a name or a result; nil when that is not quickly found.
func (g *itemGroups) first(rows Columnar, from, to int) (func(i int) belfry.Value, error) {
	n, keys := g.plan.Order[0].Column.N, len(g.fields)
	if n < keys {
		names, err := g.names(rows, g.fields[n], from, to)
		return func(i int) belfry.Value { return nameValue(names[i]) }, err
	}
	words, null, ok := rows.Words(n - keys + 1)
	if !ok {
		return nil, nil
	}
	t := g.plan.Order[0].Column.Type
	return func(i int) belfry.Value {
		if null[from+i] {
			return belfry.Value{}
		}
		return wordValue(t, words[from+i])
	}, nil
}

// names are those of the items of some groups.
func (g *itemGroups) names(rows Columnar, field string, from, to int) ([]string, error) {
	numbers, null, _ := rows.Words(0)
	items, names := make([]belfry.ID, to-from), make([]string, to-from)
	for i := range items {
		if !null[from+i] { // where it is, there may stand anything
			items[i] = belfry.ID(numbers[from+i])
		}
	}
	err := g.labels.Names(g.ctx, g.plan.Customer, field, items, names)
	for i, id := range items {
		if field == "view" && g.plan.Within.top(id) {
			names[i] = belfry.Main
		}
	}
	return names, err
}

// count takes note of the item of a group.
func (g *itemGroups) count(number uint64, null bool) {
	if null {
		g.none++
		return
	}
	g.items = append(g.items, belfry.ID(number))
}

// offer takes in the group of an item.
func (g *itemGroups) offer(row []belfry.Value) (err error) {
	var l Label
	if row[0].Type != belfry.AbsentValue {
		if l, err = g.plan.label(g.ctx, g.labels, belfry.ID(row[0].Int)); err != nil {
			return err
		}
	}
	for i, field := range g.fields {
		g.row[i] = nameValue(l.Of(field))
	}
	copy(g.row[len(g.fields):], row[1:])
	if g.plan.Having == nil || holds(g.plan.Having, g.row) {
		g.top.offer(g.row)
	}
	return nil
}

// namesUnique reports whether each group is one of the plan, and not a part of one. Rows without an item have no names; each
// item must have some.
func (g *itemGroups) namesUnique() (bool, error) {
	if g.none > 1 || len(g.items) == 0 {
		return g.none <= 1, nil
	}
	return g.labels.NamesUnique(g.ctx, g.plan.Customer, g.fields, g.items)
}

// TopGroups says which groups of items the answer needs. An engine may leave out the others: of a hundred thousand groups the
// client often wants ten.
type TopGroups struct {
	Limit int // groups that are wanted

	// By is their order: wanted are the first, and all that are equal to the last of these. Without a column they are ordered
	// by name, and Items are those with the first names: their groups are enough if there are Limit of them.
	By    Order
	Items []belfry.ID
}

// spare is how many items are looked at for each that is wanted, where they are ordered by name: some may have no rows.
const spare = 4

// topGroups finds out which groups of items a plan needs; nil: all of them. What HAVING leaves is not known beforehand.
func (l WithNames) topGroups(p *Plan) *TopGroups {
	fields, first := p.Grouping.fields(), p.Order[0]
	if p.Having != nil || !l.Labels.AllNamesUnique(p.Customer, p.Collection, fields) {
		return nil
	}
	f := &TopGroups{Limit: p.Offset + p.Limit + 1}
	if n := first.Column.N - len(fields); n >= 0 {
		f.By = Order{p.byNumberColumn(n), first.Desc}
		if t := f.By.Column.Type; t != catalog.Number && t != catalog.Integer {
			return nil
		}
		return f
	}
	if fields[first.Column.N] != "object" || first.Desc {
		return nil
	}
	f.Items = l.Labels.FirstByName(p.Customer, spare*f.Limit)
	if len(f.Items) < f.Limit {
		return nil
	}
	return f
}

// topGroups writes which of the groups g are delivered.
func (w *writer) topGroups(f *TopGroups) string {
	if f.Items != nil {
		among := "g." + w.groupName(0, false) + " IN (" + w.ids(f.Items) + ")"
		return "\nCROSS JOIN (SELECT COUNT(*) AS n FROM g WHERE " + among + ") AS f\nWHERE " + among + " OR f.n < " + strconv.Itoa(f.Limit)
	}
	key, least, within, desc := "g."+w.groupName(f.By.Column.N, false), "MAX", " <= ", ""
	if f.By.Desc {
		least, within, desc = "MIN", " >= ", " DESC"
	}
	most := strconv.Itoa(f.Limit)
	first := "SELECT " + key + " AS k FROM g ORDER BY 1" + desc + " NULLS LAST LIMIT " + most
	last := "SELECT CASE WHEN COUNT(k) = " + most + " THEN " + least + "(k) END AS k FROM (" + first + ") AS g" // absent: every group is wanted
	return "\nCROSS JOIN (" + last + ") AS f\nWHERE COALESCE(" + key + within + "f.k, f.k IS NULL)"
}

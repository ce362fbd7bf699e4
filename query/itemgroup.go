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

// An engine that groups by names has to read its table of all items and to compare texts. If the names of items are
// unique, grouping by item id results in the same groups, and the names are in memory here:
//
//	engine   SELECT item, functions … GROUP BY item          every function, as none is merged from parts
//	here     names of items, HAVING, ORDER BY, LIMIT
//
// Whether the names are unique is known once the ids have been read. If two items have the same name, the engine runs the
// whole plan instead.

// maxItemGroups limits the groups of an answer made this way. For more groups the engine sorts faster.
const maxItemGroups = 1000

// askByItem returns the groups by item id from which a plan can be answered, and has the engine asked for them; nil if
// that is not possible.
func (n *Naming) askByItem() (*itemGroups, error) {
	p := n.asked
	if !p.keysAreItemNames() {
		return nil, nil
	}
	if unique, err := n.names.NamesUnique(n.ctx, p.Customer, p.Grouping.itemFields(), nil); err != nil || !unique {
		return nil, err
	}
	n.Plan = p.byItem()
	n.Plan.TopGroups = n.topGroups()
	return newItemGroups(n.ctx, p, n.names), nil
}

// answerByItem answers a plan from the groups by item id; nil if the engine has to answer it as it is.
func (n *Naming) answerByItem(rows Rows, err error) (Rows, error) {
	if e, ok := errors.AsType[*belfry.Error](err); ok && e.Code == belfry.BadQuery && n.ctx.Err() == nil {
		return nil, nil // perhaps too many groups; the plan itself returns only a few
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	g := n.groups
	held, ok := rows.(*HeldRows)
	if ok {
		g.addItems(held)
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

// keysAreItemNames reports whether the keys of the groups are names of items, and the answer has few groups.
func (p *Plan) keysAreItemNames() bool {
	g := p.Grouping
	if g == nil || len(g.Keys) == 0 || p.Offset+p.Limit > maxItemGroups {
		return false
	}
	return !slices.ContainsFunc(g.Keys, func(c Call) bool { return c.Func != FuncNone || c.Column.From != FromItem }) &&
		!slices.ContainsFunc(g.Calls, func(c Call) bool { return c.Column.From == FromItem })
}

// itemFields returns the fields of the items that are keys.
func (g *Grouping) itemFields() []string {
	fields := make([]string, len(g.Keys))
	for i, key := range g.Keys {
		fields[i] = key.Column.Of
	}
	return fields
}

// byItemColumn returns the column of the n-th function, from 0, in the groups of byItem.
func (p *Plan) byItemColumn(n int) Column {
	c := p.Grouping.column(len(p.Grouping.Keys) + n)
	c.N = 1 + n
	return c
}

// byItem returns the plan with one group per item: its id, then the results of the functions; all groups, in any order.
func (p *Plan) byItem() *Plan {
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

// itemGroups turns groups of items into the groups of a plan.
type itemGroups struct {
	ctx         context.Context // of the query
	plan        *Plan
	names       ItemNames
	fields      []string
	top         *top
	row         groupRow
	items       []belfry.ID
	withoutItem int // groups of rows without an item
}

func newItemGroups(ctx context.Context, p *Plan, names ItemNames) *itemGroups {
	return &itemGroups{
		ctx: ctx, plan: p, names: names, fields: p.Grouping.itemFields(), row: make(groupRow, p.Grouping.width()),
		top: &top{plan: p, limit: p.Offset + p.Limit + 1, numbered: make([][]Output, len(p.Outputs))},
	}
}

// read adds groups one by one.
func (g *itemGroups) read(rows Rows) error {
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		g.addItem(uint64(row[0].Int), row[0].Type == belfry.AbsentValue)
		if err := g.offer(row); err != nil {
			return err
		}
	}
}

// addItems adds the items of all groups.
func (g *itemGroups) addItems(rows *HeldRows) {
	numbers, null, _ := rows.words(0)
	for i := range numbers {
		g.addItem(numbers[i], null[i])
	}
}

// scan adds groups by column. Most are not among the first, which the first order column alone decides.
func (g *itemGroups) scan(rows *HeldRows) error {
	const step = 1024 // bounds how long the names are locked
	numbers, _, _ := rows.words(0)
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
			row, err := rows.at(i)
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

// first returns a function for the first order key of the groups from..to, a name or a result; nil if it is not quick to
// find.
func (g *itemGroups) first(rows *HeldRows, from, to int) (func(i int) belfry.Value, error) {
	n, keys := g.plan.Order[0].Column.N, len(g.fields)
	if n < keys {
		names, err := g.namesOf(rows, g.fields[n], from, to)
		return func(i int) belfry.Value { return nameValue(names[i]) }, err
	}
	words, null, ok := rows.words(n - keys + 1)
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

// namesOf returns the names of the items of the groups from..to.
func (g *itemGroups) namesOf(rows *HeldRows, field string, from, to int) ([]string, error) {
	numbers, null, _ := rows.words(0)
	items, names := make([]belfry.ID, to-from), make([]string, to-from)
	for i := range items {
		if !null[from+i] { // the number of a null is undefined
			items[i] = belfry.ID(numbers[from+i])
		}
	}
	err := g.names.Names(g.ctx, g.plan.Customer, field, items, names)
	for i, id := range items {
		if field == "view" && g.plan.Within.isTop(id) {
			names[i] = belfry.Main
		}
	}
	return names, err
}

// addItem adds the item of a group.
func (g *itemGroups) addItem(number uint64, null bool) {
	if null {
		g.withoutItem++
		return
	}
	g.items = append(g.items, belfry.ID(number))
}

// offer adds the group of an item.
func (g *itemGroups) offer(row []belfry.Value) (err error) {
	var l Label
	if row[0].Type != belfry.AbsentValue {
		if l, err = g.plan.label(g.ctx, g.names, belfry.ID(row[0].Int)); err != nil {
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

// namesUnique reports whether each group is a whole group of the plan. Rows without an item have no names; each item
// must have some.
func (g *itemGroups) namesUnique() (bool, error) {
	if g.withoutItem > 1 || len(g.items) == 0 {
		return g.withoutItem <= 1, nil
	}
	return g.names.NamesUnique(g.ctx, g.plan.Customer, g.fields, g.items)
}

// TopGroups is the set of groups that the answer needs. An engine may omit the others: of a hundred thousand groups the
// client often needs ten.
type TopGroups struct {
	Limit int // number of groups needed

	// By is their order: the first Limit are needed, and all equal to the last of these. Without a column they are ordered
	// by name, and Items are those with the first names: their groups are enough if there are Limit of them.
	By    Order
	Items []belfry.ID
}

// candidatesPerGroup is how many items are considered for each group needed, if they are ordered by name: some may have
// no rows.
const candidatesPerGroup = 4

// topGroups returns which groups of items the plan needs; nil: all of them. The effect of HAVING is not known beforehand.
func (n *Naming) topGroups() *TopGroups {
	p := n.asked
	fields, first := p.Grouping.itemFields(), p.Order[0]
	if p.Having != nil || !n.names.AllNamesUnique(p.Customer, p.Collection, fields) {
		return nil
	}
	f := &TopGroups{Limit: p.Offset + p.Limit + 1}
	if call := first.Column.N - len(fields); call >= 0 {
		f.By = Order{p.byItemColumn(call), first.Desc}
		if t := f.By.Column.Type; t != catalog.Number && t != catalog.Integer {
			return nil
		}
		return f
	}
	if fields[first.Column.N] != "object" || first.Desc {
		return nil
	}
	f.Items = n.names.FirstByName(p.Customer, candidatesPerGroup*f.Limit)
	if len(f.Items) < f.Limit {
		return nil
	}
	return f
}

// topGroups writes the condition on the groups g that are needed.
func (w *writer) topGroups(f *TopGroups) string {
	if f.Items != nil {
		among := "g." + w.groupName(0, false) + " IN (" + w.ids(f.Items) + ")"
		return "\nCROSS JOIN (SELECT COUNT(*) AS n FROM g WHERE " + among + ") AS f\nWHERE " + among + " OR f.n < " + strconv.Itoa(f.Limit)
	}
	key, least, within, desc := "g."+w.groupName(f.By.Column.N, false), "MAX", " <= ", ""
	if f.By.Desc {
		least, within, desc = "MIN", " >= ", " DESC"
	}
	limit := strconv.Itoa(f.Limit)
	first := "SELECT " + key + " AS k FROM g ORDER BY 1" + desc + " NULLS LAST LIMIT " + limit
	last := "SELECT CASE WHEN COUNT(k) = " + limit + " THEN " + least + "(k) END AS k FROM (" + first + ") AS g" // absent: every group is needed
	return "\nCROSS JOIN (" + last + ") AS f\nWHERE COALESCE(" + key + within + "f.k, f.k IS NULL)"
}

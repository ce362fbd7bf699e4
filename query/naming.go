package query

import (
	"context"
	"slices"

	"belfry"
	"belfry/catalog"
)

// Label has the fields of a row that come from its item.
type Label struct{ Resource, View, Object, Class, IP, Host string }

// Of returns the field of that name.
func (l *Label) Of(field string) string {
	switch field {
	case "resource":
		return l.Resource
	case "view":
		return l.View
	case "object":
		return l.Object
	case "class":
		return l.Class
	case "ip":
		return l.IP
	}
	return l.Host
}

// Naming answers a plan from the rows of an engine and adds the names of their items. An engine would have to read its
// table of all items for the ten rows of an answer, which takes longer than finding the rows. So it is asked for ids of
// items instead of names, unless the order depends on the names, or the groups do and several items can be in one: then
// the engine has to look the names up.
type Naming struct {
	Plan *Plan // for the engine

	ctx    context.Context // of the query, for looking up names
	names  ItemNames
	asked  *Plan
	groups *itemGroups       // set while Plan is about groups of items
	named  map[string]Output // the outputs that are replaced; nil: none
}

// NewNaming returns how a plan is answered with names; nil names leave them to the engine.
func NewNaming(ctx context.Context, p *Plan, names ItemNames) (n *Naming, err error) {
	n = &Naming{Plan: p, ctx: ctx, names: names, asked: p}
	if names == nil {
		return n, nil
	}
	if n.groups, err = n.askByItem(); n.groups != nil || err != nil {
		return n, err
	}
	n.Plan, n.named = p.withItemIDs()
	return n, nil
}

// Add adds names to the rows that the engine has for Plan, or to its error. If done is false, the engine has to answer
// another Plan first.
func (n *Naming) Add(rows Rows, err error) (_ Rows, done bool, _ error) {
	if n.groups != nil {
		rows, err = n.answerByItem(rows, err)
		if rows != nil || err != nil {
			return rows, true, err
		}
		n.groups = nil
		n.Plan, n.named = n.asked.withItemIDs()
		return nil, false, nil
	}
	if err != nil || n.named == nil {
		return rows, true, err
	}
	r := &namedRows{Rows: rows, ctx: n.ctx, names: n.names, plan: n.asked}
	all := rows.Columns()
	for _, out := range all[:len(all)-1] { // the last is the number of the item
		field := ""
		if as, ok := n.named[out.Name]; ok {
			field, out = as.Column.Of, as
		}
		r.columns, r.fields = append(r.columns, out), append(r.fields, field)
	}
	return r, true, nil
}

// withItemIDs returns the plan with item ids instead of names, the id of the item after the outputs, and the outputs
// that are replaced; they are nil if there are none or it is not possible. Fields that a row may have itself are read
// from the row.
func (p *Plan) withItemIDs() (*Plan, map[string]Output) {
	if p.Grouping != nil {
		return p, nil
	}
	for _, o := range p.Order {
		if o.Column.ofItem() {
			return p, nil
		}
	}
	number := Column{Name: belfry.ItemColumn, Type: catalog.ID, From: ItemNumber}
	q, named := *p, map[string]Output{}
	q.Outputs = make([]Output, len(p.Outputs))
	for i, out := range p.Outputs {
		q.Outputs[i] = out
		switch out.Column.From {
		case FromItem:
			named[out.Name] = out
			q.Outputs[i].Column = number
		case RowOrItem:
			named[out.Name] = out
			q.Outputs[i].Column = Column{Name: out.Column.Name, Type: out.Column.Type}
		}
	}
	if len(named) == 0 {
		return p, nil
	}
	q.Outputs = append(q.Outputs, Output{Name: belfry.ItemColumn, Column: number})
	return &q, named
}

// namedRows adds names to rows with item ids.
type namedRows struct {
	Rows
	ctx     context.Context // of the query, for looking up names
	names   ItemNames
	plan    *Plan
	columns []Output
	fields  []string // by column, the field of the label; empty if the column is not a name
	row     []belfry.Value

	item  int64 // the item of label
	label Label
	known map[int64]Label // cache
}

// maxLabels limits the cached labels: most answers have rows of a few items, in no order.
const maxLabels = 1024

func (r *namedRows) Columns() []Output { return r.columns }

func (r *namedRows) Next() ([]belfry.Value, error) {
	row, err := r.Rows.Next()
	if err != nil {
		return nil, err
	}
	last := len(row) - 1
	r.row = append(r.row[:0], row[:last]...)
	for i, field := range r.fields {
		if own := r.columns[i].Column.From == RowOrItem && row[i].Type != belfry.AbsentValue; field == "" || own {
			continue
		}
		if r.row[i], err = r.name(row[last], field); err != nil {
			return nil, err
		}
	}
	return r.row, nil
}

// name returns a field of the label of an item; absent if there is no item or no such name.
func (r *namedRows) name(number belfry.Value, field string) (belfry.Value, error) {
	if number.Type == belfry.AbsentValue {
		return belfry.Value{}, nil
	}
	if number.Int != r.item {
		label, ok := r.known[number.Int]
		if !ok {
			var err error
			if label, err = r.plan.label(r.ctx, r.names, belfry.ID(number.Int)); err != nil {
				return belfry.Value{}, err
			}
			if r.known == nil || len(r.known) == maxLabels {
				r.known = map[int64]Label{}
			}
			r.known[number.Int] = label
		}
		r.item, r.label = number.Int, label
	}
	return nameValue(r.label.Of(field)), nil
}

// nameValue returns a name as a value; absent if it is empty.
func nameValue(name string) belfry.Value {
	if name == "" {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TextValue, Text: name}
}

// Rows of some collections may have a field of their item themselves: RowOrItem. Few files have such rows. For the others
// the plan reads the item, so it costs nothing where it is not used.

// readFromItem returns the plan for tables: columns that no table has are read from the item. Conditions are written for
// each table separately.
func (p *Plan) readFromItem(tables []Table) *Plan {
	lacks := func(c Column) bool {
		return c.From == RowOrItem && !slices.ContainsFunc(tables, func(t Table) bool { return t.Has(c.Name) })
	}
	q := *p
	q.Outputs = slices.Clone(p.Outputs)
	for i := range q.Outputs {
		q.Outputs[i].Column = q.Outputs[i].Column.fromItemIf(lacks)
	}
	q.Order = slices.Clone(p.Order)
	for i := range q.Order {
		q.Order[i].Column = q.Order[i].Column.fromItemIf(lacks)
	}
	if p.Grouping != nil {
		g := *p.Grouping
		g.Keys, g.Calls = slices.Clone(g.Keys), slices.Clone(g.Calls)
		for _, list := range [][]Call{g.Keys, g.Calls} {
			for i := range list {
				list[i].Column = list[i].Column.fromItemIf(lacks)
			}
		}
		q.Grouping = &g
	}
	return &q
}

func (c Column) fromItemIf(is func(Column) bool) Column {
	if is(c) {
		c.From = FromItem
	}
	return c
}

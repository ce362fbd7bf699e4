package query

import (
	"context"

	"belfry"
	"belfry/catalog"
)

// Label is what the fields of a row show of its item.
type Label struct{ Resource, View, Object, Class, IP, Host string }

// Of is the field of that name.
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

// Labels knows the names of items.
type Labels interface {
	// Label gives the names of an item of the customer, which may have been removed; nothing when there is none.
	Label(ctx context.Context, customer belfry.CustomerID, id belfry.ID) (Label, error)
	// Names gives a field of each of the items, in the same way.
	Names(ctx context.Context, customer belfry.CustomerID, field string, items []belfry.ID, names []string) error
	// NamesUnique reports whether each item has a name in at least one of the fields, and no two have the same in all of them;
	// without items, whether it would know. It may say no where finding out would take long.
	NamesUnique(ctx context.Context, customer belfry.CustomerID, fields []string, items []belfry.ID) (bool, error)
	// AllNamesUnique is NamesUnique for every item the collection can refer to.
	AllNamesUnique(customer belfry.CustomerID, c *catalog.Collection, fields []string) bool
	// FirstByName returns the n objects whose names come first, removed ones included; fewer when it does not know so many. It
	// is called only where all names are unique.
	FirstByName(customer belfry.CustomerID, n int) []belfry.ID
}

// WithNames answers plans from a source of rows and fills in the names of their items itself. An engine would have to read its
// table of all items for the ten rows of an answer, which takes longer than finding the rows.
type WithNames struct {
	Source
	Labels Labels
}

// Select asks for the numbers of items instead of their names, unless the order of the answer depends on the names, or its
// groups do and several items can be in one: then they are the engine's to find.
func (l WithNames) Select(ctx context.Context, p *Plan) (Rows, error) {
	if rows, err := l.groupsOfItems(ctx, p); rows != nil || err != nil {
		return rows, err
	}
	q, named := p.numbersOnly()
	rows, err := l.Source.Select(ctx, q)
	if err != nil || named == nil {
		return rows, err
	}
	r := &namedRows{Rows: rows, ctx: ctx, labels: l.Labels, plan: p}
	all := rows.Columns()
	for _, out := range all[:len(all)-1] { // the last is the number of the item
		field := ""
		if as, ok := named[out.Name]; ok {
			field, out = as.Column.Of, as
		}
		r.columns, r.fields = append(r.columns, out), append(r.fields, field)
	}
	return r, nil
}

// numbersOnly is the plan with the number of the item behind the outputs, and without its names, and the outputs that this
// concerns; nil when it concerns none, or cannot be. Of what a row may have itself it has that.
func (p *Plan) numbersOnly() (*Plan, map[string]Output) {
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

// namedRows adds names to rows with numbers of items.
type namedRows struct {
	Rows
	ctx     context.Context // of the query, as whose part the names are looked up
	labels  Labels
	plan    *Plan
	columns []Output
	fields  []string // by column, the field of the label; empty where the value is right already
	row     []belfry.Value

	item  int64 // the item of label
	label Label
	known map[int64]Label // some that were looked up
}

// maxLabels is how many labels are kept: mostly an answer has rows of a few items, in no order.
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

// name is a field of the label of an item; absent when there is no item, or no such name.
func (r *namedRows) name(number belfry.Value, field string) (belfry.Value, error) {
	if number.Type == belfry.AbsentValue {
		return belfry.Value{}, nil
	}
	if number.Int != r.item {
		label, ok := r.known[number.Int]
		if !ok {
			var err error
			if label, err = r.plan.label(r.ctx, r.labels, belfry.ID(number.Int)); err != nil {
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

// nameValue is a name as a value; absent when there is none.
func nameValue(name string) belfry.Value {
	if name == "" {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TextValue, Text: name}
}

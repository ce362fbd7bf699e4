package query

import "slices"

// Rows of some collections may have fields themselves that their item has, too: RowOrItem. Few files have such rows. For the
// others the plan is the same as if there were none, so it costs nothing where it is not used.

// readFromItem returns the plan for tables: columns that no table has are read from the item. Conditions are written for each
// table separately.
func (p *Plan) readFromItem(tables []Table) *Plan {
	lacks := func(c Column) bool {
		return c.From == RowOrItem && !slices.ContainsFunc(tables, func(t Table) bool { return t.Has(c.Name) })
	}
	q := *p
	q.Outputs = slices.Clone(p.Outputs)
	for i := range q.Outputs {
		q.Outputs[i].Column = q.Outputs[i].Column.ofItemIf(lacks)
	}
	q.Order = slices.Clone(p.Order)
	for i := range q.Order {
		q.Order[i].Column = q.Order[i].Column.ofItemIf(lacks)
	}
	if p.Grouping != nil {
		g := *p.Grouping
		g.Keys, g.Calls = slices.Clone(g.Keys), slices.Clone(g.Calls)
		for _, list := range [][]Call{g.Keys, g.Calls} {
			for i := range list {
				list[i].Column = list[i].Column.ofItemIf(lacks)
			}
		}
		q.Grouping = &g
	}
	return &q
}

func (c Column) ofItemIf(is func(Column) bool) Column {
	if is(c) {
		c.From = FromItem
	}
	return c
}

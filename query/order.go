package query

import (
	"slices"
	"strings"
	"unicode"

	"belfry/catalog"
)

// order resolves ORDER BY, or uses the default order of the collection, and completes it with the id.
func (k *checker) order() error {
	if k.plan.Grouping != nil {
		return k.groupOrder()
	}
	keys := k.Order
	if len(keys) == 0 {
		keys = defaultOrder(k.plan.Collection)
	}
	for _, key := range keys {
		col, err := k.orderColumn(key.Field)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(k.plan.Order, func(o Order) bool { return o.Column == col }) {
			k.plan.Order = append(k.plan.Order, Order{col, key.Desc})
		}
	}
	id, err := k.column(Name{Text: "id"})
	if err != nil {
		return err
	}
	for i, o := range k.plan.Order {
		if o.Column == id { // unique, so further keys have no effect
			k.plan.Order = k.plan.Order[:i+1]
			return nil
		}
	}
	k.plan.Order = append(k.plan.Order, Order{id, keys[len(keys)-1].Desc})
	return nil
}

// defaultOrder is the order of a query without ORDER BY: the newest rows first; items by kind (whose names sort as
// object, resource, view) and name.
func defaultOrder(c *catalog.Collection) []Key {
	if c.Historical {
		return []Key{{fieldTerm(timestamp), true}, {fieldTerm("id"), true}}
	}
	var keys []Key
	for _, name := range []string{"kind", "name"} {
		if _, ok := c.Field(name); !ok {
			return []Key{{fieldTerm("id"), false}}
		}
		keys = append(keys, Key{fieldTerm(name), false})
	}
	return keys
}

// orderColumn resolves a name in ORDER BY, which may be one that the query defined with AS.
func (k *checker) orderColumn(n Name) (Column, error) {
	if i, ok := k.itemNamed(n.Text); ok {
		return k.plan.Outputs[i].Column, nil
	}
	return k.column(n)
}

// itemNamed returns the index of the first item with that name after AS. There can be thousands of names and uses, so it
// builds a map.
func (k *checker) itemNamed(name string) (int, bool) {
	if k.byAs == nil {
		k.byAs = make(map[string]int, len(k.Items))
		for i, item := range k.Items {
			if _, taken := k.byAs[foldCase(item.As.Text)]; !taken && item.As.Text != "" {
				k.byAs[foldCase(item.As.Text)] = i
			}
		}
	}
	i, ok := k.byAs[foldCase(name)]
	return i, ok
}

// foldCase returns the same text for texts that are equal under strings.EqualFold.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// limit sets how many rows the client gets: LIMIT, the parameter rows, the smaller of the two, or the default.
func (k *checker) limit() error {
	if k.options.Pages && k.Limit.Given {
		return k.errorf(k.Limit.Pos, "LIMIT does not go with pages; leave it out, and say with rows how many rows a page has")
	}
	n := DefaultRows
	switch {
	case k.Limit.Given && k.options.Rows > 0:
		n = min(k.Limit.N, k.options.Rows)
	case k.Limit.Given:
		n = k.Limit.N
	case k.options.Rows > 0:
		n = k.options.Rows
	}
	k.plan.Limit = n
	return nil
}

// ByTime reports whether the rows are ordered by timestamp, and whether the newest come first. An engine that stores
// rows by time may then stop as soon as it has Offset+Limit+1 of them.
func (p *Plan) ByTime() (desc, ok bool) {
	if len(p.Order) == 0 || !isTimestamp(p.Order[0].Column) {
		return false, false
	}
	return p.Order[0].Desc, true
}

func fieldTerm(name string) Term { return Term{Field: Name{Text: name}} }

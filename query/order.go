package query

import (
	"slices"
	"strings"
	"unicode"

	"belfry/catalog"
)

// order resolves ORDER BY, or takes the order that the collection has by itself, and completes it with the id.
func (k *checker) order() error {
	if k.plan.Grouping != nil {
		return k.groupOrder()
	}
	keys := k.Order
	if len(keys) == 0 {
		keys = natural(k.plan.Collection)
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
		if o.Column == id { // unique, so what follows cannot matter
			k.plan.Order = k.plan.Order[:i+1]
			return nil
		}
	}
	k.plan.Order = append(k.plan.Order, Order{id, keys[len(keys)-1].Desc})
	return nil
}

// natural is the order of a query without ORDER BY: what happened last comes first; items come by kind (whose names
// stand in the order object, resource, view) and name.
func natural(c *catalog.Collection) []Key {
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

// orderColumn resolves a name in ORDER BY, which may be one that the query itself gave with AS.
func (k *checker) orderColumn(n Name) (Column, error) {
	if i, ok := k.itemNamed(n.Text); ok {
		return k.plan.Outputs[i].Column, nil
	}
	return k.column(n)
}

// itemNamed finds the first item to which the query gave the name with AS. Names and the places that use them can be
// thousands, so they are looked up and not searched for.
func (k *checker) itemNamed(name string) (int, bool) {
	if k.byAs == nil {
		k.byAs = make(map[string]int, len(k.Items))
		for i, item := range k.Items {
			if _, taken := k.byAs[folded(item.As.Text)]; !taken && item.As.Text != "" {
				k.byAs[folded(item.As.Text)] = i
			}
		}
	}
	i, ok := k.byAs[folded(name)]
	return i, ok
}

// folded is the same for texts that are the same to strings.EqualFold.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// limit decides how many rows the client gets: what LIMIT says, what the parameter says, the smaller of the two, or
// the default.
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

// ByTime tells whether the rows come in the order of their timestamps, and whether the newest come first. An engine
// that keeps rows by time may then stop as soon as it has Offset+Limit+1 of them.
func (p *Plan) ByTime() (desc, ok bool) {
	if len(p.Order) == 0 || !isTimestamp(p.Order[0].Column) {
		return false, false
	}
	return p.Order[0].Desc, true
}

func fieldTerm(name string) Term { return Term{Field: Name{Text: name}} }

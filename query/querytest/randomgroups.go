package querytest

import (
	"fmt"
	"strconv"
	"strings"

	"belfry/query"
)

// grouped asks for aggregates, of all rows or by one or two fields.
func (g *asker) grouped() string {
	keys := make([]string, g.IntN(3))
	for i := range keys {
		keys[i] = g.field()
		if g.IntN(4) == 0 {
			keys[i] = callOf(g.Rand, query.Times, timestamp)
		}
	}
	var items []string
	for i, key := range keys {
		items = append(items, key+" AS k"+strconv.Itoa(i))
	}
	calls := 1 + g.IntN(4)
	for i := range calls {
		items = append(items, g.call()+" AS a"+strconv.Itoa(i))
	}
	var b strings.Builder
	var where []string
	open := g.IntN(3) == 0
	if !open {
		where = append(where, "timestamp >= 'NOW-4DAYS'")
	}
	if g.IntN(2) == 0 {
		where = append(where, g.condition(2))
	}
	b.WriteString("SELECT " + strings.Join(items, ", ") + " FROM " + g.collection.Name)
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	if len(keys) > 0 {
		b.WriteString(" GROUP BY " + strings.Join(keys, ", "))
	}
	if g.IntN(4) == 0 {
		b.WriteString(" HAVING " + pick(g.Rand, "COUNT(*)", "a0", "COUNT("+g.field()+")") + pick(g.Rand, " > ", " <= ", " <> ") + pick(g.Rand, "1", "2", "0", "3.5"))
	}
	if len(keys) > 0 && g.IntN(2) == 0 {
		b.WriteString(" ORDER BY " + pick(g.Rand, "a0", "k0", "COUNT(*)", "a"+strconv.Itoa(calls-1)) + pick(g.Rand, "", " DESC"))
	}
	if open || g.IntN(2) == 0 {
		fmt.Fprintf(&b, " LIMIT %d", 1+g.IntN(12))
	}
	return b.String()
}

func (g *asker) call() string {
	field := g.field()
	switch g.IntN(6) {
	case 0:
		return "COUNT(*)"
	case 1, 2:
		return callOf(g.Rand, query.AnyValue, field)
	case 3, 4:
		return callOf(g.Rand, query.Numbers, field)
	}
	return callOf(g.Rand, query.AnyField, field)
}

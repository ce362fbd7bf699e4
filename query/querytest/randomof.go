package querytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// RandomOf returns a query of one of the historical collections that have rows, whatever their fields are: it mostly
// compares fields with values of the rows. Check rejects some of the queries.
func RandomOf(r *rand.Rand, cat *catalog.Catalog, data map[string][]Row) string {
	names := make([]string, 0, len(data))
	for name, rows := range data {
		if len(rows) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		names = asked()
	}
	name := pick(r, names...)
	g := &dataGenerator{Rand: r, collection: cat.Collection(name), rows: data[name]}
	if r.IntN(3) == 0 {
		return g.grouped()
	}
	return g.query()
}

type dataGenerator struct {
	*rand.Rand
	collection *catalog.Collection
	rows       []Row
}

func (g *dataGenerator) query() string {
	var b strings.Builder
	counts := g.IntN(10) == 0
	b.WriteString("SELECT " + g.selected(counts) + " FROM " + g.collection.Name)
	spanned := counts || g.IntN(4) > 0
	if spanned {
		b.WriteString(" WHERE timestamp" + pick(g.Rand, " >= 'NOW-4DAYS'", " = '[NOW-2DAYS TO NOW]'", " > 'NOW/DAY'", " BETWEEN 'NOW-30HOURS' AND 'NOW+1HOUR'", " <= 'NOW'"))
	}
	if g.IntN(6) > 0 {
		b.WriteString(map[bool]string{true: " AND ", false: " WHERE "}[spanned] + g.condition(3))
	}
	if !counts && g.IntN(3) > 0 {
		b.WriteString(" ORDER BY ")
		for i := range 1 + g.IntN(3) {
			b.WriteString(strings.Repeat(", ", min(i, 1)) + g.field() + pick(g.Rand, "", " ASC", " DESC"))
		}
	}
	if !spanned || g.IntN(2) == 0 {
		fmt.Fprintf(&b, " LIMIT %d", g.IntN(25))
	}
	if g.IntN(4) == 0 && strings.Contains(b.String(), " LIMIT ") {
		fmt.Fprintf(&b, " OFFSET %d", g.IntN(8))
	}
	return b.String()
}

func (g *dataGenerator) selected(counts bool) string {
	switch {
	case counts:
		return "COUNT(*)"
	case g.IntN(4) == 0:
		return "*"
	}
	var list []string
	for i := range 1 + g.IntN(5) {
		list = append(list, g.field()+" AS f"+strconv.Itoa(i))
	}
	return strings.Join(list, ", ")
}

// field picks a field; of a numbered family one of the first.
func (g *dataGenerator) field() string {
	for {
		f := g.collection.Fields[g.IntN(len(g.collection.Fields))]
		if f.Suffix != "" { // only summaries have it
			continue
		}
		name := f.Nth(1 + g.IntN(4))
		if f.Type == catalog.Value && g.IntN(4) == 0 {
			name = pick(g.Rand, "string", "integer") + strings.TrimPrefix(name, f.Name)
		}
		return name
	}
}

func (g *dataGenerator) condition(depth int) string {
	if depth > 0 {
		switch g.IntN(6) {
		case 0:
			return "(" + g.condition(depth-1) + " AND " + g.condition(depth-1) + ")"
		case 1, 2:
			return "(" + g.condition(depth-1) + " OR " + g.condition(depth-1) + ")"
		case 3:
			return "NOT (" + g.condition(depth-1) + ")"
		}
	}
	if g.IntN(4) == 0 {
		return g.textCondition()
	}
	field := g.field()
	ref, _ := g.collection.Field(field)
	compare := []string{" = ", " <> ", " < ", " <= ", " > ", " >= "}
	if ref.Type == catalog.Bool {
		compare = compare[:2]
	}
	ordered := ref.Type == catalog.Number || ref.Type == catalog.Integer || ref.Type == catalog.Time || ref.Type == catalog.Value
	switch g.IntN(8) {
	case 0:
		return field + pick(g.Rand, " IS NULL", " IS NOT NULL")
	case 1:
		list := make([]string, 1+g.IntN(4))
		for i := range list {
			list[i] = g.literal(ref)
		}
		return field + pick(g.Rand, " IN (", " NOT IN (") + strings.Join(list, ", ") + ")"
	case 2:
		if ref.Type != catalog.Bool {
			return field + pick(g.Rand, " BETWEEN ", " NOT BETWEEN ") + g.literal(ref) + " AND " + g.literal(ref)
		}
	case 3:
		if ordered {
			low, high := strings.Trim(g.literal(ref), "'"), strings.Trim(g.literal(ref), "'")
			span := pick(g.Rand, "[", "{") + pick(g.Rand, low, low, "*") + " TO " + pick(g.Rand, high, high, "*") + pick(g.Rand, "]", "}")
			return field + pick(g.Rand, " = ", " <> ") + "'" + strings.ReplaceAll(span, "'", "''") + "'"
		}
	}
	return field + pick(g.Rand, compare...) + g.literal(ref)
}

// literal returns a value of the field in one of the rows, or one that none may have.
func (g *dataGenerator) literal(ref catalog.Ref) string {
	name := ref.Canonical
	if name == belfry.IndicatorTextColumn(ref.N) {
		name = belfry.IndicatorColumn(ref.N)
	}
	if len(g.rows) > 0 && g.IntN(5) > 0 {
		if v := g.rows[g.IntN(len(g.rows))][name]; v.Type != belfry.AbsentValue {
			return g.written(v)
		}
	}
	switch ref.Type {
	case catalog.Number, catalog.Integer:
		return pick(g.Rand, "0", "1", "5", "-1", "2.5", "'10'", "1e300", "-1e19", "9223372036854775807", "9007199254740993", "0.1")
	case catalog.Time:
		return pick(g.Rand, "'NOW'", "'NOW/DAY'", "'NOW-1HOUR'", "'2026-11-14'", "'1970-01-01T00:00:00Z'", "'9999-12-31T23:59:59.999999Z'")
	case catalog.Status:
		return pick(g.Rand, "'?'", "'0'", "1", "2", "3", "'-'")
	case catalog.Bool:
		return pick(g.Rand, "true", "FALSE", "'true'")
	case catalog.ID:
		return pick(g.Rand, "'0000000000000001'", "'0000000000000010'", "'ffffffffffffffff'", "'8000000000000000'")
	}
	return pick(g.Rand, "'a'", "'5'", "5", "'raw'", "''", "'ä'", "'日本'", "'zzz'", "'[1 TO 5]'", "'%'")
}

// written returns a value as written in a query.
func (g *dataGenerator) written(v belfry.Value) string {
	switch v.Type {
	case belfry.NumberValue, belfry.IntValue, belfry.BoolValue:
		if g.IntN(3) > 0 {
			return v.String()
		}
	}
	return "'" + strings.ReplaceAll(v.String(), "'", "''") + "'"
}

// grouped returns a query with aggregates, of all rows or by one or two fields.
func (g *dataGenerator) grouped() string {
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

func (g *dataGenerator) call() string {
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

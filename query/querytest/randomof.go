package querytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// RandomOf makes a query of one of the historical collections that have rows, whatever their fields are: what it
// compares fields with are mostly values that the rows have. Some of the queries are refused by Check.
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
	g := &asker{Rand: r, collection: cat.Collection(name), rows: data[name]}
	if r.IntN(3) == 0 {
		return g.grouped()
	}
	return g.query()
}

type asker struct {
	*rand.Rand
	collection *catalog.Collection
	rows       []Row
}

func (g *asker) query() string {
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

func (g *asker) selected(counts bool) string {
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

// field picks a field, of a family one of the first.
func (g *asker) field() string {
	for {
		f := g.collection.Fields[g.IntN(len(g.collection.Fields))]
		if f.Suffix != "" { // of summaries, which raw rows are not
			continue
		}
		name := f.Nth(1 + g.IntN(4))
		if f.Type == catalog.Value && g.IntN(4) == 0 {
			name = pick(g.Rand, "string", "integer") + strings.TrimPrefix(name, f.Name)
		}
		return name
	}
}

func (g *asker) condition(depth int) string {
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

// literal is a value that one of the rows has in the field, or one that none may have.
func (g *asker) literal(ref catalog.Ref) string {
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

// written is a value as a query writes it.
func (g *asker) written(v belfry.Value) string {
	switch v.Type {
	case belfry.NumberValue, belfry.IntValue, belfry.BoolValue:
		if g.IntN(3) > 0 {
			return v.String()
		}
	}
	return "'" + strings.ReplaceAll(v.String(), "'", "''") + "'"
}

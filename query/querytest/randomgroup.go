package querytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"belfry/query"
)

// term is a key or a function of a random query, with values to compare it with.
type term struct {
	text   string
	values []string
}

// numbers are never sums or means of the rows, so that rounding never decides a comparison.
var (
	numbers = []string{"7.77", "-0.5", "'21.3'", "1e20", "'[3.3 TO 41.1]'"}
	counts  = []string{"0", "1", "2", "2.5", "'[1 TO 3]'"}
	moments = []string{"'NOW-1HOUR'", "'2026-11-15T00:00:00Z'", "'[NOW-1DAY TO *]'"}
)

// grouped returns a query with groups, without SELECT.
func (g *generator) grouped() string {
	keys, calls := g.keys(), g.calls()
	if g.IntN(8) == 0 && len(keys) > 0 {
		return "DISTINCT " + g.items(keys) + g.from() + g.ordered(keys)
	}
	all := slices.Concat(keys, calls)
	if len(all) == 0 {
		all = []term{{"COUNT(*)", counts}}
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	text := g.items(all) + g.from()
	for i, key := range keys {
		text += strings.Repeat(" GROUP BY ", 1-min(i, 1)) + strings.Repeat(", ", min(i, 1)) + key.text
	}
	if g.IntN(2) == 0 {
		text += " HAVING " + g.having(2, append(all, term{"COUNT(*)", counts}))
	}
	if len(keys) > 0 {
		text += g.ordered(all)
	}
	return text
}

func (g *generator) items(list []term) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = fmt.Sprintf("%s AS f%d", t.text, i)
	}
	return strings.Join(texts, ", ")
}

func (g *generator) ordered(list []term) string {
	if g.IntN(3) == 0 {
		return ""
	}
	by := pick(g.Rand, "f0", list[g.IntN(len(list))].text, list[g.IntN(len(list))].text)
	return " ORDER BY " + by + pick(g.Rand, "", " ASC", " DESC")
}

func (g *generator) keys() (keys []term) {
	for range g.IntN(4) {
		field := g.field()
		key := term{field, g.values(field)}
		if g.IntN(4) == 0 {
			key = term{callOf(g.Rand, query.Times, timestamp), moments}
		}
		if !slices.ContainsFunc(keys, func(k term) bool { return k.text == key.text }) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (g *generator) calls() (calls []term) {
	for range g.IntN(4) {
		calls = append(calls, g.call())
	}
	return calls
}

// call returns a function of any field, or more often, if there are some, of a number.
func (g *generator) call() term {
	field := g.field()
	number := pick(g.Rand, "i1", "i1", "integer2", "i3", "i9", "i1_min")
	isNumber := func(field string) bool { return field[0] == 'i' && field[1] >= '1' && field[1] <= '9' }
	any := func(field string) term {
		values := g.values(field)
		if isNumber(field) {
			values = numbers
		}
		return term{callOf(g.Rand, query.AnyField, field), values}
	}
	switch n := g.IntN(8); {
	case n == 0:
		return term{"COUNT(*)", counts}
	case n == 1:
		return term{callOf(g.Rand, query.AnyValue, field), counts}
	case n <= 3 || g.collection != "objectdata":
		return any(field)
	case n == 4:
		return any("i1")
	}
	return term{callOf(g.Rand, query.Numbers, number), numbers}
}

// callOf writes a call of a function that accepts such fields, under any of its names.
func callOf(r *rand.Rand, takes query.Operand, field string) string {
	var list []query.Function
	for _, f := range query.Functions() {
		if f.Takes == takes {
			list = append(list, f)
		}
	}
	f := list[r.IntN(len(list))]
	if f.Distinct {
		field = "DISTINCT " + field
	}
	if f.Second != "" {
		field += ", " + pick(r, f.Examples...)
	}
	return pick(r, f.Names...) + "(" + field + ")"
}

func (g *generator) having(depth int, of []term) string {
	if depth > 0 {
		switch g.IntN(6) {
		case 0:
			return "(" + g.having(depth-1, of) + " AND " + g.having(depth-1, of) + ")"
		case 1:
			return "(" + g.having(depth-1, of) + " OR " + g.having(depth-1, of) + ")"
		case 2:
			return "NOT " + g.having(depth-1, of)
		}
	}
	t := of[g.IntN(len(of))]
	value := pick(g.Rand, t.values...)
	switch {
	case g.IntN(6) == 0:
		return t.text + pick(g.Rand, " IS NULL", " IS NOT NULL")
	case strings.Contains(value, " TO "):
		return t.text + pick(g.Rand, " = ", " <> ") + value
	case g.IntN(6) == 0:
		return t.text + pick(g.Rand, " IN (", " NOT IN (") + value + ")"
	}
	return t.text + pick(g.Rand, " = ", " <> ", " < ", " <= ", " > ", " >= ") + value
}

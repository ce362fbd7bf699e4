// Package dialect is the SQL of DuckDB: what query.SQL needs to know of the engine. It is plain Go, so that the golden
// statements of package query are tested without the engine.
package dialect

import (
	"fmt"
	"strings"

	"belfry/query"
)

// SearchFunction is the name of the function that searches its first argument, a text, for the search that
// query.Match.Search wrote into the second. Package duckdb registers it.
const SearchFunction = "has_words"

// GroupBits is the engine's perfect_ht_threshold: if the keys of groups have no more values than fit into this many
// bits, the engine uses a perfect hash table with a slot for each value, which is twice as fast as a hash table of the
// values that occur. Its default is 12; 131,072 is the number of objects that many have. The table is allocated at once
// and its memory is not counted, see fewCalls.
const GroupBits = "17"

// fewCalls is how many functions groups may have that use the perfect hash table: with more, it would take a lot of
// memory.
const fewCalls = 4

var types = [...]string{query.StoredNumber: "DOUBLE", query.StoredInt: "BIGINT", query.StoredText: "VARCHAR", query.StoredID: "UBIGINT"}

// New returns the dialect of DuckDB, with items as the reference to its dimension table.
func New(items string) *query.Dialect {
	return &query.Dialect{
		Items: items,
		Reuse: true,
		Quote: func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
		Param: func(n int) string { return fmt.Sprintf("$%d", n) },
		Cast:  func(e string, t query.Storage) string { return "CAST(" + e + " AS " + types[t] + ")" },
		Part: func(text, sep string, n int) string {
			return fmt.Sprintf("NULLIF(split_part(%s, COALESCE(%s, chr(9)), %d), '')", text, sep, n)
		},
		Like:          like,
		Match:         match,
		Finite:        func(e string) string { return "CASE WHEN isfinite(" + e + ") THEN " + e + " END" },
		Quantile:      func(e string, part float64) string { return fmt.Sprintf("quantile_cont(%s, %v)", e, part) },
		Pair:          func(time, id string) string { return "(" + time + "::HUGEINT * 18446744073709551616 + " + id + ")" },
		AtMin:         func(e, by string) string { return "arg_min(" + e + ", " + by + ")" },
		AtMax:         func(e, by string) string { return "arg_max(" + e + ", " + by + ")" },
		SlowCondition: slowCondition,
		GroupKey:      groupKey,
	}
}

// groupKey forces a hash table of the values that occur instead of the perfect hash table, if there are many calls: the
// engine does not know the bounds of these expressions.
func groupKey(e string, t query.Storage, calls int) string {
	switch {
	case t == query.StoredNumber || calls <= fewCalls:
		return e
	case t == query.StoredText:
		return "(" + e + " || '')"
	}
	return "((" + e + ") | CAST(0 AS " + types[t] + "))"
}

// slowCondition keeps a condition out of the engine's scan. There it would be applied to a whole row group, 122,880
// rows, before the engine checks for an interrupt: with a few patterns that takes seconds. A condition on two columns
// is evaluated outside the scan, where the engine checks after every 2,048 rows. No customer has a number below 0.
func slowCondition(condition string) string { return "(" + condition + ` OR "customer" < 0)` }

// like uses LIKE only for patterns that the engine turns into a list of texts to find. For all others, including those
// with an escape, the engine would backtrack, exponentially in the number of %, and cannot be interrupted within a row;
// a regular expression takes time in proportion to the text.
func like(text string, arg func(string) string, pattern string) string {
	if strings.ContainsAny(pattern, `_\`) {
		return "regexp_full_match(" + text + ", " + arg(query.PatternRegexp(pattern)) + ", 's')"
	}
	return text + " LIKE " + arg(pattern)
}

// match uses SearchFunction to find words, or a regular expression for long patterns. Both are slow for letters beyond
// ASCII that have cases, so the engine looks for fragments of them first.
func match(text string, arg func(string) string, m query.Match) string {
	exact := func() string { return "regexp_matches(" + text + ", " + arg(m.Regexp()) + ")" }
	if m.Searchable() {
		exact = func() string { return SearchFunction + "(" + text + ", " + arg(m.Search()) + ")" }
		if len(m.PlainFragments()) > 0 {
			return exact()
		}
	}
	var all []string
	for _, f := range m.Fragments() {
		all = append(all, "regexp_matches("+text+", "+arg(f)+")")
	}
	return "(" + strings.Join(append(all, exact()), " AND ") + ")"
}

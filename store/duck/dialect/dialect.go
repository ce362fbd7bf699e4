// Package dialect is the SQL of DuckDB: what query.SQL needs to know of the engine. It is plain Go, so that the golden
// statements of package query are tested without the engine.
package dialect

import (
	"fmt"
	"strings"

	"belfry/query"
)

// SearchFunction is the function, of two texts, that tests the first for what query.Match.Search has written into the
// second. Package duckdb gives it to the engine.
const SearchFunction = "has_words"

// GroupBits is the engine's perfect_ht_threshold: when the keys of groups have no more values than fit into so many bits, the
// engine keeps a place for each, and is twice as fast as with a table of those that it meets. Its default is 12; 131,072 is
// the number of objects that many have. It takes the memory for all places at once and does not count it, see fewCalls.
const GroupBits = "17"

// fewCalls is how many functions groups may have that use this perfect hash table: the results of many functions would take
// a lot of memory there.
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
// engine does not know the limits of what these expressions give.
func groupKey(e string, t query.Storage, calls int) string {
	switch {
	case t == query.StoredNumber || calls <= fewCalls:
		return e
	case t == query.StoredText:
		return "(" + e + " || '')"
	}
	return "((" + e + ") | CAST(0 AS " + types[t] + "))"
}

// slowCondition keeps a condition out of the engine's scan. There it would be applied to a whole row group, 122,880 rows,
// before the engine checks for an interrupt: with a few patterns that is seconds. A condition on two columns stays outside,
// where it checks after every 2,048 rows. No customer has a number below 0.
func slowCondition(condition string) string { return "(" + condition + ` OR "customer" < 0)` }

// like leaves to LIKE the patterns of which the engine makes a list of texts to look for. All others, those with an escape
// among them, it would try in every way there is, exponentially many in the number of %, and nothing stops it inside a row;
// a regular expression takes time in proportion to the text.
func like(text string, arg func(string) string, pattern string) string {
	if strings.ContainsAny(pattern, `_\`) {
		return "regexp_full_match(" + text + ", " + arg(query.PatternRegexp(pattern)) + ", 's')"
	}
	return text + " LIKE " + arg(pattern)
}

// match lets SearchFunction look for words, or a regular expression for long patterns. Either takes long for letters beyond
// ASCII that have cases, so that the engine looks for fragments of them first.
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

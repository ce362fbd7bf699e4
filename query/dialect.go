package query

import (
	"fmt"
	"strings"

	"belfry"
	"belfry/catalog"
)

// DuckDB is the dialect of DuckDB, with items as the reference to its dimension table.
func DuckDB(items string) *Dialect {
	types := [...]string{StoredNumber: "DOUBLE", StoredInt: "BIGINT", StoredText: "VARCHAR", StoredID: "UBIGINT"}
	return &Dialect{
		Name:  "DuckDB",
		Items: items,
		Reuse: true,
		Quote: func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
		Param: func(n int) string { return fmt.Sprintf("$%d", n) },
		Cast:  func(e string, t Storage) string { return "CAST(" + e + " AS " + types[t] + ")" },
		Part: func(text, sep string, n int) string {
			return fmt.Sprintf("NULLIF(split_part(%s, COALESCE(%s, chr(9)), %d), '')", text, sep, n)
		},
		Like:     duckLike,
		Match:    duckMatch,
		Finite:   func(e string) string { return "CASE WHEN isfinite(" + e + ") THEN " + e + " END" },
		Quantile: func(e string, part float64) string { return fmt.Sprintf("quantile_cont(%s, %v)", e, part) },
		Pair:     func(time, id string) string { return "(" + time + "::HUGEINT * 18446744073709551616 + " + id + ")" },
		AtMin:    func(e, by string) string { return "arg_min(" + e + ", " + by + ")" },
		AtMax:    func(e, by string) string { return "arg_max(" + e + ", " + by + ")" },
		Apart:    duckApart,
		Hashed: func(e string, t Storage) string { // it does not look for the limits of what these make
			if t == StoredText {
				return "(" + e + " || '')"
			}
			return "((" + e + ") | CAST(0 AS " + types[t] + "))"
		},
	}
}

// duckLike leaves to LIKE the patterns of which the engine makes a list of texts to look for. All others, those with an
// escape among them, it would try in every way there is, exponentially many in the number of %, and nothing stops it
// inside a row; a regular expression takes time in proportion to the text.
func duckLike(text string, arg func(string) string, pattern string) string {
	if strings.ContainsAny(pattern, `_\`) {
		return "regexp_full_match(" + text + ", " + arg(patternRegexp(pattern)) + ", 's')"
	}
	return text + " LIKE " + arg(pattern)
}

// SearchFunction is the function, of two texts, that tests the first for what Match.Search has written into the second.
// The store gives it to the engine.
const SearchFunction = "has_words"

// duckMatch lets our own test look for words, or an expression of the engine for long patterns. Either takes long for
// letters beyond ASCII that have cases, so that the engine looks for fragments of them first.
func duckMatch(text string, arg func(string) string, m Match) string {
	exact := func() string { return "regexp_matches(" + text + ", " + arg(m.Regexp()) + ")" }
	if m.searchable() {
		exact = func() string { return SearchFunction + "(" + text + ", " + arg(m.Search()) + ")" }
		if len(m.plainFragments()) > 0 {
			return exact()
		}
	}
	var all []string
	for _, f := range m.Fragments() {
		all = append(all, "regexp_matches("+text+", "+arg(f)+")")
	}
	return "(" + strings.Join(append(all, exact()), " AND ") + ")"
}

// Part is the n-th part of a text, from 1, split at the separator (a tab when there is none); empty when there are not
// so many. It is what Dialect.Part writes for an engine.
func Part(text, sep string, n int) string {
	if sep == "" {
		sep = "\t"
	}
	for ; n > 1; n-- {
		_, rest, found := strings.Cut(text, sep)
		if !found {
			return ""
		}
		text = rest
	}
	part, _, _ := strings.Cut(text, sep)
	return part
}

// storage is how the values of a type are stored; of type value, its number.
func storage(t catalog.Type) Storage {
	switch t {
	case catalog.Number, catalog.Value:
		return StoredNumber
	case catalog.Text, catalog.FullText:
		return StoredText
	case catalog.ID:
		return StoredID
	}
	return StoredInt
}

// argument is a value as it is handed to an engine.
func argument(v belfry.Value) any {
	switch v.Type {
	case belfry.NumberValue:
		return v.Num
	case belfry.TextValue:
		return v.Text
	case belfry.IDValue:
		return uint64(v.Int)
	}
	return v.Int
}

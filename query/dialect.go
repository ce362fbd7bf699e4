package query

import (
	"strings"

	"belfry"
	"belfry/catalog"
)

// Dialect describes how an engine's SQL differs from others.
type Dialect struct {
	Reuse bool   // several placeholders may refer to one argument
	Items string // how the SQL refers to the dimension table item(id, customer, kind, place, resource, view, object, class, ip, host)

	Quote func(name string) string             // quotes a column name
	Param func(n int) string                   // placeholder of the n-th argument, from 1
	Cast  func(e string, t Storage) string     // converts an expression to the type
	Part  func(text, sep string, n int) string // the n-th part of a text, from 1; NULL if empty or missing

	// Like and Match test a text. They write no part of the pattern or of the words: those are passed to arg, which
	// returns a placeholder.
	Like  func(text string, arg func(string) string, pattern string) string
	Match func(text string, arg func(string) string, m Match) string

	Finite   func(e string) string               // a number, or NULL if it is not finite
	Quantile func(e string, part float64) string // aggregate: interpolated quantile
	Pair     func(time, id string) string        // one value from two, ordered by the first and then by the second
	AtMin    func(e, by string) string           // aggregate: the value, if present, in the row with the smallest by
	AtMax    func(e, by string) string

	// SlowCondition rewrites a slow condition so that the engine can be interrupted while evaluating it; nil: unchanged.
	SlowCondition func(condition string) string
	// GroupKey rewrites a key of groups with the given number of functions; nil: unchanged.
	GroupKey func(e string, t Storage, calls int) string
}

// Storage is the type of a stored column.
type Storage uint8

// The types of stored columns.
const (
	StoredNumber Storage = iota // 64-bit floats
	StoredInt                   // 64-bit integers: integers, times, booleans, statuses
	StoredText                  // texts
	StoredID                    // unsigned 64-bit integers: rows and items
)

// Statement is a plan written for an engine. All text of a client is in Args.
//
// Each output is one column of the result, in the order of Columns, except that an output of type value is two: its
// number, then its text, at least one of them NULL. Row reads them.
type Statement struct {
	Text    string
	Args    []any
	Columns []Output
}

// Part returns the n-th part of a text, from 1, split at the separator (a tab if empty); "" if there are fewer. It is
// the Go form of Dialect.Part.
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

// storage returns how values of a type are stored; for type value, its number.
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

// argument converts a value to an argument for an engine.
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

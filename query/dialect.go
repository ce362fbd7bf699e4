package query

import (
	"strings"

	"belfry"
	"belfry/catalog"
)

// Dialect is what engines differ in.
type Dialect struct {
	Reuse bool   // one argument may stand behind several placeholders
	Items string // how the SQL refers to the dimension table item(id, customer, kind, place, resource, view, object, class, ip, host)

	Quote func(name string) string             // a column name as an identifier
	Param func(n int) string                   // the placeholder of the n-th argument, from 1
	Cast  func(e string, t Storage) string     // an expression made to be of the type
	Part  func(text, sep string, n int) string // the n-th part of a text, from 1; NULL when empty or not there

	// Like and Match test a text. They write no part of the pattern or of the words: what they look for goes through arg,
	// which gives its placeholder.
	Like  func(text string, arg func(string) string, pattern string) string
	Match func(text string, arg func(string) string, m Match) string

	Finite   func(e string) string               // a number, or NULL when it is not finite
	Quantile func(e string, part float64) string // an aggregate: the number below which the part lies, interpolated
	Pair     func(time, id string) string        // one value of two, ordered by the first and then by the second
	AtMin    func(e, by string) string           // an aggregate: the value, where present, in the row where by is smallest
	AtMax    func(e, by string) string

	// SlowCondition writes a condition that takes long so that the engine can be stopped while it applies it; nil: as it is.
	SlowCondition func(condition string) string
	// GroupKey writes a key of groups that have so many functions; nil: as it is.
	GroupKey func(e string, t Storage, calls int) string
}

// Storage is the type of a stored column.
type Storage uint8

// The types of stored columns.
const (
	StoredNumber Storage = iota // floating numbers of 64 bits
	StoredInt                   // integers of 64 bits: integers, times, booleans, statuses
	StoredText                  // texts
	StoredID                    // unsigned integers of 64 bits: rows and items
)

// Statement is a plan written for an engine. All that a client wrote is in Args.
//
// Each output is one column of the result, in the order of Columns, except that an output of type value is two: its
// number, then its text, at least one of them NULL. Row reads them.
type Statement struct {
	Text    string
	Args    []any
	Columns []Output
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

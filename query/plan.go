package query

import (
	"context"
	"math"

	"belfry"
	"belfry/catalog"
)

// Plan is a checked query: plain data that can be printed and compared. It contains no text that has not been parsed.
//
// Every plan belongs to a customer; Check returns an error without one. An engine must respect the customer, the span
// and Where; it may ignore Items, because Where alone results in the same rows.
type Plan struct {
	Customer   belfry.CustomerID
	Collection *catalog.Collection
	Outputs    []Output
	Star       bool // SELECT *: outputs without a value in any row may be omitted
	Where      Pred // nil: every row

	// Within limits the plan to sub-trees; nil: the whole customer. Where has the condition that follows from it.
	Within *Within

	// Grouping combines the rows into one per group. Outputs, Having and Order then refer to columns whose origin is
	// Grouped. nil: the rows themselves are the answer.
	Grouping *Grouping
	Having   Pred // on the rows of groups; nil: all of them

	// Latest is how many rows are read: the most recent ones that meet the conditions, equal timestamps ordered by id.
	// Grouping, Order, Offset and Limit apply to these. 0: all are read.
	Latest int

	AsOf   belfry.Time // for objectstatus: the time queried; 0 is now
	Period string      // for objectdata: summaries queried, PeriodHour or PeriodDay; empty is raw data

	// From and To are the bounds of the timestamps, both inclusive. From is 0 and To is Forever if the query sets no bound.
	// In a historical collection they replace the comparisons of timestamp in the outermost AND, which are therefore not
	// in Where.
	From, To belfry.Time

	// LastID is the greatest id of the rows to read; 0: no limit. Only a plan for a later page has it.
	LastID belfry.RowID

	// Order is never empty, unless Grouping has no keys and so results in one row. It ends with id or with all keys of the
	// groups, so that two engines never differ in the order of rows.
	Order []Order

	// Limit is how many rows the client gets. Engines return up to Limit+1 of them, after skipping Offset: the extra row
	// means that there are more.
	Limit, Offset int

	// TopGroups are the groups the answer needs, in a plan derived from a client's; nil: all.
	TopGroups *TopGroups

	// Items are the items named in the outermost AND of Where, set by Resolve. They are valid only if ItemsKnown is true;
	// known and empty means that no row can match.
	Items      []belfry.ID
	ItemsKnown bool

	// Partial collects the days of which rows cannot be read; nil: the plan fails if there are any.
	Partial *Partial

	// Notes are the assumptions of the plan, shown in its explanation.
	Notes []string
}

// Forever is the end of an unbounded span.
const Forever = belfry.Time(math.MaxInt64)

// Limits of a query.
const (
	DefaultRows = 10
	MaxRows     = 100_000
	MaxOffset   = 1_000_000
)

// AllGroups is the Limit of a derived plan that needs every group.
const AllGroups = math.MaxInt - 1

// Output is one field of the answer.
type Output struct {
	Name   string // as the client wrote it, or the name after AS
	Column Column

	// Every marks a numbered field (i1, i2, …) of SELECT *: it represents as many outputs as there are in the data. Expand
	// replaces it; the Columns of Rows never contain it.
	Every bool
}

// Type returns the type of the output's values.
func (o Output) Type() catalog.Type { return o.Column.Type }

// Width returns how many columns of an engine's result the output has.
func (o Output) Width() int {
	if o.Column.isValue() {
		return 2
	}
	return 1
}

// Column is a field in a plan, resolved against the catalog.
type Column struct {
	Name string // canonical: in the catalog's spelling and without aliases, i3 for INTEGER3
	Type catalog.Type
	From Origin
	Of   string // FromItem, RowOrItem: the column of the item; FromSplit: the text that is split; Grouped: which part of a value
	N    int    // the number of a numbered field; Grouped: the index in the group
}

// Origin is the source of a column's values.
type Origin uint8

// The origins of a column.
const (
	Stored     Origin = iota // the row's column of that name; of type value: iN for its number and sN for its text
	NumberOf                 // the number of an indicator: column iN
	TextOf                   // the text of an indicator: column sN
	FromItem                 // the row's item: its resource, view, object, class, ip or host
	RowOrItem                // the row's column of that name; if absent, as FromItem
	ItemNumber               // the id of the row's item, instead of one of its names
	FromSplit                // the N-th part of a text of the row, split at its separator
	Constant                 // the same in all rows of an answer: the period
	Grouped                  // the N-th value of a group, from 0: its keys, then the results of its calls
)

// The parts of a value that is a key of a group, as Column.Of names them.
const (
	numberPart = "number"
	textPart   = "text"
)

// Order is one key of the order of rows. Absent values come last in both directions.
type Order struct {
	Column Column
	Desc   bool
}

// Rows are the answer to a plan.
type Rows interface {
	// Columns are the outputs of the plan, with those of SELECT * expanded.
	Columns() []Output
	// Next returns the next row, a value for each column. The slice is valid until the next call. At the end it returns io.EOF.
	Next() ([]belfry.Value, error)
	Close() error
}

// ItemNames finds items by the names in a query, and the names of items. Removed items are included.
type ItemNames interface {
	// Items lists the items inside the scope that match all the names given in m. known is false if finding them would take
	// long: then the engine has to find the rows by name.
	Items(ctx context.Context, s belfry.Scope, m ItemMatch) (ids []belfry.ID, known bool, err error)
	// Places lists the places inside a limited scope, and its tops, both in order; see Within.
	Places(s belfry.Scope) (places, tops []belfry.ID)
	// Label returns the names of an item of the customer; they are empty if there is none.
	Label(ctx context.Context, customer belfry.CustomerID, id belfry.ID) (Label, error)
	// Names sets names to a field of each of the items, in the same way.
	Names(ctx context.Context, customer belfry.CustomerID, field string, items []belfry.ID, names []string) error
	// NamesUnique reports whether each item has a name in at least one of the fields, and no two have the same in all of them;
	// without items, whether it could find out. It may return false if finding out would take long.
	NamesUnique(ctx context.Context, customer belfry.CustomerID, fields []string, items []belfry.ID) (bool, error)
	// AllNamesUnique is NamesUnique for every item the collection can refer to.
	AllNamesUnique(customer belfry.CustomerID, c *catalog.Collection, fields []string) bool
	// FirstByName returns the n objects whose names come first; fewer if it does not know as many. It is called only if all
	// names are unique.
	FirstByName(customer belfry.CustomerID, n int) []belfry.ID
}

// ItemMatch names items; nil matches any.
type ItemMatch struct {
	Resource, View, Object, Class *string
}

// Table is one table of rows: a file of an engine.
type Table struct {
	Ref     string // reference in the engine's SQL; written by the engine, never from a client's text
	Columns map[string]bool

	// From and To are the first and last time of which the table can have rows; To is 0 if unknown.
	From, To belfry.Time

	// Parts are conditions in the engine's SQL; each selects some of the rows that can be in the answer and becomes a branch
	// of its own. nil: all rows can be.
	Parts []string

	// Rollup is set if the rows are summaries, each with the columns of SummaryColumns and RowsColumn, from which the groups
	// of a plan are computed; see FromSummaries. It is the same for all tables.
	Rollup bool
}

// Has reports whether the table has the column. Every table has customer, id and timestamp, listed or not.
func (t Table) Has(column string) bool {
	return t.Columns[column] || column == "customer" || column == "id" || column == timestamp
}

// Empty returns the plan with an empty span.
func (p *Plan) Empty() *Plan {
	q := *p
	q.From, q.To = 1, 0
	return &q
}

package query

import (
	"context"
	"math"

	"belfry"
	"belfry/catalog"
)

// Plan is a checked query: plain data that can be printed and compared. It holds no text that has not been understood.
//
// Every plan belongs to a customer; Check refuses to build one without. An engine must keep the customer, the span and
// Where; what it makes of Items is its own choice, as Where alone gives the same rows.
type Plan struct {
	Customer   belfry.CustomerID
	Collection *catalog.Collection
	Outputs    []Output
	Star       bool // SELECT *: outputs in which no row has a value may be left out
	Where      Pred // nil: every row

	// Within limits the plan to sub-trees; nil: the whole customer. Where has the condition that follows from it.
	Within *Within

	// Grouping makes of the rows found one for each group. Outputs, Having and Order then speak of columns whose origin
	// is Grouped. nil: the rows themselves are the answer.
	Grouping *Grouping
	Having   Pred // on the rows of groups; nil: all of them

	// Latest is how many rows are read: the most recent ones that meet the conditions, equal timestamps decided by id. The
	// answer is what Grouping, Order, Offset and Limit make of these. 0: all are read.
	Latest int

	AsOf   belfry.Time // of objectstatus: the moment that is asked for; 0 is now
	Period string      // of objectdata: the summaries that are asked for, PeriodHour or PeriodDay; empty is raw data

	// From and To bound the timestamps of the rows wanted, both inclusive. From is 0 and To is Forever where the query
	// sets no bound. In a historical collection they stand for the comparisons of timestamp in the outermost AND,
	// which are therefore not repeated in Where.
	From, To belfry.Time

	// LastID is the greatest id of the rows that count; 0: all do. Only a plan for a later page has it.
	LastID belfry.RowID

	// Order is never empty, unless Grouping has no keys and so gives one row. It ends in id or in all keys of the
	// groups, so that two engines never differ in the order of rows.
	Order []Order

	// Limit is how many rows the client gets. Engines deliver up to Limit+1 of them, after skipping Offset: the row too
	// many tells the API that there are more.
	Limit, Offset int

	// TopGroups says which groups the answer needs, in a plan that we made ourselves; nil: all.
	TopGroups *TopGroups

	// Items are the items whose names the outermost AND of Where asks for, once Resolve has looked them up. While
	// ItemsKnown is false nothing is known; known and empty means that no row can match.
	Items      []belfry.ID
	ItemsKnown bool

	// Partial collects the days of which rows cannot be read; nil: the plan fails if there are any.
	Partial *Partial

	// Notes tell the reader of an explanation what the plan took for granted.
	Notes []string
}

// Forever is the end of a span that has none.
const Forever = belfry.Time(math.MaxInt64)

// Limits of a query.
const (
	DefaultRows = 10
	MaxRows     = 100_000
	MaxOffset   = 1_000_000
)

// AllGroups is the Limit of a plan that we made ourselves, and that wants every group.
const AllGroups = math.MaxInt - 1

// Output is one field of the answer.
type Output struct {
	Name   string // as the client wrote it, or the name after AS
	Column Column

	// Every marks a numbered field (i1, i2, …) of SELECT *: it stands for as many outputs as the data have. Expand
	// replaces it; the Columns of Rows never contain it.
	Every bool
}

// Type is the type of the values of the output.
func (o Output) Type() catalog.Type { return o.Column.Type }

// Width is how many columns of an engine's result the output has.
func (o Output) Width() int {
	if o.Column.isValue() {
		return 2
	}
	return 1
}

// Column is a field that a plan speaks of, resolved against the catalog.
type Column struct {
	Name string // canonical, that is in the catalog's own writing and without aliases: i3 for INTEGER3
	Type catalog.Type
	From Origin
	Of   string // FromItem, RowOrItem: the column of the item; FromSplit: the text that is split; Grouped: which part of a value
	N    int    // the number of a numbered field; Grouped: the place in the group
}

// Origin says where the value of a column comes from.
type Origin uint8

// The origins of a column.
const (
	Stored     Origin = iota // the row's column of that name; of type value: iN for its number and sN for its text
	NumberOf                 // the number of an indicator: column iN
	TextOf                   // the text of an indicator: column sN
	FromItem                 // the row's item: its resource, view, object, class, ip or host
	RowOrItem                // the row's column of that name; where it is absent, as FromItem
	ItemNumber               // the number of the row's item, in place of what FromItem would give
	FromSplit                // the N-th part of a text of the row, split at its separator
	Constant                 // the same for all rows of an answer: the period
	Grouped                  // the N-th value of a group, from 0: its keys, then the results of its calls
)

// The parts of a value that is a key of a group, as Column.Of names them.
const (
	numberPart = "number"
	textPart   = "text"
)

// Order is one key of the order of rows. An absent value comes last in both directions.
type Order struct {
	Column Column
	Desc   bool
}

// Rows are the answer to a plan.
type Rows interface {
	// Columns are the outputs of the plan, with those of SELECT * expanded.
	Columns() []Output
	// Next gives the next row, a value for each column. The slice is valid until the next call. At the end it is io.EOF.
	Next() ([]belfry.Value, error)
	Close() error
}

// Source answers plans: the row store for historical collections, the live tree for current ones.
type Source interface {
	Select(ctx context.Context, p *Plan) (Rows, error)
}

// Explainer is a Source that can say how it would answer a plan: which files, summaries and indexes it would read.
type Explainer interface {
	Explain(ctx context.Context, p *Plan) ([]Line, error)
}

// Names finds items by the names a query uses.
type Names interface {
	// Items lists the items inside the scope, removed ones included, that match all the names given in m. It is not known
	// where finding them would take long: then the engine has to find the rows by the names.
	Items(ctx context.Context, s belfry.Scope, m ItemMatch) (ids []belfry.ID, known bool, err error)
	// Places lists the places inside a limited scope, and its tops, both in order; see Within.
	Places(s belfry.Scope) (places, tops []belfry.ID)
}

// ItemMatch names items; nil matches any.
type ItemMatch struct {
	Resource, View, Object, Class *string
}

// Table is one table of rows: a file of an engine.
type Table struct {
	Ref     string // how the engine's SQL refers to it; made by the engine, never from a client's text
	Columns map[string]bool

	// From and To are the first and the last moment of which the table can have rows; To is 0 when nothing is known.
	From, To belfry.Time

	// Parts are conditions on the rows that can be in the answer, each on some of them, in the engine's SQL; nil: all rows can
	// be. Each becomes a branch of its own.
	Parts []string

	// Summed says that the rows are summaries, each with the columns of SummaryColumns and RowsColumn, from which the
	// groups of a plan are to be made; see FromSummaries. Either all tables are so or none.
	Summed bool
}

// Has tells whether the table has the column. Every table has customer, id and timestamp, listed or not.
func (t Table) Has(column string) bool {
	return t.Columns[column] || column == "customer" || column == "id" || column == timestamp
}

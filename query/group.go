package query

import (
	"belfry"
	"belfry/catalog"
)

// Grouping makes one row of all rows that agree in the keys; rows in which a key is absent agree in that too. Without
// keys it makes one row of all rows, even of none. Functions pass over absent values.
type Grouping struct {
	Keys  []Call // fields and time buckets
	Calls []Call // aggregates
}

// Call is a field, or a function of one.
type Call struct {
	Func    Func
	Column  Column  // zero for COUNT(*); of an indicator, the part that the function reads
	Percent float64 // of FuncPercentile, from 0 to 100
	Bucket  Bucket  // of FuncBucket
}

// Bucket is a division of time into parts of equal length by the clock on a wall.
type Bucket struct {
	Length int64 // in microseconds
	Origin int64 // microseconds from 1970 to where a part begins: Monday for weeks

	// Zone names where the wall is, empty for UTC. Offsets are the zone's for the moments that the query can meet, the
	// earliest first, so that an engine needs to know nothing about zones; none at all for UTC.
	Zone    string
	Offsets []Offset
}

// Offset is by how much a zone is ahead of UTC from a moment on.
type Offset struct {
	From  belfry.Time
	Ahead int64 // in microseconds
}

// Func is what is done to a field.
type Func uint8

// The functions.
const (
	FuncNone          Func = iota // the field itself
	FuncCount                     // COUNT(*), or of a field the rows that have it
	FuncCountDistinct             // COUNT(DISTINCT f); of an indicator, numbers and texts
	FuncSum                       // a floating number also for integers, so that it cannot overflow
	FuncMin
	FuncMax
	FuncMean
	FuncMedian
	FuncPercentile // interpolated between neighbours
	FuncStddev     // of a sample
	FuncFirst      // by time, then by id
	FuncLast
	FuncBucket // TIMEBUCKET
)

var funcTexts = [...]string{
	"", "COUNT", "COUNT", "SUM", "MIN", "MAX", "MEAN", "MEDIAN", "PERCENTILE", "STDDEV", "FIRST", "LAST", "TIMEBUCKET",
}

func (f Func) String() string { return funcTexts[f] }

// Periods of summaries.
const (
	PeriodHour = "hour"
	PeriodDay  = "day"
)

// column is the i-th value of a group.
func (g *Grouping) column(i int) Column {
	c := g.call(i)
	return Column{Name: c.String(), Type: c.Type(), From: Grouped, N: i}
}

// call is what the i-th value of a group is made by.
func (g *Grouping) call(i int) Call {
	if i < len(g.Keys) {
		return g.Keys[i]
	}
	return g.Calls[i-len(g.Keys)]
}

// width is how many values a group has.
func (g *Grouping) width() int { return len(g.Keys) + len(g.Calls) }

// Type is the type of what the call gives.
func (c Call) Type() catalog.Type {
	switch c.Func {
	case FuncCount, FuncCountDistinct:
		return catalog.Integer
	case FuncSum, FuncMean, FuncMedian, FuncPercentile, FuncStddev:
		return catalog.Number
	}
	return c.Column.Type
}

// same tells whether two calls of one query give the same.
func (c Call) same(d Call) bool {
	return c.Func == d.Func && c.Column == d.Column && c.Percent == d.Percent &&
		c.Bucket.Length == d.Bucket.Length && c.Bucket.Origin == d.Bucket.Origin
}

// String writes the call as a query would.
func (c Call) String() string {
	field := c.Column.Name
	switch c.Func {
	case FuncNone:
		return field
	case FuncCount:
		if field == "" {
			field = "*"
		}
	case FuncCountDistinct:
		field = "DISTINCT " + field
	case FuncPercentile:
		field += ", " + belfry.FormatNumber(c.Percent)
	case FuncBucket:
		field += ", " + quoteString(c.Bucket.length())
	}
	return c.Func.String() + "(" + field + ")"
}

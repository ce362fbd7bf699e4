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

// Type is the type of the call's result.
func (c Call) Type() catalog.Type {
	if t := functions[c.Func].Gives; t != "" {
		return t
	}
	return c.Column.Type
}

// isKey reports whether the call can be a key of groups.
func (c Call) isKey() bool { return functions[c.Func].Key }

// same tells whether two calls of one query give the same.
func (c Call) same(d Call) bool {
	return c.Func == d.Func && c.Column == d.Column && c.Percent == d.Percent &&
		c.Bucket.Length == d.Bucket.Length && c.Bucket.Origin == d.Bucket.Origin
}

// String writes the call as a query would.
func (c Call) String() string {
	f, field := &functions[c.Func], c.Column.Name
	switch {
	case c.Func == FuncNone:
		return field
	case f.Distinct:
		field = "DISTINCT " + field
	case field == "":
		field = "*"
	}
	if f.secondText != nil {
		field += ", " + f.secondText(c)
	}
	return c.Func.String() + "(" + field + ")"
}

package query

import (
	"belfry"
	"belfry/catalog"
)

// Grouping combines all rows with equal keys into one; absent keys are equal to each other. Without keys it combines all
// rows into one, even if there are none. Functions ignore absent values.
type Grouping struct {
	Keys  []Call // fields and time buckets
	Calls []Call // aggregates
}

// Call is a field, or a function of one.
type Call struct {
	Func    Func
	Column  Column  // zero for COUNT(*); for an indicator, the part that the function reads
	Percent float64 // of FuncPercentile, from 0 to 100
	Bucket  Bucket  // of FuncBucket
}

// Bucket is a division of time into intervals of equal length in wall-clock time.
type Bucket struct {
	Length int64 // in microseconds
	Origin int64 // microseconds from 1970 to the beginning of a bucket: Monday for weeks

	// Zone is the name of the zone, empty for UTC. Offsets are its offsets for the times in the query's span, earliest
	// first, so that an engine needs no knowledge of zones; none for UTC.
	Zone    string
	Offsets []Offset
}

// Offset is the offset of a zone from UTC from a time on.
type Offset struct {
	From  belfry.Time
	Ahead int64 // in microseconds
}

// Periods of summaries.
const (
	PeriodHour = "hour"
	PeriodDay  = "day"
)

// column returns the column of the i-th value of a group.
func (g *Grouping) column(i int) Column {
	c := g.call(i)
	return Column{Name: c.String(), Type: c.Type(), From: Grouped, N: i}
}

// call returns the key or call of the i-th value of a group.
func (g *Grouping) call(i int) Call {
	if i < len(g.Keys) {
		return g.Keys[i]
	}
	return g.Calls[i-len(g.Keys)]
}

// width returns how many values a group has.
func (g *Grouping) width() int { return len(g.Keys) + len(g.Calls) }

// Type returns the type of the call's result.
func (c Call) Type() catalog.Type {
	if t := functions[c.Func].Gives; t != "" {
		return t
	}
	return c.Column.Type
}

// isKey reports whether the call can be a key of groups.
func (c Call) isKey() bool { return functions[c.Func].Key }

// equal reports whether two calls of one query have the same result.
func (c Call) equal(d Call) bool {
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

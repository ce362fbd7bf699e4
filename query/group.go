package query

import "belfry/catalog"

// Grouping makes one row of all rows that agree in the keys. Without keys it makes one row of all rows, even of none.
type Grouping struct {
	Keys  []Call // fields and time buckets
	Calls []Call // aggregates
}

// Call is a field, or a function of one.
type Call struct {
	Func    Func
	Column  Column  // zero for COUNT(*); of an indicator, the part that the function reads
	Percent float64 // of FuncPercentile
	Bucket  Bucket  // of FuncBucket
}

// Bucket is a division of time into parts of equal length.
type Bucket struct {
	Length int64 // in microseconds
}

// Func is what is done to a field.
type Func uint8

// The functions.
const (
	FuncNone          Func = iota // the field itself
	FuncCount                     // COUNT(*), or of a field the rows that have it
	FuncCountDistinct             // COUNT(DISTINCT f)
	FuncSum
	FuncMin
	FuncMax
	FuncMean
	FuncMedian
	FuncPercentile // interpolated between neighbours
	FuncStddev     // of a sample
	FuncFirst      // by time
	FuncLast
	FuncBucket // TIMEBUCKET
)

// Periods of summaries.
const (
	PeriodHour = "hour"
	PeriodDay  = "day"
)

// column is the i-th value of a group.
func (g *Grouping) column(i int, name string, t catalog.Type) Column {
	return Column{Name: name, Type: t, From: Grouped, N: i}
}

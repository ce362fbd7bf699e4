package query

import (
	"math"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Func is a function of the query language, and its place in the table of functions.
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

// functions describes every function once, for all that is done with it. To add a function, add its constant and its entry;
// TestFunctionsAreTested then asks for a golden query and a line in docs/guide/query.md.
var functions = [...]Function{
	FuncNone: {Key: true, Takes: AnyValue},
	FuncCount: {
		Names: []string{"COUNT"}, Takes: AnyValue, Gives: catalog.Integer, Rows: true, distinct: FuncCountDistinct,
		result:      func(a *accumulator, _ *Call) belfry.Value { return intValue(a.n) },
		sql:         (*writer).count,
		partial:     func(w *writer, c Call) partial { return partial{[]string{w.count(c)}, w.sumOfCounts} },
		itemPartial: itemCount,
	},
	FuncCountDistinct: {
		Names: []string{"COUNT"}, Distinct: true, Takes: AnyValue, Gives: catalog.Integer,
		add:         func(a *accumulator, _ *Call, v belfry.Value, _ Row) int { return a.different(v) },
		result:      func(a *accumulator, _ *Call) belfry.Value { return intValue(int64(len(a.distinct))) },
		sql:         func(w *writer, c Call) string { return countEach("DISTINCT ", w.expressions(c.Column)) },
		itemPartial: itemAggregate("COUNT(DISTINCT "),
	},
	FuncSum: {
		Names: []string{"SUM"}, Takes: Numbers, Gives: catalog.Number, summary: []int{summaryMean, summaryCount},
		add:    (*accumulator).addNumber,
		result: func(a *accumulator, _ *Call) belfry.Value { return a.number(a.total()) },
		sql:    func(w *writer, c Call) string { return w.dialect.Finite(w.total(c, w.sum(c))) },
		partial: func(w *writer, c Call) partial {
			return partial{[]string{w.sum(c)}, func(p ...string) string { return w.dialect.Finite(w.total(c, "SUM("+p[0]+")")) }}
		},
	},
	FuncMin: minOrMax("MIN", -1, summaryMin),
	FuncMax: minOrMax("MAX", 1, summaryMax),
	FuncMean: {
		Names: []string{"MEAN", "AVG"}, Takes: Numbers, Gives: catalog.Number, summary: []int{summaryMean, summaryCount},
		add:    (*accumulator).addNumber,
		result: func(a *accumulator, _ *Call) belfry.Value { return a.number(a.total() / float64(a.n)) },
		sql:    (*writer).mean,
		partial: func(w *writer, c Call) partial {
			return partial{[]string{w.sum(c), w.count(c)}, func(p ...string) string { return w.dialect.Finite("SUM(" + p[0] + ") / SUM(" + p[1] + ")") }}
		},
	},
	FuncMedian: {
		Names: []string{"MEDIAN"}, Takes: Numbers, Gives: catalog.Number,
		add:    (*accumulator).keepNumber,
		result: func(a *accumulator, _ *Call) belfry.Value { return a.number(percentile(a.numbers, 50)) },
		sql:    func(w *writer, c Call) string { return w.dialect.Finite(w.dialect.Quantile(w.number(c), 0.5)) },
	},
	FuncPercentile: {
		Names: []string{"PERCENTILE"}, Takes: Numbers, Gives: catalog.Number,
		Second: "a number from 0 to 100", Examples: []string{"0", "25", "50", "'95'", "99.9", "100"},
		second: (*checker).percent, secondText: func(c Call) string { return belfry.FormatNumber(c.Percent) },
		add:    (*accumulator).keepNumber,
		result: func(a *accumulator, c *Call) belfry.Value { return a.number(percentile(a.numbers, c.Percent)) },
		sql: func(w *writer, c Call) string {
			return w.dialect.Finite(w.dialect.Quantile(w.number(c), c.Percent/100))
		},
	},
	FuncStddev: {
		Names: []string{"STDDEV"}, Takes: Numbers, Gives: catalog.Number,
		add:    (*accumulator).addSquare,
		result: func(a *accumulator, _ *Call) belfry.Value { return a.number(math.Sqrt(a.m2 / float64(a.n-1))) }, // of one value 0/0
		sql:    func(w *writer, c Call) string { return stddev(w.number(c)) },
	},
	FuncFirst: firstOrLast("FIRST", "MIN", false, func(d *Dialect) func(e, by string) string { return d.AtMin }),
	FuncLast:  firstOrLast("LAST", "MAX", true, func(d *Dialect) func(e, by string) string { return d.AtMax }),
	FuncBucket: {
		Names: []string{"TIMEBUCKET"}, Key: true, Takes: Times,
		Second: "a length like '5m'", Examples: []string{"'30s'", "'5m'", "'7m'", "'1h'", "'6h'", "'1d'", "'1w'"},
		second: (*checker).bucket, secondText: func(c Call) string { return quoteString(c.Bucket.length()) },
		key:    func(c *Call, v int64) int64 { return c.Bucket.start(v) },
		keySQL: func(c Call, e string) string { return c.Bucket.sql(e) },
	},
}

// minOrMax is MIN or MAX, whose value compares with all others as sign says.
func minOrMax(name string, sign, column int) Function {
	return Function{
		Names: []string{name}, Takes: AnyField, summary: []int{column},
		add: func(a *accumulator, _ *Call, v belfry.Value, _ Row) int {
			if a.n == 1 || compareValues(v, a.value) == sign {
				a.value = v
			}
			return 0
		},
		result: theValue,
		sql:    func(w *writer, c Call) string { return name + "(" + w.operand(c, column) + ")" },
		partial: func(w *writer, c Call) partial {
			return partial{[]string{name + "(" + w.operand(c, column) + ")"}, func(p ...string) string { return name + "(" + p[0] + ")" }}
		},
		itemPartial: itemAggregate(name + "("),
	}
}

// firstOrLast is FIRST or LAST; fn finds the time of its row, and at returns the engine's function for the value at that time.
func firstOrLast(name, fn string, last bool, at func(d *Dialect) func(e, by string) string) Function {
	return Function{
		Names: []string{name}, Takes: AnyField, byTime: true,
		add:    func(a *accumulator, _ *Call, v belfry.Value, r Row) int { return a.keepByTime(v, r, last) },
		result: theValue,
		sql:    func(w *writer, c Call) string { return at(w.dialect)(w.expressions(c.Column)[0], w.when()) },
		partial: func(w *writer, c Call) partial {
			e := w.expressions(c.Column)[0]
			present := fn + "(CASE WHEN " + e + " IS NOT NULL THEN " + w.when() + " END)"
			return partial{[]string{at(w.dialect)(e, w.when()), present}, func(p ...string) string { return at(w.dialect)(p[0], p[1]) }}
		},
		itemPartial: func(w *writer, name string) partial {
			return partial{[]string{fn + "(" + w.when() + ")"}, func(p ...string) string { return at(w.dialect)(name, p[0]) }}
		},
	}
}

// Function describes a function of the query language.
type Function struct {
	// What a query writes.
	Names    []string // the first is how a plan prints it
	Rows     bool     // may be called with * instead of a field
	Distinct bool     // DISTINCT stands before the field
	Second   string   // what the second argument is; empty: there is none
	Examples []string // second arguments

	// What it is applied to, and what it gives.
	Key   bool // it makes a key of groups; all others make one value of the rows of a group
	Takes Operand
	Gives catalog.Type // empty: the type of the field

	distinct   Func                                    // what it is with DISTINCT before the field; none: not allowed
	second     func(k *checker, c *Call, t Term) error // reads the second argument
	secondText func(c Call) string                     // writes it

	// Eval. add takes in a value of a row and returns how many bytes more it needs; nil: the number of values says it all.
	add    func(a *accumulator, c *Call, v belfry.Value, r Row) int
	result func(a *accumulator, c *Call) belfry.Value
	key    func(c *Call, v int64) int64 // of a key: the value by which rows are grouped; nil: the field itself

	// SQL over the rows q and the items d, or over summaries.
	sql     func(w *writer, c Call) string
	keySQL  func(c Call, e string) string
	byTime  bool  // it reads timestamp and id, too
	summary []int // the columns of a summary it can be computed from; nil: it needs the rows

	// The function in two steps, see partial.go; nil: it has to see all rows of a group. itemPartial is of a name of the item.
	partial     func(w *writer, c Call) partial
	itemPartial func(w *writer, name string) partial
}

// Operand says which fields a function takes.
type Operand uint8

// The operands.
const (
	AnyValue Operand = iota // any field; of an indicator, its number or its text
	AnyField                // any field; of an indicator, its number
	Numbers
	Times
)

// Functions returns all functions, for tests and documents.
func Functions() []Function { return slices.Clone(functions[1:]) }

// Description returns what the table says about f.
func (f Func) Description() Function { return functions[f] }

// String returns the name of f in a query.
func (f Func) String() string {
	if f == FuncNone {
		return ""
	}
	return functions[f].Names[0]
}

// function returns what a name before a parenthesis stands for; FuncNone when there is no such function.
func (n Name) function() Func {
	name := strings.ToUpper(n.Text)
	return Func(max(0, slices.IndexFunc(functions[:], func(f Function) bool { return slices.Contains(f.Names, name) })))
}

// namesOf lists the names of functions, each once.
func namesOf(is func(f *Function) bool) (names []string) {
	for i := range functions {
		for _, name := range functions[i].Names {
			if is(&functions[i]) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// functionNames lists the names of all functions in alphabetical order.
func functionNames() []string {
	return slices.Sorted(slices.Values(namesOf(func(*Function) bool { return true })))
}

// and joins words as a sentence does.
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

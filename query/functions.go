package query

import (
	"math"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Func is a function of the query language: its index in the table of functions.
type Func uint8

// The functions.
const (
	FuncNone          Func = iota // the field itself
	FuncCount                     // COUNT(*), or of a field the rows that have it
	FuncCountDistinct             // COUNT(DISTINCT f); of an indicator, numbers and texts
	FuncSum                       // a float even for integers, so that it cannot overflow
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

// functions describes every function in one place. To add a function, add its constant and its entry;
// TestFunctionsAreTested then requires a golden query and a line in docs/guide/query.md.
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
		add:         func(a *accumulator, _ *Call, v belfry.Value, _ Row) int { return a.addDistinct(v) },
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

// minOrMax returns MIN or MAX; sign is how its value compares with all others.
func minOrMax(name string, sign, column int) Function {
	return Function{
		Names: []string{name}, Takes: AnyField, summary: []int{column},
		add: func(a *accumulator, _ *Call, v belfry.Value, _ Row) int {
			if a.n == 1 || compareValues(v, a.value) == sign {
				a.value = v
			}
			return 0
		},
		result: keptValue,
		sql:    func(w *writer, c Call) string { return name + "(" + w.operand(c, column) + ")" },
		partial: func(w *writer, c Call) partial {
			return partial{[]string{name + "(" + w.operand(c, column) + ")"}, func(p ...string) string { return name + "(" + p[0] + ")" }}
		},
		itemPartial: itemAggregate(name + "("),
	}
}

// firstOrLast returns FIRST or LAST; fn finds the time of its row, and at returns the engine's function for the value at
// that time.
func firstOrLast(name, fn string, last bool, at func(d *Dialect) func(e, by string) string) Function {
	return Function{
		Names: []string{name}, Takes: AnyField, byTime: true,
		add:    func(a *accumulator, _ *Call, v belfry.Value, r Row) int { return a.keepByTime(v, r, last) },
		result: keptValue,
		sql:    func(w *writer, c Call) string { return at(w.dialect)(w.expressions(c.Column)[0], w.timeAndID()) },
		partial: func(w *writer, c Call) partial {
			e := w.expressions(c.Column)[0]
			present := fn + "(CASE WHEN " + e + " IS NOT NULL THEN " + w.timeAndID() + " END)"
			return partial{[]string{at(w.dialect)(e, w.timeAndID()), present}, func(p ...string) string { return at(w.dialect)(p[0], p[1]) }}
		},
		itemPartial: func(w *writer, name string) partial {
			return partial{[]string{fn + "(" + w.timeAndID() + ")"}, func(p ...string) string { return at(w.dialect)(name, p[0]) }}
		},
	}
}

// Function describes a function of the query language.
type Function struct {
	// Syntax.
	Names    []string // the first is how a plan prints it
	Rows     bool     // may be called with * instead of a field
	Distinct bool     // DISTINCT precedes the field
	Second   string   // description of the second argument; empty: none
	Examples []string // of the second argument

	// Operand and result.
	Key   bool // usable as a key of groups; all others are aggregates
	Takes Operand
	Gives catalog.Type // empty: the type of the field

	distinct   Func                                    // the function with DISTINCT before the field; none: not allowed
	second     func(k *checker, c *Call, t Term) error // reads the second argument
	secondText func(c Call) string                     // writes it

	// Eval. add adds a value and returns how many more bytes it needs; nil: the number of values is enough.
	add    func(a *accumulator, c *Call, v belfry.Value, r Row) int
	result func(a *accumulator, c *Call) belfry.Value
	key    func(c *Call, v int64) int64 // value by which rows are grouped; nil: the field itself

	// SQL over the rows q and the items d, or over summaries.
	sql     func(w *writer, c Call) string
	keySQL  func(c Call, e string) string
	byTime  bool  // also reads timestamp and id
	summary []int // columns of a summary it can be computed from; nil: needs the rows

	// The function in two steps, see partial.go; nil: it needs all rows of a group. itemPartial is for a name of the item.
	partial     func(w *writer, c Call) partial
	itemPartial func(w *writer, name string) partial
}

// Operand is the kind of fields that a function accepts.
type Operand uint8

// The operands.
const (
	AnyValue Operand = iota // any field; of an indicator, its number or its text
	AnyField                // any field; of an indicator, its number
	Numbers
	Times
)

// Functions returns all functions, for tests and documentation.
func Functions() []Function { return slices.Clone(functions[1:]) }

// Description returns the entry of f.
func (f Func) Description() Function { return functions[f] }

// String returns the name of f in a query.
func (f Func) String() string {
	if f == FuncNone {
		return ""
	}
	return functions[f].Names[0]
}

// function returns the function of that name, FuncNone if there is none.
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

// andList joins words: a, b and c.
func andList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

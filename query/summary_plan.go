package query

import (
	"slices"
	"time"

	"belfry"
)

// A plan with groups that asks for no period can often be answered from summaries all the same: a mean is the sum of the
// means of hours, each as often as the hour has values, and so on. It then reads them where they say everything about
// the rows they were made of, and rows elsewhere, each as a summary of itself.

const (
	// leastSummed is the span from which on summaries are read instead of rows, and leastDays that for days.
	leastSummed = belfry.Time(48 * time.Hour / time.Microsecond)
	leastDays   = belfry.Time(30 * 24 * time.Hour / time.Microsecond)
)

// FromSummaries tells from which summaries the answer could be made, if from any. An engine should do so when it is
// chosen, and may when it has lost the rows.
func (p *Plan) FromSummaries() (period string, chosen bool) {
	if p.Grouping == nil || p.Latest > 0 || p.Period != "" || len(p.Collection.Summaries) == 0 {
		return "", false
	}
	own := false // what rows may have themselves is, in summaries, that of the item: good enough where only they are left
	ofItem := func(c Column) bool {
		own = own || c.From == RowOrItem
		return c.ofItem()
	}
	if p.Where != nil && mentions(p.Where, func(c Column) bool { return !ofItem(c) }) {
		return "", false
	}
	if slices.ContainsFunc(p.Grouping.Calls, func(c Call) bool { return !c.summable() }) {
		return "", false
	}
	long, buckets := p.To-p.From >= leastSummed, false
	period = PeriodHour
	if p.To-p.From >= leastDays {
		period = PeriodDay
	}
	for _, key := range p.Grouping.Keys {
		switch {
		case key.Func == FuncBucket && isTimestamp(key.Column) && key.Bucket.wholly(PeriodHour):
			buckets = true
			if !key.Bucket.wholly(PeriodDay) {
				period = PeriodHour
			}
		case key.Func != FuncNone || !ofItem(key.Column):
			return "", false
		}
	}
	if !buckets { // who does not ask for a course of time counts the rows that are there
		return "", false
	}
	return period, long && !own
}

// summable tells whether the function can be had from summaries. COUNT of an indicator cannot: it counts texts as well.
func (c Call) summable() bool {
	switch c.Func {
	case FuncCount:
		return c.Column == (Column{})
	case FuncSum, FuncMean, FuncMin, FuncMax:
		return c.Column.From == NumberOf
	}
	return false
}

// wholly tells whether each part of the bucket is made of whole hours or days of UTC.
func (b Bucket) wholly(period string) bool {
	n := int64(PeriodLength(period))
	for i, o := range b.Offsets {
		if o.Ahead%n != 0 || i > 0 && int64(o.From)%n != 0 { // the first is there before anything else
			return false
		}
	}
	return b.Length%n == 0 && b.Origin%n == 0
}

// RowsColumn is where a summary keeps of how many rows it was made.
const RowsColumn = "rows"

// explainSummaries says what the answer is made of, where that is not rows.
func (p *Plan) explainSummaries(line func(what, format string, args ...any)) {
	if period, chosen := p.FromSummaries(); chosen {
		line("reads", "%s summaries, and rows where they do not reach", period)
	}
}

// summed writes a function over summaries.
func (w *writer) summed(c Call) string {
	part := func(k int) string { return w.of("q", SummaryColumns(c.Column.N)[k].Name) }
	switch c.Func {
	case FuncCount:
		e := w.of("q", RowsColumn)
		if c.Column != (Column{}) {
			e = part(3)
		}
		return w.dialect.Cast("COALESCE(SUM("+e+"), 0)", StoredInt)
	case FuncSum:
		return w.dialect.Finite(w.sum(c))
	case FuncMean:
		return w.dialect.Finite(w.sum(c) + " / SUM(" + part(3) + ")")
	case FuncMin:
		return "MIN(" + part(1) + ")"
	}
	return "MAX(" + part(2) + ")"
}

// weighted is what the values of an indicator add up to in a summary.
func (w *writer) weighted(c Call) string {
	columns := SummaryColumns(c.Column.N)
	return w.of("q", columns[0].Name) + " * " + w.of("q", columns[3].Name)
}

// summedNeeds are the columns that a function reads of summaries.
func (c Call) summedNeeds() []stored {
	if c.Column == (Column{}) {
		return []stored{{RowsColumn, StoredInt}}
	}
	if c.Column.From != NumberOf {
		return c.Column.stored()
	}
	columns := SummaryColumns(c.Column.N)
	switch c.Func {
	case FuncMin:
		columns = columns[1:2]
	case FuncMax:
		columns = columns[2:3]
	default:
		columns = []Column{columns[0], columns[3]}
	}
	var list []stored
	for _, col := range columns {
		list = append(list, stored{col.Name, storage(col.Type)})
	}
	return list
}

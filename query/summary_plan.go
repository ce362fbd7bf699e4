package query

import (
	"slices"
	"time"

	"belfry"
)

// A plan with groups and without a period can often be answered from summaries, too: a mean is the mean of the hours'
// means, weighted by their counts, and so on. It then reads summaries where they are complete, and rows elsewhere, each as
// a summary of itself.

const (
	// minSummarySpan is the span from which summaries are read instead of rows, minDaySpan that for days.
	minSummarySpan = belfry.Time(48 * time.Hour / time.Microsecond)
	minDaySpan     = belfry.Time(30 * 24 * time.Hour / time.Microsecond)
)

// FromSummaries returns the period of the summaries from which the answer can be computed; "" if it cannot. An engine
// should use them if chosen is true, and may if it has lost the rows.
func (p *Plan) FromSummaries() (period string, chosen bool) {
	if p.Grouping == nil || p.Latest > 0 || p.Period != "" || len(p.Collection.Summaries) == 0 {
		return "", false
	}
	own := false // summaries have the item's fields, not the rows' own: good enough if only summaries are left
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
	long, buckets := p.To-p.From >= minSummarySpan, false
	period = PeriodHour
	if p.To-p.From >= minDaySpan {
		period = PeriodDay
	}
	for _, key := range p.Grouping.Keys {
		switch {
		case key.Bucket.Length > 0 && isTimestamp(key.Column) && key.Bucket.alignsWith(PeriodHour):
			buckets = true
			if !key.Bucket.alignsWith(PeriodDay) {
				period = PeriodHour
			}
		case key.Func != FuncNone || !ofItem(key.Column):
			return "", false
		}
	}
	if !buckets { // without a time series, the present rows are counted
		return "", false
	}
	return period, long && !own
}

// summable reports whether the call can be computed from summaries. COUNT of an indicator cannot: it counts texts as well.
func (c Call) summable() bool {
	return c.Column == (Column{}) || functions[c.Func].summary != nil && c.Column.From == NumberOf
}

// alignsWith reports whether each bucket consists of whole hours or days of UTC.
func (b Bucket) alignsWith(period string) bool {
	n := int64(PeriodLength(period))
	for i, o := range b.Offsets {
		if o.Ahead%n != 0 || i > 0 && int64(o.From)%n != 0 { // the first applies from the beginning
			return false
		}
	}
	return b.Length%n == 0 && b.Origin%n == 0
}

// RowsColumn is the column of a summary with the number of its rows.
const RowsColumn = "rows"

// explainSummaries adds a line if the answer is computed from summaries.
func (p *Plan) explainSummaries(line func(what, format string, args ...any)) {
	if period, chosen := p.FromSummaries(); chosen {
		line("reads", "%s summaries, and rows where they do not reach", period)
	}
}

// summaryColumn reads a column of the summaries of an indicator.
func (w *writer) summaryColumn(c Call, column int) string {
	return w.qualified("q", SummaryColumns(c.Column.N)[column].Name)
}

// summaryNeeds returns the columns of summaries that a call reads.
func (c Call) summaryNeeds() (needed []stored) {
	if c.Column == (Column{}) {
		return []stored{{RowsColumn, StoredInt}}
	}
	if c.Column.From != NumberOf {
		return c.Column.stored()
	}
	columns := SummaryColumns(c.Column.N)
	for _, i := range functions[c.Func].summary {
		needed = append(needed, stored{columns[i].Name, storage(columns[i].Type)})
	}
	return needed
}

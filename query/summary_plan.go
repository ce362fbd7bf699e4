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
		case key.Bucket.Length > 0 && isTimestamp(key.Column) && key.Bucket.wholly(PeriodHour):
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

// summable reports whether the call can be computed from summaries. COUNT of an indicator cannot: it counts texts as well.
func (c Call) summable() bool {
	return c.Column == (Column{}) || functions[c.Func].summary != nil && c.Column.From == NumberOf
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

// summaryColumn reads a column of the summaries of an indicator.
func (w *writer) summaryColumn(c Call, column int) string {
	return w.of("q", SummaryColumns(c.Column.N)[column].Name)
}

// summaryNeeds are the columns of summaries that a call reads.
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

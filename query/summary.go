package query

import (
	"time"

	"belfry"
	"belfry/catalog"
)

// A query of objectdata speaks either of the rows as they came or, with period = 'hour' or 'day', of summaries: one row
// for each item and each hour or day in UTC in which it has rows. Its timestamp is where the hour or day begins, iN the
// mean of the numbers of that indicator, iN_min, iN_max and iN_count what their names say. A day is made of its hours.

// rawPeriod is the value of the field period in rows that are no summaries.
const rawPeriod = "raw"

// PeriodLength is how long the period of a summary is.
func PeriodLength(period string) belfry.Time {
	if period == PeriodDay {
		return belfry.Time(24 * time.Hour / time.Microsecond)
	}
	return belfry.Time(time.Hour / time.Microsecond)
}

// The id of a summary is made of its hour, a bit that tells days from hours, and its item. Until the year 10,000 there
// are fewer than 2^27 hours.
const itemBits = 35

// SummaryID is the id of the summary of an item that begins at start.
func SummaryID(period string, start belfry.Time, item belfry.ID) belfry.RowID {
	n := 2 * uint64(start/PeriodLength(PeriodHour))
	if period == PeriodDay {
		n++
	}
	return belfry.RowID(n<<itemBits | uint64(item)&(1<<itemBits-1))
}

// period is the value of the field period in all rows of the answer.
func (p *Plan) period() string {
	if p.Period == "" {
		return rawPeriod
	}
	return p.Period
}

// period takes the one period that a query may ask for out of its conditions.
func (k *checker) period() error {
	var rest []Pred
	found := ""
	for _, c := range conjuncts(k.plan.Where) {
		cmp, ok := c.(Compare)
		switch {
		case !ok && !mentions(c, isPeriod), ok && !isPeriod(cmp.Column):
			rest = append(rest, c)
		case !ok || cmp.Op != Equal || found != "" && found != cmp.Value.Text:
			return k.errorf(k.periodAt, "an answer has rows of one period; ask for it once, beside the other conditions, as AND period = 'hour'")
		default:
			found = cmp.Value.Text
		}
	}
	switch found {
	case "", rawPeriod:
	case PeriodHour, PeriodDay:
		k.plan.Period = found
	default:
		return k.errorf(k.periodAt, "there is no period %s%s; it is raw, hour or day", quoteString(shorten(found)),
			didYouMean(found, []string{rawPeriod, PeriodHour, PeriodDay}))
	}
	k.plan.Where = conjunction(rest...)
	return nil
}

func isPeriod(c Column) bool { return c.From == Constant }

// periodValue is the period of a row, which is raw unless the row says otherwise.
func periodValue(r Row) belfry.Value {
	if v := r.Value("period"); v.Type == belfry.TextValue {
		return v
	}
	return belfry.Value{Type: belfry.TextValue, Text: rawPeriod}
}

// The columns of an indicator in a summary, by their place in SummaryColumns.
const (
	summaryMean = iota
	summaryMin
	summaryMax
	summaryCount
)

// SummaryColumns are the columns in which a summary keeps an indicator, with their types.
func SummaryColumns(n int) []Column {
	name := belfry.IndicatorColumn(n)
	return []Column{
		{Name: name, Type: catalog.Number},
		{Name: name + "_min", Type: catalog.Number},
		{Name: name + "_max", Type: catalog.Number},
		{Name: name + "_count", Type: catalog.Integer},
	}
}

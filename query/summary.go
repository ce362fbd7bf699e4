package query

import (
	"time"

	"belfry"
	"belfry/catalog"
)

// A query of objectdata reads either raw rows or, with period = 'hour' or 'day', summaries: one row for each item and each
// hour or day in UTC in which it has rows. Its timestamp is the beginning of the hour or day, iN the mean of the numbers of
// that indicator, iN_min, iN_max and iN_count their minimum, maximum and count. A day is computed from its hours.

// rawPeriod is the value of the field period in rows that are not summaries.
const rawPeriod = "raw"

// PeriodLength returns the length of a summary's period.
func PeriodLength(period string) belfry.Time {
	if period == PeriodDay {
		return belfry.Time(24 * time.Hour / time.Microsecond)
	}
	return belfry.Time(time.Hour / time.Microsecond)
}

// The id of a summary consists of its hour, a bit that distinguishes days from hours, and its item. Until the year 10,000
// there are fewer than 2^27 hours.
const itemBits = 35

// SummaryID returns the id of the summary of an item that begins at start.
func SummaryID(period string, start belfry.Time, item belfry.ID) belfry.RowID {
	n := 2 * uint64(start/PeriodLength(PeriodHour))
	if period == PeriodDay {
		n++
	}
	return belfry.RowID(n<<itemBits | uint64(item)&(1<<itemBits-1))
}

// period returns the value of the field period in all rows of the answer.
func (p *Plan) period() string {
	if p.Period == "" {
		return rawPeriod
	}
	return p.Period
}

// period removes the condition on the period from the others and sets the plan's period. There may be only one.
func (k *checker) period() error {
	var rest []Pred
	found := ""
	for _, c := range conjuncts(k.plan.Where) {
		cmp, ok := c.(Compare)
		switch {
		case !ok && !mentions(c, isPeriod), ok && !isPeriod(cmp.Column):
			rest = append(rest, c)
		case !ok || cmp.Op != Equal || found != "" && found != cmp.Value.Text:
			return k.errorf(k.periodPos, "an answer has rows of one period; give it once, as a separate condition, as AND period = 'hour'")
		default:
			found = cmp.Value.Text
		}
	}
	switch found {
	case "", rawPeriod:
	case PeriodHour, PeriodDay:
		k.plan.Period = found
	default:
		return k.errorf(k.periodPos, "there is no period %s%s; it is raw, hour or day", quoteString(shorten(found)),
			didYouMean(found, []string{rawPeriod, PeriodHour, PeriodDay}))
	}
	k.plan.Where = conjunction(rest...)
	return nil
}

func isPeriod(c Column) bool { return c.From == Constant }

// periodValue returns the period of a row, raw unless the row has one.
func periodValue(r Row) belfry.Value {
	if v := r.Value("period"); v.Type == belfry.TextValue {
		return v
	}
	return belfry.Value{Type: belfry.TextValue, Text: rawPeriod}
}

// Indexes in SummaryColumns.
const (
	summaryMean = iota
	summaryMin
	summaryMax
	summaryCount
)

// SummaryColumns returns the columns of an indicator in a summary, with their types.
func SummaryColumns(n int) []Column {
	name := belfry.IndicatorColumn(n)
	return []Column{
		{Name: name, Type: catalog.Number},
		{Name: name + "_min", Type: catalog.Number},
		{Name: name + "_max", Type: catalog.Number},
		{Name: name + "_count", Type: catalog.Integer},
	}
}

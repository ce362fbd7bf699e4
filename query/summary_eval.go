package query

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"belfry"
)

// SumScale scales sums down by a power of two, and so without loss: the sum of as many of the largest numbers as there
// can be does not overflow, and neither does their mean.
const SumScale = 1.0 / (1 << 40)

// Summaries converts rows of one customer into summaries of the period. It defines what a summary is, whatever the order
// of rows; engines must return the same. Their means may differ from ours only by the rounding that depends on the order
// of additions.
func Summaries(period string, rows iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		list := hoursOf(rows)
		if period == PeriodDay {
			list = daysOf(list)
		}
		for _, s := range list {
			s.setFields(period)
			if !yield(s) {
				return
			}
		}
	}
}

// OfItem is the prefix of a field that is read from the row's item, even if the row has the field itself.
const OfItem = "item."

// summary is a row of a summary.
type summary struct {
	start      belfry.Time
	item       belfry.ID
	indicators map[int]*sums
	values     map[string]belfry.Value // by field
}

// Value implements Row.
func (s *summary) Value(field string) belfry.Value { return s.values[field] }

// summaries holds one summary for each start and item.
type summaries map[summaryKey]*summary

type summaryKey struct {
	start belfry.Time
	item  belfry.ID
}

// get returns the summary of an item at a time, and creates it if it is new; from is a row that has the names of the
// item.
func (m summaries) get(period string, t belfry.Time, item belfry.ID, from Row) *summary {
	key := summaryKey{t - t%PeriodLength(period), item}
	if m[key] == nil {
		m[key] = &summary{start: key.start, item: item, indicators: map[int]*sums{}, values: map[string]belfry.Value{}}
		for _, name := range []string{"resource", "view", "object", "class", belfry.ItemColumn, belfry.PlaceColumn} {
			m[key].values[name] = from.Value(name)
		}
		for _, name := range []string{"ip", "host"} { // not the row's own, which have no meaning in a summary
			m[key].values[name] = from.Value(OfItem + name)
			m[key].values[OfItem+name] = from.Value(OfItem + name)
		}
	}
	return m[key]
}

func (m summaries) sorted() []*summary {
	return slices.SortedFunc(maps.Values(m), func(a, b *summary) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.item, b.item))
	})
}

func hoursOf(rows iter.Seq[Row]) []*summary {
	hours := summaries{}
	for r := range rows {
		s := hours.get(PeriodHour, belfry.Time(r.Value(timestamp).Int), belfry.ID(r.Value(belfry.ItemColumn).Int), r)
		for n := 1; n <= belfry.MaxIndicators; n++ {
			if v := r.Value(belfry.IndicatorColumn(n)); v.Type == belfry.NumberValue {
				s.add(n, v.Num*SumScale, sums{min: v.Num, max: v.Num, count: 1})
			}
		}
	}
	return hours.sorted()
}

// daysOf computes days from the means of hours, as an engine does that has only the hours.
func daysOf(hours []*summary) []*summary {
	days := summaries{}
	for _, h := range hours {
		day := days.get(PeriodDay, h.start, h.item, h)
		for n, i := range h.indicators {
			day.add(n, i.mean()*SumScale*float64(i.count), *i)
		}
	}
	return days.sorted()
}

// add adds numbers of the n-th indicator; their sum is passed separately, scaled.
func (s *summary) add(n int, scaled float64, of sums) {
	if s.indicators[n] == nil {
		s.indicators[n] = new(sums)
	}
	s.indicators[n].add(scaled, of)
}

// setFields sets the fields of the row.
func (s *summary) setFields(period string) {
	s.values["id"] = belfry.Value{Type: belfry.IDValue, Int: int64(SummaryID(period, s.start, s.item))}
	s.values[timestamp] = belfry.Value{Type: belfry.TimeValue, Int: int64(s.start)}
	s.values["period"] = belfry.Value{Type: belfry.TextValue, Text: period}
	for n, i := range s.indicators {
		columns := SummaryColumns(n)
		for k, v := range []float64{i.mean(), i.min, i.max} {
			s.values[columns[k].Name] = belfry.Value{Type: belfry.NumberValue, Num: v}
		}
		s.values[columns[3].Name] = belfry.Value{Type: belfry.IntValue, Int: i.count}
	}
}

// sums are the statistics of one indicator.
type sums struct {
	scaled   floatSum // their sum times SumScale
	min, max float64
	count    int64
}

func (s *sums) add(scaled float64, o sums) {
	if s.count == 0 {
		s.min, s.max = o.min, o.max
	}
	s.scaled.add(scaled)
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.count += o.count
}

// mean is limited to the range from the smallest to the largest number, because of rounding.
func (s *sums) mean() float64 {
	return max(s.min, min(s.max, s.scaled.float()/float64(s.count)/SumScale))
}

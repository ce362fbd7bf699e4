package query

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"belfry"
)

// SumScale keeps a sum of numbers smaller than it is, by a power of two and so without loss: the sum of as many of the
// largest numbers as there can be does not overflow, and neither does their mean.
const SumScale = 1.0 / (1 << 40)

// Summaries turns rows of one customer into summaries of the period. It says what a summary is, whatever the order of
// rows; engines that keep them must give the same. Their means may differ from ours by what is lost when numbers are added
// in one order or another, and by nothing else.
func Summaries(period string, rows iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		list := hoursOf(rows)
		if period == PeriodDay {
			list = daysOf(list)
		}
		for _, s := range list {
			s.complete(period)
			if !yield(s) {
				return
			}
		}
	}
}

// OfItem stands before a field of a row that is to be read from its item, whatever the row has itself.
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

// at finds the summary of an item at a moment; from is a row that knows the names of the item.
func (m summaries) at(period string, t belfry.Time, item belfry.ID, from Row) *summary {
	key := summaryKey{t - t%PeriodLength(period), item}
	if m[key] == nil {
		m[key] = &summary{start: key.start, item: item, indicators: map[int]*sums{}, values: map[string]belfry.Value{}}
		for _, name := range []string{"resource", "view", "object", "class", belfry.ItemColumn, belfry.PlaceColumn} {
			m[key].values[name] = from.Value(name)
		}
		for _, name := range []string{"ip", "host"} { // rows may have their own, which are of no use in a summary
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
		s := hours.at(PeriodHour, belfry.Time(r.Value(timestamp).Int), belfry.ID(r.Value(belfry.ItemColumn).Int), r)
		for n := 1; n <= belfry.MaxIndicators; n++ {
			if v := r.Value(belfry.IndicatorColumn(n)); v.Type == belfry.NumberValue {
				s.add(n, v.Num*SumScale, sums{min: v.Num, max: v.Num, count: 1})
			}
		}
	}
	return hours.sorted()
}

// daysOf makes days of hours, as an engine does that has the hours only: from their means.
func daysOf(hours []*summary) []*summary {
	days := summaries{}
	for _, h := range hours {
		day := days.at(PeriodDay, h.start, h.item, h)
		for n, i := range h.indicators {
			day.add(n, i.mean()*SumScale*float64(i.count), *i)
		}
	}
	return days.sorted()
}

// add takes in numbers of the n-th indicator, whose sum is given apart.
func (s *summary) add(n int, scaled float64, of sums) {
	if s.indicators[n] == nil {
		s.indicators[n] = new(sums)
	}
	s.indicators[n].add(scaled, of)
}

// complete gives the summary its fields.
func (s *summary) complete(period string) {
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

// sums are the numbers of one indicator.
type sums struct {
	scaled   total // their sum times SumScale
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

// mean lies between the smallest and the largest number, however it is rounded.
func (s *sums) mean() float64 {
	return max(s.min, min(s.max, s.scaled.float()/float64(s.count)/SumScale))
}

package query

import (
	"math"
	"math/bits"
	"slices"

	"belfry"
	"belfry/catalog"
)

// tally is what one function has seen of one group.
type tally struct {
	n        int64
	sum      total
	whole    int128  // the sum of integers
	mean, m2 float64 // of STDDEV: m2 is the sum of the squared distances from the mean

	value belfry.Value // of MIN, MAX, FIRST and LAST
	when  [2]int64     // of FIRST and LAST: timestamp and id

	numbers  []float64 // of MEDIAN and PERCENTILE
	distinct map[belfry.Value]struct{}
}

// maxSquared is above all numbers whose squares can be summed up. Of larger ones there is no STDDEV.
const maxSquared = 1e150

// add takes a row in and gives how many bytes more it needs for it.
func (t *tally) add(c Call, r Row) int {
	if c.Func == FuncCount && c.Column == (Column{}) {
		t.n++
		return 0
	}
	v := c.Column.of(r)
	if v.Type == belfry.AbsentValue {
		return 0
	}
	v.Num += 0 // -0 becomes 0
	t.n++
	switch c.Func {
	case FuncSum, FuncMean:
		if c.Column.Type == catalog.Integer {
			t.whole.add(v.Int)
		} else {
			t.sum.add(asFloat(v))
		}
	case FuncStddev:
		if math.Abs(asFloat(v)) >= maxSquared {
			t.m2 = math.Inf(1)
			break
		}
		d := asFloat(v) - t.mean
		t.mean += d / float64(t.n)
		t.m2 += d * (asFloat(v) - t.mean)
	case FuncMedian, FuncPercentile:
		t.numbers = append(t.numbers, asFloat(v))
		return 12 // with the room that append keeps
	case FuncCountDistinct:
		return t.different(v)
	case FuncMin, FuncMax:
		if is := compareValues(v, t.value); t.n == 1 || is < 0 && c.Func == FuncMin || is > 0 && c.Func == FuncMax {
			t.value = v
		}
	case FuncFirst, FuncLast:
		t.at(v, r, c.Func == FuncLast)
	}
	return 0
}

// total is a sum of numbers, as exact as if it were rounded once, after all of them.
type total struct {
	sum, low float64 // low holds what the sum has lost by rounding
}

func (t *total) add(f float64) {
	s := t.sum + f
	if math.Abs(t.sum) >= math.Abs(f) {
		t.low += t.sum - s + f
	} else {
		t.low += f - s + t.sum
	}
	t.sum = s
}

func (t total) float() float64 { return t.sum + t.low }

// int128 is a sum of integers, which no number of them can exceed.
type int128 struct {
	high int64
	low  uint64
}

func (s *int128) add(n int64) {
	low, carry := bits.Add64(s.low, uint64(n), 0)
	s.low = low
	s.high += n>>63 + int64(carry)
}

// float rounds the sum to a floating number, by its size: what is below zero would lose its last digits.
func (s int128) float() float64 {
	if s.high >= 0 {
		return math.Ldexp(float64(s.high), 64) + float64(s.low)
	}
	low, borrow := bits.Sub64(0, s.low, 0)
	high, _ := bits.Sub64(0, uint64(s.high), borrow)
	return -(math.Ldexp(float64(high), 64) + float64(low))
}

func (t *tally) different(v belfry.Value) int {
	if _, known := t.distinct[v]; known {
		return 0
	}
	if t.distinct == nil {
		t.distinct = map[belfry.Value]struct{}{}
	}
	t.distinct[v] = struct{}{}
	return 80 + len(v.Text)
}

// at takes the value when its row is before all others or, for last, after them. A row without a timestamp is neither.
func (t *tally) at(v belfry.Value, r Row, last bool) {
	at := r.Value(timestamp)
	when := [2]int64{at.Int, r.Value("id").Int}
	if at.Type == belfry.AbsentValue {
		when[0] = math.MaxInt64
		if last {
			when[0] = math.MinInt64
		}
	}
	if is := slices.Compare(when[:], t.when[:]); t.n == 1 || (is > 0) == last && is != 0 {
		t.value, t.when = v, when
	}
}

// result is what the function gives. A number that is not finite is absent: no answer could show it.
func (t *tally) result(c Call) belfry.Value {
	var f float64
	switch c.Func {
	case FuncCount:
		return belfry.Value{Type: belfry.IntValue, Int: t.n}
	case FuncCountDistinct:
		return belfry.Value{Type: belfry.IntValue, Int: int64(len(t.distinct))}
	case FuncMin, FuncMax, FuncFirst, FuncLast:
		return t.value
	case FuncSum:
		f = t.sum.float() + t.whole.float()
	case FuncMean:
		f = (t.sum.float() + t.whole.float()) / float64(t.n)
	case FuncStddev:
		if t.n < 2 {
			return belfry.Value{}
		}
		f = math.Sqrt(t.m2 / float64(t.n-1))
	case FuncMedian:
		f = percentile(t.numbers, 50)
	case FuncPercentile:
		f = percentile(t.numbers, c.Percent)
	}
	if t.n == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.NumberValue, Num: f + 0}
}

// percentile interpolates between the two numbers nearest to the place.
func percentile(numbers []float64, percent float64) float64 {
	if len(numbers) == 0 {
		return math.NaN()
	}
	slices.Sort(numbers)
	place := float64(len(numbers)-1) * percent / 100
	low := int(place)
	high := min(low+1, len(numbers)-1)
	a, b, part := numbers[low], numbers[high], place-float64(low)
	if between := b - a; !math.IsInf(between, 0) {
		return a + between*part
	}
	return a*(1-part) + b*part // neighbours from both ends of what there is
}

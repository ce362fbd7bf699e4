package query

import (
	"math"
	"math/bits"
	"slices"

	"belfry"
	"belfry/catalog"
)

// accumulator is what one function has seen of one group. Each function uses the fields it needs.
type accumulator struct {
	n        int64 // values, or rows for COUNT(*)
	sum      total
	whole    int128  // the sum of integers
	mean, m2 float64 // m2 is the sum of the squared distances from the mean

	value belfry.Value
	when  [2]int64 // timestamp and id of the row with value

	numbers  []float64
	distinct map[belfry.Value]struct{}
}

// maxSquared is above all numbers whose squares can be summed up. Of larger ones there is no STDDEV.
const maxSquared = 1e150

// add takes a row in and returns how many bytes more it needs for it.
func (a *accumulator) add(c *Call, r Row) int {
	var v belfry.Value
	if c.Column != (Column{}) {
		if v = c.Column.of(r); v.Type == belfry.AbsentValue {
			return 0
		}
		v.Num += 0 // -0 becomes 0
	}
	a.n++
	if add := functions[c.Func].add; add != nil {
		return add(a, c, v, r)
	}
	return 0
}

// result returns the value of the function.
func (a *accumulator) result(c *Call) belfry.Value { return functions[c.Func].result(a, c) }

func (a *accumulator) addNumber(c *Call, v belfry.Value, _ Row) int {
	if c.Column.Type == catalog.Integer {
		a.whole.add(v.Int)
	} else {
		a.sum.add(asFloat(v))
	}
	return 0
}

// addSquare computes the variance by Welford's method.
func (a *accumulator) addSquare(_ *Call, v belfry.Value, _ Row) int {
	f := asFloat(v)
	if math.Abs(f) >= maxSquared {
		a.m2 = math.Inf(1)
		return 0
	}
	d := f - a.mean
	a.mean += d / float64(a.n)
	a.m2 += d * (f - a.mean)
	return 0
}

func (a *accumulator) keepNumber(_ *Call, v belfry.Value, _ Row) int {
	a.numbers = append(a.numbers, asFloat(v))
	return 12 // with the room that append keeps
}

// keepByTime keeps the value when its row is before all others or, for last, after them. A row without a timestamp is neither.
func (a *accumulator) keepByTime(v belfry.Value, r Row, last bool) int {
	at := r.Value(timestamp)
	when := [2]int64{at.Int, r.Value("id").Int}
	if at.Type == belfry.AbsentValue {
		when[0] = math.MaxInt64
		if last {
			when[0] = math.MinInt64
		}
	}
	if is := slices.Compare(when[:], a.when[:]); a.n == 1 || (is > 0) == last && is != 0 {
		a.value, a.when = v, when
	}
	return 0
}

// different keeps a value that it has not seen.
func (a *accumulator) different(v belfry.Value) int {
	if _, known := a.distinct[v]; known {
		return 0
	}
	if a.distinct == nil {
		a.distinct = map[belfry.Value]struct{}{}
	}
	a.distinct[v] = struct{}{}
	return 80 + len(v.Text)
}

// total is the sum of all numbers.
func (a *accumulator) total() float64 { return a.sum.float() + a.whole.float() }

// number returns a computed number. It is absent without values, and where it is not finite: no answer could show it.
func (a *accumulator) number(f float64) belfry.Value {
	if a.n == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.NumberValue, Num: f + 0}
}

func theValue(a *accumulator, _ *Call) belfry.Value { return a.value }

func intValue(n int64) belfry.Value { return belfry.Value{Type: belfry.IntValue, Int: n} }

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

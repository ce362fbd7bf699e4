package query

import (
	"math"
	"math/bits"
	"slices"

	"belfry"
	"belfry/catalog"
)

// accumulator is the state of one function for one group. Each function uses the fields it needs.
type accumulator struct {
	n        int64 // values, or rows for COUNT(*)
	sum      floatSum
	intSum   int128  // the sum of integers
	mean, m2 float64 // m2 is the sum of squared differences from the mean

	value belfry.Value
	when  [2]int64 // timestamp and id of the row with value

	numbers  []float64
	distinct map[belfry.Value]struct{}
}

// maxSquared is above all numbers whose squares can be summed. STDDEV has no result for larger ones.
const maxSquared = 1e150

// add adds a row and returns how many more bytes it needs for it.
func (a *accumulator) add(c *Call, r Row) int {
	var v belfry.Value
	if c.Column != (Column{}) {
		if v = c.Column.value(r); v.Type == belfry.AbsentValue {
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
		a.intSum.add(v.Int)
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
	return 12 // with the spare capacity of append
}

// keepByTime keeps the value if its row is before all others or, for last, after them. A row without a timestamp is
// neither.
func (a *accumulator) keepByTime(v belfry.Value, r Row, last bool) int {
	t := r.Value(timestamp)
	when := [2]int64{t.Int, r.Value("id").Int}
	if t.Type == belfry.AbsentValue {
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

// addDistinct adds a value that is new.
func (a *accumulator) addDistinct(v belfry.Value) int {
	if _, known := a.distinct[v]; known {
		return 0
	}
	if a.distinct == nil {
		a.distinct = map[belfry.Value]struct{}{}
	}
	a.distinct[v] = struct{}{}
	return 80 + len(v.Text)
}

// total returns the sum of all numbers.
func (a *accumulator) total() float64 { return a.sum.float() + a.intSum.float() }

// number returns a computed number. It is absent without values and if it is not finite, because no answer could show
// it.
func (a *accumulator) number(f float64) belfry.Value {
	if a.n == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.NumberValue, Num: f + 0}
}

func keptValue(a *accumulator, _ *Call) belfry.Value { return a.value }

func intValue(n int64) belfry.Value { return belfry.Value{Type: belfry.IntValue, Int: n} }

// floatSum is a sum of numbers, as exact as if it were rounded once at the end.
type floatSum struct {
	sum, low float64 // low is the accumulated rounding error
}

func (t *floatSum) add(f float64) {
	s := t.sum + f
	if math.Abs(t.sum) >= math.Abs(f) {
		t.low += t.sum - s + f
	} else {
		t.low += f - s + t.sum
	}
	t.sum = s
}

func (t floatSum) float() float64 { return t.sum + t.low }

// int128 is a sum of integers that cannot overflow.
type int128 struct {
	high int64
	low  uint64
}

func (s *int128) add(n int64) {
	low, carry := bits.Add64(s.low, uint64(n), 0)
	s.low = low
	s.high += n>>63 + int64(carry)
}

// float rounds the sum to a float by its magnitude: a negative one would lose its last digits otherwise.
func (s int128) float() float64 {
	if s.high >= 0 {
		return math.Ldexp(float64(s.high), 64) + float64(s.low)
	}
	low, borrow := bits.Sub64(0, s.low, 0)
	high, _ := bits.Sub64(0, uint64(s.high), borrow)
	return -(math.Ldexp(float64(high), 64) + float64(low))
}

// percentile interpolates between the two nearest numbers.
func percentile(numbers []float64, percent float64) float64 {
	if len(numbers) == 0 {
		return math.NaN()
	}
	slices.Sort(numbers)
	rank := float64(len(numbers)-1) * percent / 100
	low := int(rank)
	high := min(low+1, len(numbers)-1)
	a, b, part := numbers[low], numbers[high], rank-float64(low)
	if between := b - a; !math.IsInf(between, 0) {
		return a + between*part
	}
	return a*(1-part) + b*part // the difference of the two overflows
}

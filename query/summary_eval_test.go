package query

import (
	"slices"
	"testing"

	"belfry"
)

// TestSummariesOfAnyOrder: the mean of an hour is that of the exact sum, whatever the order of rows.
func TestSummariesOfAnyOrder(t *testing.T) {
	f := func(want float64, numbers ...float64) {
		t.Helper()
		for range len(numbers) {
			numbers = append(numbers[1:], numbers[0])
			for _, list := range [][]float64{numbers, reversed(numbers)} {
				if got := meanOfHour(list); got != want {
					t.Errorf("the mean of %v is %v, want %v", list, got, want)
				}
			}
		}
	}
	f(10.25000000025, 20, 1, 20, 1e-9)
	f(3002399751580320, 1<<53, 1, -33.25)
	tiny := 1e-9
	f(tiny/3, 1, tiny, -1)
}

func reversed(numbers []float64) []float64 {
	list := slices.Clone(numbers)
	slices.Reverse(list)
	return list
}

func meanOfHour(numbers []float64) (mean float64) {
	rows := func(yield func(Row) bool) {
		for _, n := range numbers {
			if !yield(oneRow{"i1": {Type: belfry.NumberValue, Num: n}}) {
				return
			}
		}
	}
	for s := range Summaries(PeriodHour, rows) {
		mean = s.Value("i1").Num
	}
	return mean
}

package query

import "testing"

// The difference between neighbours may overflow; a number between them does not.
func TestPercentileOfExtremes(t *testing.T) {
	f := func(percent, want float64, numbers ...float64) {
		t.Helper()
		if got := percentile(numbers, percent); got != want {
			t.Errorf("got %g, want %g", got, want)
		}
	}
	f(50, 0, 1.7e308, -1.7e308)
	f(75, 8.499999999999999e307, 1.7e308, -1.7e308)
	f(25, 2, 1, 2, 3, 4, 5)
	f(99, 4.96, 5, 1, 2, 3, 4)
}

package catalog

import "testing"

// TestWithin compares Within with a test of many numbers.
func TestWithin(t *testing.T) {
	for op := Equal; op <= GreaterEqual; op++ {
		for at := -3; at <= 3; at++ {
			c := Condition{Op: op, Number: float64(at)}
			for low := -4; low <= 4; low++ {
				for high := low; high <= 4; high++ {
					want := false
					for n := 2 * low; n <= 2*high; n++ {
						want = want || c.Met(float64(n)/2)
					}
					if got := c.Within(float64(low), float64(high)); got != want {
						t.Errorf("%s from %d to %d: %t, want %t", c, low, high, got, want)
					}
				}
			}
		}
	}
}

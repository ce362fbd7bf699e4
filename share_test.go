package belfry

import "testing"

func TestSharedLimit(t *testing.T) {
	f := func(own, one, all int64) {
		t.Helper()
		if o, a := SharedLimit(6400, own); o != one || a != all {
			t.Errorf("%d: %d, %d; want %d, %d", own, o, a, one, all)
		}
	}
	f(100, 3200, 8000)
	f(101, 3200, 6400)
}

package status

import (
	"testing"

	"belfry"
)

func TestWorst(t *testing.T) {
	f := func(want belfry.Status, present ...belfry.Status) {
		t.Helper()
		var c Counts
		for _, s := range present {
			c[s]++
		}
		if got := Worst.Of(c); got != want {
			t.Errorf("%v: got %s, want %s", present, got, want)
		}
	}
	f(belfry.Unknown)
	f(belfry.Unknown, belfry.Unknown)
	f(belfry.OK, belfry.Unknown, belfry.OK)
	f(belfry.Critical, belfry.Major, belfry.Critical, belfry.Warning)
	f(belfry.Unavailable, belfry.Critical, belfry.Unavailable)
}

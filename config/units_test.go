package config

import (
	"math"
	"testing"
)

func TestRoughSizes(t *testing.T) {
	f := func(s Size, want string) {
		t.Helper()
		if got := s.Rough(); got != want {
			t.Errorf("%d: %q, want %q", int64(s), got, want)
		}
	}
	f(-1, "0 B")
	f(0, "0 B")
	f(999, "999 B")
	f(1000, "1 kB")
	f(1<<20, "1.05 MB")
	f(999_600_000, "1 GB")
	f(1000<<40, "1.1 PB")
	f(math.MaxInt64, "9.22 EB")
}

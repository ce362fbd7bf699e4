package meter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
)

func TestSlow(t *testing.T) {
	var l Slow
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	add := func(c belfry.CustomerID, q string, seconds float64, ago time.Duration) {
		l.Add(c, SlowQuery{Query: q, Seconds: seconds}, now.Add(-ago))
	}
	f := func(c belfry.CustomerID, want string) {
		t.Helper()
		got := ""
		for _, q := range l.List(c, now, func(c belfry.CustomerID) string { return fmt.Sprint("customer", c) }) {
			got += q.Customer + q.Query + " "
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("customer %d: %s, want %s", c, got, want)
		}
	}
	f(1, "")
	add(1, "old", 9, 2*time.Hour)
	f(1, "")
	add(1, "a", 1, time.Minute)
	add(1, "b", 3, time.Minute)
	add(2, "c", 2, time.Minute)
	f(1, "b a")
	f(2, "c")
	f(3, "")
	f(0, "customer1b customer2c customer1a")
	for i := range 200 {
		add(1, "x", 10+float64(i), 0)
	}
	if n := len(l.of[1]); n != slowKept {
		t.Errorf("%d are kept", n)
	}
	if first := l.List(1, now, nil)[0]; first.Seconds != 209 {
		t.Errorf("the first took %v", first.Seconds)
	}
	f(2, "c")
}

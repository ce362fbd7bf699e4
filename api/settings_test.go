package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

func TestSlow(t *testing.T) {
	var l slow
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	add := func(c belfry.CustomerID, q string, seconds float64, ago time.Duration) {
		l.add(c, SlowQuery{Query: q, Seconds: seconds, ended: now.Add(-ago)})
	}
	f := func(c belfry.CustomerID, want string) {
		t.Helper()
		got := ""
		for _, q := range l.list(c, now, func(c belfry.CustomerID) string { return fmt.Sprint("customer", c) }) {
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
	if first := l.list(1, now, nil)[0]; first.Seconds != 209 {
		t.Errorf("the first took %v", first.Seconds)
	}
	f(2, "c")
}

// TestSlowWithoutKeys shows that a key in the text of a query is not kept, and that quick queries are not.
func TestSlowWithoutKeys(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &Server{Config: Config{Tree: meta.NewTree(cat), Now: func() time.Time { return now }}}
	const key = "7b0c4f0e-1111-4aaa-8bbb-000000000001"
	r := &request{customer: 1, who: "ann"}
	s.noteQuery(r, params{{"q", "SELECT quick"}}, now.Add(-time.Millisecond), 1, nil)
	s.noteQuery(r, params{{"q", "SELECT '" + key + "' " + strings.Repeat("x", 3000)}, {"fq", key}}, now.Add(-time.Second), 3, nil)
	list := s.slow.list(1, now, nil)
	if len(list) != 1 || list[0].Seconds != 1 || list[0].Rows != 3 || list[0].By != "ann" {
		t.Fatalf("%+v", list)
	}
	if text := fmt.Sprint(list); strings.Contains(text, key) || len(text) > 2500 {
		t.Error(text)
	}
	if list := s.slow.list(2, now, nil); len(list) != 0 {
		t.Errorf("another customer sees %+v", list)
	}
}

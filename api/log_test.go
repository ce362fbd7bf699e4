package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/catalog"
	"belfry/meta"
)

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
	list := s.slow.List(1, now, nil)
	if len(list) != 1 || list[0].Seconds != 1 || list[0].Rows != 3 || list[0].By != "ann" {
		t.Fatalf("%+v", list)
	}
	if text := fmt.Sprint(list); strings.Contains(text, key) || len(text) > 2500 {
		t.Error(text)
	}
	if list := s.slow.List(2, now, nil); len(list) != 0 {
		t.Errorf("another customer sees %+v", list)
	}
}

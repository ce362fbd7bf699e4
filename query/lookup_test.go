package query_test

import (
	"strings"
	"testing"

	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"
)

// TestLookups: however many conditions a query has on names, its statement has one lookup of items, or two if some are
// negated, see joinLookups.
func TestLookups(t *testing.T) {
	cat := load(t)
	for filter, want := range map[string]int{
		"*cpu*":                             1,
		strings.Repeat("*cpu* AND ", 200):   1,
		strings.Repeat("*cpu* OR ", 200):    1,
		strings.Repeat("NOT *cpu* AND ", 9): 1,
		strings.Repeat("NOT cpu* AND ", 200) + strings.Repeat("web* AND ", 200): 2,
	} {
		filter = strings.TrimSuffix(strings.TrimSuffix(filter, " AND "), " OR ")
		c := querytest.Case{
			Query:   "SELECT id FROM objectdata LIMIT 1",
			Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Filter: filter},
		}
		p, err := c.Plan(cat)
		if err != nil {
			t.Errorf("%.40s…: %v", filter, err)
			continue
		}
		s, err := query.SQL(p, dialect.New("item"), tables(p.Collection))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.Text, "IN (SELECT"); n != want {
			t.Errorf("%.40s…: %d lookups, want %d:\n%.2000s", filter, n, want, s.Text)
		}
	}
}

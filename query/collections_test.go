package query_test

import (
	"os"
	"strings"
	"testing"

	"belfry/query/querytest"
)

// TestGoldenOfEveryCollection: each collection has a golden query that returns rows.
func TestGoldenOfEveryCollection(t *testing.T) {
	cat := load(t)
	all, err := querytest.All(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]int{}
	for _, c := range all {
		if p, err := c.Plan(cat); err == nil && strings.Count(c.Parts["rows"], "\n") > 1 {
			answered[p.Collection.Name]++
		}
	}
	for _, c := range cat.Collections() {
		if answered[c.Name] == 0 {
			t.Errorf("no golden query finds rows in %s", c.Name)
		}
	}
}

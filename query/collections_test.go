package query_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/query/querytest"
)

// TestGoldenOfEveryCollection: each collection has a golden query that gives rows.
func TestGoldenOfEveryCollection(t *testing.T) {
	cat := load(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]int{}
	for _, file := range files {
		if filepath.Base(file) == "data.txtar" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := querytest.Cases(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if p, err := c.Plan(cat); err == nil && strings.Count(c.Parts["rows"], "\n") > 1 {
				answered[p.Collection.Name]++
			}
		}
	}
	for _, c := range cat.Collections() {
		if answered[c.Name] == 0 {
			t.Errorf("no golden query finds rows in %s", c.Name)
		}
	}
}

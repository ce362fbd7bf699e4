package duck

import (
	"context"
	"flag"
	"testing"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/storetest"
)

// With these flags, make fuzz runs many more plans than make test, and logs them.
var (
	planCount = flag.Int("plans", 0, "random plans of TestRandomPlans; 0 is a few")
	planLog   = flag.String("planlog", "", "file in which TestRandomPlans records its progress, and from which it resumes")
	planCode  = flag.String("code", "unknown", "state of the code, for the log")
)

// TestRandomPlans compares DuckDB with query.Eval on random plans and rows.
func TestRandomPlans(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	d := storetest.RandomPlans{Plans: *planCount, Chunk: 10_000, Log: *planLog, Code: *planCode}
	switch {
	case d.Plans > 0:
	case testing.Short():
		d.Plans = 200
	default:
		d.Plans = 2000
	}
	d.Run(t, func(dir string) (store.Store, error) {
		return Open(context.Background(), Config{Dir: dir, Catalog: cat, Threads: 1}) // small data; the plans run in parallel
	})
}

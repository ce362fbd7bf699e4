package duck

import (
	"context"
	"flag"
	"testing"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/storetest"
)

// With these, make fuzz asks for many more plans than make test does, and keeps a log of them.
var (
	duelPlans = flag.Int("plans", 0, "random plans of TestDuel; 0 is a few")
	duelLog   = flag.String("planlog", "", "file in which TestDuel keeps what it has done, and from which it goes on")
	duelCode  = flag.String("code", "unknown", "state of the code, for the log")
)

// TestDuel sets DuckDB against query.Eval with random plans of random rows.
func TestDuel(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	d := storetest.Duel{Plans: *duelPlans, Chunk: 10_000, Log: *duelLog, Code: *duelCode}
	switch {
	case d.Plans > 0:
	case testing.Short():
		d.Plans = 200
	default:
		d.Plans = 2000
	}
	d.Run(t, func(dir string) (store.Store, error) {
		return Open(context.Background(), Config{Dir: dir, Catalog: cat, Threads: 1}) // small data; the duel itself is parallel
	})
}

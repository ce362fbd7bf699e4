package storetest_test

import (
	"cmp"
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"belfry"
	"belfry/app"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/storetest"
)

// engine is the name of the storage engine that the suites test.
var engine = cmp.Or(os.Getenv("BELFRY_TEST_STORE"), "duck")

// With these flags, make plans-soak runs many more plans than make test, and logs them.
var (
	planCount = flag.Int("plans", 0, "random plans of TestRandomPlans; 0 is a few")
	planLog   = flag.String("planlog", "", "file in which TestRandomPlans records its progress, and from which it resumes")
	planCode  = flag.String("code", "unknown", "state of the code, for the log")
)

func open(t *testing.T, dir string) store.Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := app.OpenStore(context.Background(), engine, store.Config{Dir: dir, Catalog: cat})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestQueries(t *testing.T) {
	random := 500
	if testing.Short() {
		random = 10
	}
	storetest.Queries(t, open, os.DirFS("../../query/testdata"), random)
}

// summarised summarises all rows it stores, so that queries find all summaries up to date.
type summarised struct {
	store.Store
	summaries store.Summarizer
}

func (s summarised) Append(ctx context.Context, _ func() bool, b ...*belfry.Batch) ([]*belfry.Batch, error) {
	err := store.AppendAll(ctx, s.Store, b...)
	for more := true; more && err == nil; {
		more, err = s.summaries.Summarise(ctx, belfry.At(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)))
	}
	return nil, err
}

func TestQueriesOfSummaries(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	storetest.Queries(t, func(t *testing.T, dir string) store.Store {
		s := open(t, dir)
		summaries, ok := s.(store.Summarizer)
		if !ok {
			s.Close()
			t.Skip("the engine makes no summaries")
		}
		return summarised{s, summaries}
	}, os.DirFS("../../query/testdata"), 100)
}

// TestRandomPlans compares the engine with query.Eval on random plans and rows.
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
		return app.OpenStore(context.Background(), engine, store.Config{Dir: dir, Catalog: cat, Threads: 1}) // small data; the plans run in parallel
	})
}

package duck

import (
	"context"
	"os"
	"testing"

	"belfry"
	"belfry/store"
	"belfry/store/storetest"
)

// summarised summarises all rows it stores, so that queries find all summaries up to date.
type summarised struct{ *Store }

func (s summarised) Append(ctx context.Context, b ...*belfry.Batch) error {
	err := s.Store.Append(ctx, b...)
	for more := true; more && err == nil; {
		more, err = s.Summarise(ctx, endOfTime)
	}
	return err
}

func TestQueriesOfSummaries(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	storetest.Queries(t, func(t *testing.T, dir string) store.Store { return summarised{open(t, dir)} }, os.DirFS("../../query/testdata"), 100)
}

func TestQueries(t *testing.T) {
	random := 500
	if testing.Short() {
		random = 10
	}
	storetest.Queries(t, func(t *testing.T, dir string) store.Store { return open(t, dir) }, os.DirFS("../../query/testdata"), random)
}

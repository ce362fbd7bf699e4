package duck

import (
	"os"
	"testing"

	"belfry/store"
	"belfry/store/storetest"
)

func TestQueries(t *testing.T) {
	random := 500
	if testing.Short() {
		random = 100
	}
	storetest.Queries(t, func(t *testing.T, dir string) store.Store { return open(t, dir) }, os.DirFS("../../query/testdata"), random)
}

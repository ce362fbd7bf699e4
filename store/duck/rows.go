package duck

import (
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// rows is the answer to a plan, or a page of it.
type rows struct {
	*query.HeldRows
	result *duckdb.Result
	asked  int // rows of the page; 0: the whole answer was asked for
}

package duck

import (
	"io"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// rows is the answer to a plan.
type rows struct {
	stmt   *query.Statement
	result *duckdb.Result
	row    []belfry.Value
	asked  int // rows of the page; 0: the whole answer was asked for

	release func() // releases the memory that was reserved for the answer; nil: none was
}

func (r *rows) Columns() []query.Output { return r.stmt.Columns }

func (r *rows) Next() ([]belfry.Value, error) {
	if !r.result.Next() {
		return nil, io.EOF
	}
	if err := r.stmt.Row(r.result, r.row); err != nil {
		return nil, err
	}
	return r.row, nil
}

// Words implements query.Columnar.
func (r *rows) Words(output int) (words []uint64, null []bool, ok bool) {
	at := 0
	for _, out := range r.stmt.Columns[:output] {
		at += out.Width()
	}
	if r.stmt.Columns[output].Width() > 1 || r.result.IsText(at) {
		return nil, nil, false
	}
	words, null = r.result.Words(at)
	return words, null, true
}

// At implements query.Columnar.
func (r *rows) At(row int) ([]belfry.Value, error) {
	r.result.Seek(row)
	return r.row, r.stmt.Row(r.result, r.row)
}

func (r *rows) Close() error {
	if r.release != nil {
		r.release()
	}
	return nil
}

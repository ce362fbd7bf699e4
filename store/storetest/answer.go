package storetest

import (
	"context"
	"slices"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/query/querytest"
)

// answer is an answer to a plan.
type answer struct {
	query.Rows
	columns []query.Output
	rows    [][]belfry.Value // one more than the limit means that there are more
	text    string           // formatted

	of []querytest.Row // input rows of the oracle
}

// Next keeps a copy of each row.
func (a *answer) Next() ([]belfry.Value, error) {
	row, err := a.Rows.Next()
	if err == nil {
		a.rows = append(a.rows, slices.Clone(row))
	}
	return row, err
}

// read reads an answer to its end.
func (a *answer) read(p *query.Plan, rows query.Rows) (err error) {
	a.Rows, a.columns = rows, rows.Columns()
	a.text, err = querytest.Format(p, a)
	return err
}

// evaluate returns the answer of the oracle, query.Eval.
func evaluate(p *query.Plan, rows []querytest.Row) (*answer, error) {
	a := &answer{of: rows}
	found, err := query.Eval(p, func(yield func(query.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return a, a.read(p, found)
}

// selected returns the answer of a store, or of one with names added.
func selected(s query.Source, p *query.Plan) (*answer, error) {
	rows, err := s.Select(context.Background(), p)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	return a, a.read(p, rows)
}

// hasRows reports whether the answer has rows.
func (a *answer) hasRows() bool { return strings.Count(a.text, "\n") > 1 }

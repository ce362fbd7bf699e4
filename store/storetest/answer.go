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
	rows    [][]belfry.Value // one more than the limit says that there are more
	text    string           // all of it, for people

	of []querytest.Row // what the judge made it of
}

// Next keeps each row as it passes by.
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

// evaluate is the answer of the judge.
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

// selected is the answer of a store, or of one with names put in.
func selected(s query.Source, p *query.Plan) (*answer, error) {
	rows, err := s.Select(context.Background(), p)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	return a, a.read(p, rows)
}

// some tells whether there is any row in it.
func (a *answer) some() bool { return strings.Count(a.text, "\n") > 1 }

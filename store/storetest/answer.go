package storetest

import (
	"context"
	"slices"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

type answer struct {
	query.Rows
	columns []query.Output
	rows    [][]belfry.Value // one more than the limit means that there are more
	text    string           // all of it, for messages

	of []querytest.Row // the rows that Eval made it from
}

// Next records each row that it returns.
func (a *answer) Next() ([]belfry.Value, error) {
	row, err := a.Rows.Next()
	if err == nil {
		a.rows = append(a.rows, slices.Clone(row))
	}
	return row, err
}

func (a *answer) read(p *query.Plan, rows query.Rows) (err error) {
	a.Rows, a.columns = rows, rows.Columns()
	a.text, err = querytest.Format(p, a)
	return err
}

// evaluate returns the answer of query.Eval, the reference.
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

// selected returns the answer of a store; names are added to it unless they are nil.
func selected(s store.Store, names query.ItemNames, p *query.Plan) (*answer, error) {
	rows, err := store.NewMover(s, store.MoverOptions{Names: names}).Select(context.Background(), p)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	return a, a.read(p, rows)
}

func (a *answer) hasRows() bool { return strings.Count(a.text, "\n") > 1 }

package storetest

import (
	"context"
	"strings"

	"belfry/query"
	"belfry/query/querytest"
)

// evaluate is the answer of the judge, in the form in which answers are compared.
func evaluate(p *query.Plan, rows []querytest.Row) (string, error) {
	answer, err := query.Eval(p, func(yield func(query.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	})
	if err != nil {
		return "", err
	}
	return querytest.Format(p, answer)
}

// selected is the answer of a store, or of one with names put in.
func selected(s query.Source, p *query.Plan) (string, error) {
	rows, err := s.Select(context.Background(), p)
	if err != nil {
		return "", err
	}
	return querytest.Format(p, rows)
}

// sameAnswer tells whether two answers agree: exactly, except for numbers that were computed from several rows.
func sameAnswer(p *query.Plan, a, b string) bool {
	return a == b || p.Grouping != nil && querytest.Same(a, b)
}

func countLines(text string) int { return strings.Count(text, "\n") }

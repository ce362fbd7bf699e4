package storetest

import (
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"

	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
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

// selected is the answer of a store.
func selected(s store.Store, p *query.Plan) (string, error) {
	rows, err := s.Select(context.Background(), p)
	if err != nil {
		return "", err
	}
	return querytest.Format(p, rows)
}

// tolerance is how far results of arithmetic may lie apart, relative to their size: engines add in another order.
const tolerance = 1e-9

// sameAnswer tells whether two answers agree: exactly, except for numbers that were computed from several rows.
func sameAnswer(p *query.Plan, a, b string) bool {
	if a == b {
		return true
	}
	if p.Grouping == nil {
		return false
	}
	as, bs := cells(a), cells(b)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if len(as[i]) != len(bs[i]) {
			return false
		}
		for j := range as[i] {
			if as[i][j] != bs[i][j] && !nearly(as[i][j], bs[i][j]) {
				return false
			}
		}
	}
	return true
}

func cells(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1 // the line "more"
	lines, err := r.ReadAll()
	if err != nil {
		return nil
	}
	return lines
}

func nearly(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

func countLines(text string) int { return strings.Count(text, "\n") }

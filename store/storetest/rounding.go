package storetest

import (
	"math"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// An answer must equal that of the oracle to the last digit, except for numbers that are computed from several others: floats
// added in another order have another sum. The error is a fraction of the largest number that was added, not of the sum,
// which may be much smaller. So the oracle runs once more, for the smallest and the largest number behind each such cell.

// rounding is the allowed error as a fraction of the largest number, enough for the few hundred rows of tests, and underflow
// the error allowed in addition: numbers have no digits below the smallest of all.
const (
	rounding  = 1e-12
	underflow = 4 * math.SmallestNonzeroFloat64
)

// sameAnswer reports whether a store's answer equals that of the oracle.
func sameAnswer(p *query.Plan, got, want *answer) bool {
	if got.text == want.text {
		return true
	}
	a, b := got.shown(p), want.shown(p)
	if len(got.rows) != len(want.rows) || !slices.EqualFunc(a, b, func(i, j int) bool { return got.columns[i].Name == want.columns[j].Name }) {
		return false
	}
	most, err := tolerances(p, want, b)
	if err != nil {
		return false
	}
	for r := range min(len(want.rows), p.Limit) {
		for k := range b {
			if !near(got.rows[r][a[k]], want.rows[r][b[k]], most[r][k]) {
				return false
			}
		}
	}
	return true
}

func near(a, b belfry.Value, most float64) bool {
	return a == b || a.Type == belfry.NumberValue && b.Type == belfry.NumberValue && math.Abs(a.Num-b.Num) <= most
}

// shown returns the indexes of the columns to compare: for SELECT * those with a value.
func (a *answer) shown(p *query.Plan) (list []int) {
	for i := range a.columns {
		if !p.Star || slices.ContainsFunc(a.rows[:min(len(a.rows), p.Limit)], func(row []belfry.Value) bool { return row[i].Type != belfry.AbsentValue }) {
			list = append(list, i)
		}
	}
	return list
}

// tolerances returns by how much an answer may differ from the oracle's in each cell of some columns: mostly zero.
func tolerances(p *query.Plan, want *answer, columns []int) ([][]float64, error) {
	sized := *p
	sized.Star, sized.Outputs = false, nil
	if p.Grouping != nil {
		sized.Grouping = &query.Grouping{Keys: p.Grouping.Keys, Calls: slices.Clone(p.Grouping.Calls)}
	}
	var computed []int
	for k, i := range columns {
		if c := want.columns[i].Column; isComputed(p, c) {
			computed = append(computed, k)
			sized.Outputs = append(sized.Outputs, extremes(&sized, c)...)
		}
	}
	sizes, err := evaluate(&sized, want.of)
	if err != nil {
		return nil, err
	}
	list := make([][]float64, len(want.rows))
	for r := range list {
		list[r] = make([]float64, len(columns))
		for n, k := range computed {
			list[r][k] = underflow + rounding*max(size(sizes.rows[r][2*n]), size(sizes.rows[r][2*n+1]))
		}
	}
	return list, nil
}

func size(v belfry.Value) float64 { return math.Abs(v.Num + float64(v.Int)) }

// isComputed reports whether values of the column are computed from several numbers, such as the mean of an indicator in
// a summary.
func isComputed(p *query.Plan, c query.Column) bool {
	if c.From != query.Grouped {
		return isMean(p, c)
	}
	call := callOf(p, c)
	switch {
	case call.Func.Description().Takes == query.Numbers:
		return true
	case call.Type() == catalog.Integer:
		return false
	}
	return isMean(p, call.Column)
}

func isMean(p *query.Plan, c query.Column) bool {
	return p.Period != "" && c.N > 0 && c.Name == belfry.IndicatorColumn(c.N)
}

// callOf returns the call of a column of groups.
func callOf(p *query.Plan, c query.Column) query.Call {
	return slices.Concat(p.Grouping.Keys, p.Grouping.Calls)[c.N]
}

// extremes returns outputs for the smallest and the largest number from which a column of the plan is computed.
func extremes(p *query.Plan, c query.Column) []query.Output {
	if c.From == query.Grouped {
		of := extremes(p, callOf(p, c).Column)
		return []query.Output{addCall(p, query.FuncMin, of[0].Column), addCall(p, query.FuncMax, of[1].Column)}
	}
	low, high := c, c
	if isMean(p, c) {
		low, high = query.SummaryColumns(c.N)[1], query.SummaryColumns(c.N)[2]
	}
	return []query.Output{{Column: low}, {Column: high}}
}

// addCall adds a function to the groups of the plan.
func addCall(p *query.Plan, f query.Func, c query.Column) query.Output {
	g := p.Grouping
	g.Calls = append(g.Calls, query.Call{Func: f, Column: c})
	return query.Output{Column: query.Column{Type: c.Type, From: query.Grouped, N: len(g.Keys) + len(g.Calls) - 1}}
}

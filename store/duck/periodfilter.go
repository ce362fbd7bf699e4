package duck

import (
	"slices"

	"belfry"
	"belfry/query"
)

// periodFilter finds the periods that may have rows of a plan's answer, by the item filters of their files. It starts at
// the end where the plan's order begins and goes no further than requested.
type periodFilter struct {
	store  *Store
	plan   *query.Plan
	rest   []belfry.Span // not yet tested, the next one first
	newest belfry.Span
	byItem bool // item filters are used
	found  []belfry.Span
}

func (s *Store) newPeriodFilter(p *query.Plan, periods []belfry.Span) *periodFilter {
	f := &periodFilter{store: s, plan: p, rest: slices.Clone(periods)}
	if n := len(periods); n > 0 {
		f.newest = periods[n-1]
	}
	f.byItem = p.ItemsKnown && len(p.Items) > 0 && len(p.Items) <= maxSought && len(periods) >= leastFiltered
	if len(p.Order) == 0 || p.Order[0].Desc {
		slices.Reverse(f.rest)
	}
	return f
}

// find tests more periods until n are found; it reports whether it found any.
func (f *periodFilter) find(n int) bool {
	had := len(f.found)
	for len(f.found) < n && len(f.rest) > 0 {
		if f.mayHave(f.rest[0]) {
			f.found = append(f.found, f.rest[0])
		}
		f.rest = f.rest[1:]
	}
	return len(f.found) > had
}

// testedFrom returns the time from which on all periods have been tested. If the rows were not enough, that is the whole
// span.
func (f *periodFilter) testedFrom(enough bool) belfry.Time {
	if !enough || len(f.found) == 0 {
		return f.plan.From
	}
	return f.found[len(f.found)-1].From
}

// mayHave reports whether the period may have a row of the answer. The newest is always read: its filter would be
// outdated at once.
func (f *periodFilter) mayHave(p belfry.Span) bool {
	if !f.byItem || p == f.newest {
		return true
	}
	file := f.store.files.list(f.plan.Collection, []belfry.Span{p})[0]
	return file == nil || f.store.mayHaveItem(file, f.plan)
}

package duck

import (
	"slices"

	"belfry"
	"belfry/query"
)

// itemWalk finds the periods that may have rows of a plan's answer, starting at the end where the plan's order begins
// and no further than requested.
type itemWalk struct {
	store  *Store
	plan   *query.Plan
	rest   []belfry.Span // not yet checked, the next one first
	newest belfry.Span
	byItem bool // item filters are used
	found  []belfry.Span
}

// walk starts at the end of the periods where the order of the plan begins.
func (s *Store) walk(p *query.Plan, periods []belfry.Span) *itemWalk {
	w := &itemWalk{store: s, plan: p, rest: slices.Clone(periods)}
	if n := len(periods); n > 0 {
		w.newest = periods[n-1]
	}
	w.byItem = p.ItemsKnown && len(p.Items) > 0 && len(p.Items) <= maxSought && len(periods) >= leastFiltered
	if len(p.Order) == 0 || p.Order[0].Desc {
		slices.Reverse(w.rest)
	}
	return w
}

// extend finds more periods until there are n; it reports whether it found any.
func (w *itemWalk) extend(n int) bool {
	had := len(w.found)
	for len(w.found) < n && len(w.rest) > 0 {
		if w.mayHave(w.rest[0]) {
			w.found = append(w.found, w.rest[0])
		}
		w.rest = w.rest[1:]
	}
	return len(w.found) > had
}

// reached returns the time from which on all periods have been checked. If the rows were not enough, that is the whole
// span.
func (w *itemWalk) reached(enough bool) belfry.Time {
	if !enough || len(w.found) == 0 {
		return w.plan.From
	}
	return w.found[len(w.found)-1].From
}

// mayHave reports whether the period may have a row of the answer. The newest is always read: its filter would be
// outdated at once.
func (w *itemWalk) mayHave(p belfry.Span) bool {
	if !w.byItem || p == w.newest {
		return true
	}
	f := w.store.files.list(w.plan.Collection, []belfry.Span{p})[0]
	return f == nil || w.store.mayHaveItem(f, w.plan)
}

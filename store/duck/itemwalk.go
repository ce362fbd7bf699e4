package duck

import (
	"slices"

	"belfry"
	"belfry/query"
)

// itemWalk finds the periods of a plan that may have rows of its answer, from the end at which its order begins, and no
// further than it is asked to.
type itemWalk struct {
	store  *Store
	plan   *query.Plan
	rest   []belfry.Span // not yet looked at, the next one first
	newest belfry.Span
	byItem bool // by item
	found  []belfry.Span
}

// walk begins at the end of the periods in which the order of the plan begins.
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

// extend finds more periods, until there are n; false when there are no more.
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

// reached is the moment from which on everything has been looked at, if rows was enough; otherwise it was all there is.
func (w *itemWalk) reached(enough bool) belfry.Time {
	if !enough || len(w.found) == 0 {
		return w.plan.From
	}
	return w.found[len(w.found)-1].From
}

// mayHave tells whether the period may have a row of the answer. The newest is always asked: its filter would be old as
// soon as it is made.
func (w *itemWalk) mayHave(p belfry.Span) bool {
	if !w.byItem || p == w.newest {
		return true
	}
	f := w.store.files.list(w.plan.Collection, []belfry.Span{p})[0]
	return f == nil || w.store.mayHaveItem(f, w.plan)
}

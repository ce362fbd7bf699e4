package index

import (
	"slices"

	"belfry"
	"belfry/query"
)

// maxSought is how many items are looked up in filters. With more, hardly any file would be ruled out.
const maxSought = 64

// LeastFiltered is how many files a plan must have for filters to be worth reading.
const LeastFiltered = 3

// PeriodFilter finds the periods that may have rows of a plan's answer, by the item filters of their files. It starts at
// the end where the plan's order begins and goes no further than requested.
type PeriodFilter struct {
	Found []belfry.Span
	Rest  []belfry.Span // not yet tested, the next one first

	plan    *query.Plan
	mayHave func(belfry.Span) bool
}

// NewPeriodFilter returns a filter of periods, oldest first. mayHave reports whether a period may have rows of one of the plan's items.
func NewPeriodFilter(p *query.Plan, periods []belfry.Span, mayHave func(belfry.Span) bool) *PeriodFilter {
	f := &PeriodFilter{plan: p, Rest: slices.Clone(periods)}
	if p.ItemsKnown && len(p.Items) > 0 && len(p.Items) <= maxSought && len(periods) >= LeastFiltered {
		newest := periods[len(periods)-1] // its filter would be outdated at once
		f.mayHave = func(p belfry.Span) bool { return p == newest || mayHave(p) }
	}
	if len(p.Order) == 0 || p.Order[0].Desc {
		slices.Reverse(f.Rest)
	}
	return f
}

// Find tests more periods until n are found; it reports whether it found any.
func (f *PeriodFilter) Find(n int) bool {
	had := len(f.Found)
	for len(f.Found) < n && len(f.Rest) > 0 {
		if f.MayHave(f.Rest[0]) {
			f.Found = append(f.Found, f.Rest[0])
		}
		f.Rest = f.Rest[1:]
	}
	return len(f.Found) > had
}

// MayHave reports whether a period may have a row of the answer.
func (f *PeriodFilter) MayHave(p belfry.Span) bool { return f.mayHave == nil || f.mayHave(p) }

// TestedFrom returns the time from which on all periods have been tested. If the rows were not enough, that is the whole
// span.
func (f *PeriodFilter) TestedFrom(enough bool) belfry.Time {
	if !enough || len(f.Found) == 0 {
		return f.plan.From
	}
	return f.Found[len(f.Found)-1].From
}

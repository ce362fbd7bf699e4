package summary

import "belfry"

// Join joins spans that touch. They must be in order of time.
func Join(list []belfry.Span) []belfry.Span {
	var some []belfry.Span
	for _, p := range list {
		if last := len(some) - 1; last >= 0 && some[last].To == p.From {
			some[last].To = p.To
		} else {
			some = append(some, p)
		}
	}
	return some
}

// Within returns the spans that overlap p.
func Within(list []belfry.Span, p belfry.Span) []belfry.Span {
	var some []belfry.Span
	for _, q := range list {
		if q.Overlaps(p.From, p.To-1) {
			some = append(some, q)
		}
	}
	return some
}

package summary

import "belfry"

// Join joins spans that touch. They must be in order of time.
func Join(list []belfry.Span) []belfry.Span {
	var some []belfry.Span
	for _, p := range list {
		some = add(some, p)
	}
	return some
}

// add appends a span to the list, or joins it to the last one if they touch.
func add(list []belfry.Span, s belfry.Span) []belfry.Span {
	if last := len(list) - 1; last >= 0 && list[last].To == s.From {
		list[last].To = s.To
		return list
	}
	return append(list, s)
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

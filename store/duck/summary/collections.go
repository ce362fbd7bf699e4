package summary

import (
	"belfry"
	"belfry/catalog"
)

// Collections returns all collections that may have files, and the trackers of those with summaries, by name.
func Collections(cat *catalog.Catalog) (all []*catalog.Collection, sums map[string]*Tracker) {
	sums = map[string]*Tracker{}
	for _, c := range cat.Kept() {
		all = append(all, c)
		if len(c.Summaries) > 0 {
			d := NewTracker(c)
			sums[c.Name] = d
			all = append(all, d.Hour, d.Day)
		}
	}
	return all, sums
}

// PeriodsOf returns the periods of files that contain the spans, each once. Spans are in order of time.
func PeriodsOf(c *catalog.Collection, spans []belfry.Span) []belfry.Span {
	var list []belfry.Span
	for _, sp := range spans {
		if len(list) == 0 || !list[len(list)-1].Contains(sp.From) {
			list = append(list, c.PeriodOf(sp.From))
		}
	}
	return list
}

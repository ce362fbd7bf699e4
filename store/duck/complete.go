package duck

import (
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// latestOnly reports whether a plan wants the latest rows, however old. Then days before those that were read do not
// matter.
func latestOnly(p *query.Plan) bool {
	desc, byTime := p.ByTime()
	return byTime && desc && p.From <= 0 && p.Period == "" && p.Grouping == nil &&
		(p.Limit < firstPage || p.Latest > 0) // parts of a larger answer are sent before that is known
}

// checkComplete returns an error if the span of the plan has days whose rows cannot be read, or records these days in the
// plan, as the plan wants it.
func (s *Store) checkComplete(p *query.Plan) error {
	if latestOnly(p) {
		return nil // it depends on how far back the plan has to read
	}
	d := s.trackers[p.Collection.Name]
	from, to := p.From, p.To
	if d != nil && p.Period != "" && to < folder.EndOfTime { // a summary belongs to the span in which it begins
		from, to = from-from%belfry.Day, to+query.PeriodLength(p.Period)-1
	}
	names := s.namesOf(p.Collection, s.files.lostIn(p.Collection, from, to))
	if d != nil {
		names = append(names, s.lostSummaries(p, d, from, to)...)
	}
	return p.Missing(names)
}

// checkCompleteFrom is checkComplete for the days from a time on.
func (s *Store) checkCompleteFrom(p *query.Plan, from belfry.Time) error {
	return p.Missing(s.namesOf(p.Collection, s.files.lostIn(p.Collection, from, p.To)))
}

// namesOf returns the days as they are written in file names.
func (s *Store) namesOf(c *catalog.Collection, days []belfry.Span) (names []string) {
	for _, d := range days {
		names = append(names, d.From.Std().Format(folder.Layout(c)))
	}
	return names
}

// lostSummaries returns the days of the span whose summaries cannot be read. As long as a day has its rows, its
// summaries are made from them.
func (s *Store) lostSummaries(p *query.Plan, d *summary.Tracker, from, to belfry.Time) (names []string) {
	by, ok := p.Period, p.Period != ""
	if !ok {
		if by, ok = s.fromSummaries(p); !ok {
			return nil
		}
	}
	to = min(to, s.Oldest(d.Raw.Name)-1)
	for _, month := range s.files.lostIn(d.Collection(by), from, to) {
		for day := month.From; day < month.To; day += belfry.Day {
			if (belfry.Span{From: day, To: day + belfry.Day}).Overlaps(from, to) {
				names = append(names, day.Std().Format(time.DateOnly))
			}
		}
	}
	return names
}

package duck

import (
	"context"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/summary"
)

// collections are all for which there may be files, and those among them that have summaries, by name.
func collections(cat *catalog.Catalog) (all []*catalog.Collection, sums map[string]*summary.Tracker) {
	sums = map[string]*summary.Tracker{}
	for _, c := range cat.Kept() {
		all = append(all, c)
		if len(c.Summaries) > 0 {
			d := summary.NewTracker(c)
			sums[c.Name] = d
			all = append(all, d.Hour, d.Day)
		}
	}
	return all, sums
}

// stateOf compares the rows of a day with its summaries. f is the file of the rows, which the caller has acquired; if it is nil, rows that
// have not been counted are not counted.
func (s *Store) stateOf(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, day belfry.Span, f *file) (summary.State, error) {
	hours, err := s.madeOf(ctx, q, d, d.Hour, day.From)
	if err != nil {
		return summary.State{Span: day}, err
	}
	days, err := s.madeOf(ctx, q, d, d.Day, day.From)
	if err != nil {
		return summary.State{Span: day}, err
	}
	var rows *summary.File
	if f != nil {
		rows = new(f.attached())
	}
	return d.State(ctx, q, day, rows, hours, days[day.From], s.files.isLost(d.Raw, day))
}

// madeOf returns what the summaries of c were made of that are in one file with those of a time.
func (s *Store) madeOf(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, c *catalog.Collection, t belfry.Time) (summary.Counts, error) {
	month := c.PeriodOf(t)
	return d.Made(c, month.From, func() (summary.Counts, error) { return s.readMade(ctx, q, c, month) })
}

func (s *Store) readMade(ctx context.Context, q *duckdb.Conn, c *catalog.Collection, month belfry.Span) (_ summary.Counts, err error) {
	used, err := s.files.acquire(ctx, c, month.From, month.To-1)
	if err != nil {
		return nil, err
	}
	defer func() { s.files.finish(used, err) }()
	counts := summary.Counts{}
	for _, f := range used {
		if err = summary.ReadCounts(ctx, q, f.attached(), "", counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// SummariesBehind is how many hours that are over wait for Summarise, as far as is known.
func (s *Store) SummariesBehind() int {
	n := 0
	for _, d := range s.trackers {
		n += d.Behind()
	}
	return n
}

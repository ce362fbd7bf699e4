package duck

import (
	"context"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowwriter"
	"belfry/store/duck/summary"
)

// stateOf compares the rows of a day with its summaries. f is the acquired file of the rows; if it is nil, rows that
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

// madeOf returns what the summaries of c were made of that are in the same file as those of time t.
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

// SummariesBehind returns how many hours that are over, as known so far, wait for Summarise.
func (s *Store) SummariesBehind() int {
	n := 0
	for _, d := range s.trackers {
		n += d.Behind()
	}
	return n
}

// noteRows and invalidateRows pass the outcome of a commit to the tracker of the file's collection, if it has
// summaries.
func (s *Store) noteRows(f *file, pos belfry.Position, pieces []rowwriter.Piece) {
	if d := s.trackers[f.collection.Name]; d != nil {
		d.NoteRows(f.From, pos, f.pos == 0, (*summary.HourCounts)(rowwriter.CountHours(f.From, pieces)))
	}
}

func (s *Store) invalidateRows(f *file) {
	if d := s.trackers[f.collection.Name]; d != nil {
		d.Invalidate(f.From)
	}
}

// attached describes an acquired file to package summary.
func (f *file) attached() summary.File {
	return summary.File{Span: f.Span, Collection: f.collection, Alias: f.alias}
}

func attachedFiles(list []*file) []summary.File {
	all := make([]summary.File, len(list))
	for i, f := range list {
		all[i] = f.attached()
	}
	return all
}

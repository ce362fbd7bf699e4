package duck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/summary"
)

// Summarise does one piece of work on the summaries of hours and days that ended before the given time: it counts rows,
// or makes hours or days that are out of date. It reports whether there may be more to do. Writers and queries continue
// meanwhile; the caller decides how long to pause between pieces. It also does a piece of order.
func (s *Store) Summarise(ctx context.Context, before belfry.Time) (more bool, err error) {
	for _, d := range s.trackers {
		more, err = s.summarise(ctx, d, func(q *duckdb.Conn) (*summary.Work, bool, error) { return s.findWork(ctx, q, d, before) })
		if more || err != nil {
			break
		}
	}
	return s.order(ctx) || more, err
}

// FinishSummaries implements store.Summarizer.
func (s *Store) FinishSummaries(ctx context.Context, c *catalog.Collection, t belfry.Time) (more bool, err error) {
	d := s.trackers[c.Name]
	if d == nil {
		return false, nil
	}
	return s.summarise(ctx, d, func(q *duckdb.Conn) (*summary.Work, bool, error) {
		list, err := s.unfinishedSummaries(ctx, q, d, c.PeriodOf(t).From)
		w := list.First()
		return w, w != nil, err
	})
}

// summarise does the piece of work that find returns, if any.
func (s *Store) summarise(ctx context.Context, d *summary.Tracker, find func(*duckdb.Conn) (w *summary.Work, more bool, err error)) (more bool, err error) {
	release, err := d.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return false, err
	}
	q, err := s.engine.ConnectBehind(s.cfg.Upkeep)
	if err != nil {
		return false, err
	}
	defer q.Close()
	w, more, err := find(q)
	if err != nil || w == nil {
		return more, err
	}
	err = s.buildSummaries(ctx, q, d, w)
	if err != nil && ctx.Err() == nil {
		for _, p := range w.Spans {
			d.Fail(w.To, p.From)
			if len(w.Spans) == 1 && d.Attempts(w.To, p.From) == 1 {
				d.Fail(w.To, p.From)
			}
		}
	}
	return true, err
}

func (s *Store) buildSummaries(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, w *summary.Work) (err error) {
	from := d.Raw
	if w.To == d.Day {
		from = d.Hour
	}
	counts := d.DayCounts(w.Spans) // before the files are acquired, so that they cannot belong to later ones
	used, err := s.files.acquireAll(ctx, s.files.list(from, summary.PeriodsOf(from, w.Spans)))
	if err != nil {
		return err
	}
	defer func() { s.files.finish(used, err) }()
	spans := coveredBy(used, w.Spans) // the rows of other spans have been dropped; their summaries are all that is left
	spans = slices.DeleteFunc(spans, func(sp belfry.Span) bool { return s.files.isLost(d.Raw, d.Raw.PeriodOf(sp.From)) })
	if len(spans) == 0 {
		return nil
	}
	f, err := s.files.acquireForWriting(ctx, w.To, w.To.PeriodOf(spans[0].From), summary.Columns(nil))
	if err != nil {
		return err
	}
	defer func() { s.files.finish([]*file{f}, err) }()
	s.files.occupy(f, true)
	defer s.files.occupy(f, false)
	known := s.files.tables(used)
	rows, err := s.replaceSummaries(ctx, q, f, spans, s.summarySource(d, w.To, used, known, spans), w.Rows, func() (map[belfry.Time]summary.Origin, error) {
		if err := unchanged(ctx, q, used, known); err != nil {
			return nil, err
		}
		return summary.Origins(ctx, q, attachedFiles(used), spans, w.To == d.Day)
	})
	if errors.Is(err, errNewColumn) {
		return nil // the work is still due and is found again
	}
	if err != nil {
		d.ForgetMade(f.attached())
		s.files.markStale(f)
		return fmt.Errorf("summarise %s at %s: %w", d.Raw.Name, spans[0].From, err)
	}
	d.NoteMade(f.attached(), rows, counts)
	d.Finish(w)
	return nil
}

// coveredBy returns the spans for which there is a file.
func coveredBy(files []*file, spans []belfry.Span) []belfry.Span {
	return slices.DeleteFunc(slices.Clone(spans), func(sp belfry.Span) bool {
		return !slices.ContainsFunc(files, func(f *file) bool { return f.Contains(sp.From) })
	})
}

// summarySource returns a table with the summaries of the spans, made from files of rows or of hours.
func (s *Store) summarySource(d *summary.Tracker, to *catalog.Collection, used []*file, known []query.Table, spans []belfry.Span) summary.Table {
	var list []summary.Table
	for i, t := range known {
		in := summary.Join(summary.Within(spans, used[i].Span))
		if to == d.Day {
			list = append(list, summary.Stored(t, in, nil))
		} else {
			list = append(list, summary.RowsOfHours(t, in))
		}
	}
	if to == d.Day {
		return summary.DaysOfHours(list)
	}
	return summary.HoursOfRows(list)
}

// replaceSummaries replaces the summaries of spans, and what they were made of, in one transaction. An error of origins
// ends it.
func (s *Store) replaceSummaries(ctx context.Context, q *duckdb.Conn, f *file, spans []belfry.Span, by summary.Table, n int64, origins func() (map[belfry.Time]summary.Origin, error)) (summary.Counts, error) {
	var rows summary.Counts
	kinds, err := s.files.transact(ctx, q, f, summary.Columns(by.Indicators), func() (err error) {
		rows, err = summary.Rewrite(ctx, q, f.attached(), spans, by, n, s.cfg.summaryRows, origins)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, s.files.wrote(f, f.pos, kinds)
}

// errNewColumn means that rows with a column arrived that a statement does not know.
var errNewColumn = errors.New("a new column")

// unchanged returns an error unless the files have the columns that statements were written for. A file gets a new
// column with the first rows that need it. If these arrive after a statement was written and before it runs, they would
// be counted, and the values in the new column would be missing for good. A transaction sees columns as it saw the
// rows.
func unchanged(ctx context.Context, q *duckdb.Conn, used []*file, known []query.Table) error {
	for i, f := range used {
		kinds, err := rowfile.Kinds(ctx, q, f.alias)
		if err != nil {
			return err
		}
		if len(kinds) != len(known[i].Columns) { // columns are never removed
			return errNewColumn
		}
	}
	return nil
}

// finishSummaries brings the summaries of rows before t up to date, so that the rows can be dropped. The caller holds write, so the second
// round makes the days and is the last.
func (s *Store) finishSummaries(ctx context.Context, d *summary.Tracker, t belfry.Time) error {
	release, err := d.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	q, err := s.engine.ConnectBehind(s.cfg.Upkeep)
	if err != nil {
		return err
	}
	defer q.Close()
	for range 25 {
		list, err := s.unfinishedSummaries(ctx, q, d, t)
		if err != nil || list.First() == nil {
			return err
		}
		for _, w := range slices.Concat(list.Hours, list.Days) {
			if err := s.buildSummaries(ctx, q, d, w); err != nil {
				return err
			}
		}
	}
	return errors.New("rows arrive faster than they can be summarised")
}

// unfinishedSummaries returns the work on the days before t.
func (s *Store) unfinishedSummaries(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, t belfry.Time) (list summary.Queue, err error) {
	list.Limit = s.cfg.summaryRows
	for _, p := range s.files.periods(d.Raw, 0, t-1) {
		if p.To > t {
			break
		}
		if s.files.isLost(d.Raw, p) {
			continue
		}
		st, err := s.dayState(ctx, q, d, p)
		if err != nil {
			return list, err
		}
		hours, days := st.Due(folder.EndOfTime)
		list.Add(d, hours, days)
	}
	return list, nil
}

// DropSummaries drops the summaries of c older than t, by whole months, but keeps those of rows that still exist.
func (s *Store) DropSummaries(ctx context.Context, c *catalog.Collection, p string, t belfry.Time) error {
	d := s.trackers[c.Name]
	if d == nil {
		return fmt.Errorf("drop summaries of %s: it has none", c.Name)
	}
	of := d.Collection(p)
	if raw := s.files.periods(c, 0, folder.EndOfTime); len(raw) > 0 {
		t = min(t, raw[0].From)
	}
	if err := s.Drop(ctx, of, t); err != nil {
		return err
	}
	d.DropMade(of, s.marks.At(of.Name))
	return nil
}

// findWork returns the oldest work. A day whose state cannot be read does not block the others; its error is returned
// if there is nothing else to do. The time is bounded by the rows it counts, so work may be nil although there is more
// to do.
func (s *Store) findWork(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, before belfry.Time) (w *summary.Work, more bool, err error) {
	list := summary.Queue{Limit: s.cfg.summaryRows}
	behind, counted := 0, int64(0)
	for _, p := range s.files.periods(d.Raw, 0, before-1) {
		if d.Attempts(d.Raw, p.From) > 0 || s.files.isLost(d.Raw, p) {
			continue
		}
		known := d.Counted(p)
		st, dayErr := s.dayState(ctx, q, d, p)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if dayErr != nil {
			d.Fail(d.Raw, p.From)
			err = dayErr
			continue
		}
		if !known && st.Known {
			if counted += st.Rows.Sum(); counted > s.cfg.summaryRows {
				return nil, true, nil
			}
		}
		hours, days := st.Due(before)
		behind += len(hours)
		list.Add(d, d.Ready(d.Hour, hours), d.Ready(d.Day, days))
	}
	w = list.First()
	d.SetBehind(behind, w == nil)
	if w == nil {
		return nil, false, err
	}
	return w, true, nil
}

// dayState returns the state of a day. A day whose rows have been dropped meanwhile needs nothing.
func (s *Store) dayState(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, p belfry.Span) (st summary.State, err error) {
	if d.Counted(p) { // no need to attach the file
		if st, err = s.stateOf(ctx, q, d, p, nil); err != nil || st.Known {
			return st, err
		}
	}
	used, err := s.files.acquire(ctx, d.Raw, p.From, p.To-1)
	if err != nil || len(used) == 0 {
		return summary.State{}, err
	}
	defer func() { s.files.finish(used, err) }()
	return s.stateOf(ctx, q, d, p, used[0])
}

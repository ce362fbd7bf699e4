package duck

import (
	"context"
	"slices"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// summaryPlan is a plan that reads summaries.
type summaryPlan struct {
	*query.Plan
	d *summary.Tracker
}

// selectSummaries answers a plan about summaries. Like selectFiles, it starts with few days if the order allows it.
func (s *Store) selectSummaries(ctx context.Context, c *duckdb.Conn, p *query.Plan) (*rows, error) {
	sp := summaryPlan{p, s.trackers[p.Collection.Name]}
	days := s.summaryDays(sp)
	for n := firstTry(p, len(days)); ; n = min(8*n, len(days)) {
		r, err := retryInvalidated(func() (*rows, error) { return s.querySummaries(ctx, c, sp, atEnd(p, days, n)) })
		if err != nil || n == len(days) || r.result.Rows > p.Limit {
			return r, err
		}
	}
}

// summaryDays returns the days that may have summaries of the plan, oldest first.
func (s *Store) summaryDays(p summaryPlan) []belfry.Span {
	last := p.To
	if p.To < folder.EndOfTime {
		last += query.PeriodLength(p.Period) - 1 // a summary belongs to the span in which it begins
	}
	days := s.files.periods(p.d.Raw, p.From-p.From%belfry.Day, last)
	for _, month := range s.files.periods(p.d.Collection(p.Period), p.From, p.To) {
		for from := month.From; from < month.To; from += belfry.Day {
			if day := (belfry.Span{From: from, To: from + belfry.Day}); day.Overlaps(p.From, p.To) {
				days = append(days, day)
			}
		}
	}
	slices.SortFunc(days, func(a, b belfry.Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	return slices.Compact(days)
}

// querySummaries runs the plan on the summaries of consecutive days.
func (s *Store) querySummaries(ctx context.Context, c *duckdb.Conn, p summaryPlan, days []belfry.Span) (_ *rows, err error) {
	var used summaryFiles
	defer func() { s.files.finish(used.all(), err) }()
	var tables []query.Table
	if len(days) > 0 {
		span := belfry.Span{From: days[0].From, To: days[len(days)-1].To}
		var states []summary.State
		if states, err = s.acquireSummaries(ctx, c, p, span, &used); err != nil {
			return nil, err
		}
		for _, t := range s.summaryTables(p.Period, used, states, span) {
			tables = append(tables, t.AsTable(p.Period))
		}
	}
	return s.runSQL(ctx, c, p.Plan, tables)
}

// summaryFiles are the files from which summaries can be read or made.
type summaryFiles struct{ raw, hour, day []*file }

func (f summaryFiles) all() []*file { return slices.Concat(f.raw, f.hour, f.day) }

// acquireSummaries returns the files of the span and the states of its days. The order matters: rows that are dropped
// after we acquired them stay until we are done, and what is up to date by then is in the files acquired afterwards.
func (s *Store) acquireSummaries(ctx context.Context, c *duckdb.Conn, p summaryPlan, span belfry.Span, got *summaryFiles) (states []summary.State, err error) {
	if got.raw, err = s.files.acquire(ctx, p.d.Raw, span.From, span.To-1); err != nil {
		return nil, err
	}
	if states, err = s.states(ctx, c, p.d, got.raw); err != nil {
		return nil, err
	}
	if got.hour, err = s.files.acquire(ctx, p.d.Hour, span.From, span.To-1); err != nil {
		return nil, err
	}
	if p.Period == query.PeriodDay {
		got.day, err = s.files.acquire(ctx, p.d.Day, span.From, span.To-1)
	}
	return states, err
}

// summaryTables returns tables that together have each summary of the span once.
func (s *Store) summaryTables(p string, used summaryFiles, states []summary.State, span belfry.Span) []summary.Table {
	if p == query.PeriodDay {
		return s.dayTables(used, states, span)
	}
	return s.hourTables(used, states, span)
}

// states returns the states of the days of files of rows.
func (s *Store) states(ctx context.Context, c *duckdb.Conn, d *summary.Tracker, raw []*file) ([]summary.State, error) {
	states := make([]summary.State, len(raw))
	for i, f := range raw {
		var err error
		if states[i], err = s.stateOf(ctx, c, d, f.Span, f); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// hourTables reads hours that are up to date from their files, and makes the others from rows.
func (s *Store) hourTables(used summaryFiles, states []summary.State, spans ...belfry.Span) []summary.Table {
	var stale []belfry.Span
	var rows []summary.Table
	raw := s.files.tables(used.raw)
	for i, st := range states {
		if len(st.Hours) > 0 {
			stale = append(stale, st.Hours...)
			rows = append(rows, summary.RowsOfHours(raw[i], st.Hours))
		}
	}
	list := s.fileTables(used.hour, stale, spans...)
	if len(rows) > 0 {
		list = append(list, summary.HoursOfRows(rows))
	}
	return list
}

// fileTables reads the summaries of spans from their files, except those that begin in one of the periods.
func (s *Store) fileTables(files []*file, except []belfry.Span, spans ...belfry.Span) []summary.Table {
	var list []summary.Table
	for i, t := range s.files.tables(files) {
		var in []belfry.Span
		for _, sp := range summary.Within(spans, files[i].Span) {
			in = append(in, belfry.Span{From: max(sp.From, files[i].From), To: min(sp.To, files[i].To)})
		}
		if len(in) > 0 {
			list = append(list, summary.Stored(t, in, summary.Within(except, files[i].Span)))
		}
	}
	return list
}

// dayTables reads days that are up to date from their files, and makes the others from their hours.
func (s *Store) dayTables(used summaryFiles, states []summary.State, span belfry.Span) []summary.Table {
	of := summaryFiles{hour: used.hour}
	var stale []belfry.Span
	var old []summary.State
	for i, st := range states {
		if !st.Current {
			stale, old = append(stale, st.Span), append(old, st)
			of.raw = append(of.raw, used.raw[i])
		}
	}
	list := s.fileTables(used.day, stale, span)
	if hours := s.hourTables(of, old, summary.Join(stale)...); len(hours) > 0 {
		list = append(list, summary.DaysOfHours(hours))
	}
	return list
}

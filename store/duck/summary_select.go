package duck

import (
	"context"
	"slices"

	"belfry"
	"belfry/catalog"
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

// acquireSummaries returns the tables with the summaries of consecutive days.
func (a *reading) acquireSummaries(p *query.Plan, days []belfry.Span) (tables []query.Table, err error) {
	if len(days) == 0 {
		return nil, nil
	}
	span := belfry.Span{From: days[0].From, To: days[len(days)-1].To}
	used, states, err := a.acquireSpan(summaryPlan{p, a.store.trackers[p.Collection.Name]}, span)
	if err != nil {
		return nil, err
	}
	for _, t := range a.store.summaryTables(p.Period, used, states, span) {
		tables = append(tables, t.AsTable(p.Period))
	}
	return tables, nil
}

// summaryFiles are the files from which summaries can be read or made.
type summaryFiles struct{ raw, hour, day []*file }

// acquireSpan acquires the files of a span and returns the states of its days. The order matters: rows that are dropped
// after we acquired them stay until we are done, and what is up to date by then is in the files acquired afterwards.
func (a *reading) acquireSpan(p summaryPlan, span belfry.Span) (got summaryFiles, states []summary.State, err error) {
	acquire := func(c *catalog.Collection) (list []*file) {
		if err == nil {
			had := len(a.files)
			err = a.acquireFiles(a.store.files.list(c, a.store.files.periods(c, span.From, span.To-1)))
			list = a.files[had:]
		}
		return list
	}
	if got.raw = acquire(p.d.Raw); err == nil {
		states, err = a.store.states(a.ctx, a.conn, p.d, got.raw)
	}
	got.hour = acquire(p.d.Hour)
	if p.Period == query.PeriodDay {
		got.day = acquire(p.d.Day)
	}
	return got, states, err
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

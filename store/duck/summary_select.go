package duck

import (
	"context"
	"slices"
	"strings"

	"belfry"

	"belfry/store/duck/duckdb"

	"belfry/catalog"
	"belfry/query"
)

// summaryPlan is a plan that reads summaries.
type summaryPlan struct {
	*query.Plan
	d *summed
}

// askSummaries answers a plan about summaries. As ask does, it begins with few days where the order allows it.
func (s *Store) askSummaries(ctx context.Context, c *duckdb.Conn, p *query.Plan) (*rows, error) {
	sp := summaryPlan{p, s.sums[p.Collection.Name]}
	days := s.summaryDays(sp)
	for n := firstTry(p, len(days)); ; n = min(8*n, len(days)) {
		r, err := twice(func() (*rows, error) { return s.runSummaries(ctx, c, sp, atEnd(p, days, n)) })
		if err != nil || n == len(days) || r.result.Rows > p.Limit {
			return r, err
		}
	}
}

// twice asks once more when a file had been spoiled by an earlier failure, as it is attached anew by then.
func twice(ask func() (*rows, error)) (*rows, error) {
	r, err := ask()
	if err != nil && strings.Contains(err.Error(), "has been invalidated") {
		r, err = ask()
	}
	return r, err
}

// summaryDays are the days that may have summaries which the plan wants, oldest first.
func (s *Store) summaryDays(p summaryPlan) []belfry.Span {
	last := p.To
	if p.To < endOfTime {
		last += query.PeriodLength(p.Period) - 1 // a summary is of the span in which it begins
	}
	days := s.files.periods(p.d.raw, p.From-p.From%belfry.Day, last)
	for _, month := range s.files.periods(p.d.kept(p.Period), p.From, p.To) {
		for from := month.From; from < month.To; from += belfry.Day {
			if day := (belfry.Span{From: from, To: from + belfry.Day}); day.Overlaps(p.From, p.To) {
				days = append(days, day)
			}
		}
	}
	slices.SortFunc(days, func(a, b belfry.Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	return slices.Compact(days)
}

// runSummaries runs the plan on the summaries of some days, which follow one another.
func (s *Store) runSummaries(ctx context.Context, c *duckdb.Conn, p summaryPlan, days []belfry.Span) (_ *rows, err error) {
	var used summaryFiles
	defer func() { s.files.finish(used.all(), err) }()
	var tables []query.Table
	if len(days) > 0 {
		span := belfry.Span{From: days[0].From, To: days[len(days)-1].To}
		var states []dayState
		if states, err = s.acquireSummaries(ctx, c, p, span, &used); err != nil {
			return nil, err
		}
		for _, t := range s.summaryTables(p.Period, used, states, span) {
			tables = append(tables, t.table(p.Period))
		}
	}
	return s.runOn(ctx, c, p.Plan, tables)
}

// summaryFiles are the files of which summaries can be had.
type summaryFiles struct{ raw, hour, day []*file }

func (f summaryFiles) all() []*file { return slices.Concat(f.raw, f.hour, f.day) }

// acquireSummaries gives the files of the span and the states of its days. The order matters: rows that are dropped
// once we have them stay until we are done, and what is up to date by then is in the files that we get afterwards.
func (s *Store) acquireSummaries(ctx context.Context, c *duckdb.Conn, p summaryPlan, span belfry.Span, got *summaryFiles) (states []dayState, err error) {
	if got.raw, err = s.files.acquire(ctx, p.d.raw, span.From, span.To-1); err != nil {
		return nil, err
	}
	if states, err = s.states(ctx, c, p.d, got.raw); err != nil {
		return nil, err
	}
	if got.hour, err = s.files.acquire(ctx, p.d.hour, span.From, span.To-1); err != nil {
		return nil, err
	}
	if p.Period == query.PeriodDay {
		got.day, err = s.files.acquire(ctx, p.d.day, span.From, span.To-1)
	}
	return states, err
}

// summaryTables are tables that together have the summaries of the span, each once.
func (s *Store) summaryTables(p string, used summaryFiles, states []dayState, span belfry.Span) []summaryTable {
	if p == query.PeriodDay {
		return s.dayTables(used, states, span)
	}
	return s.hourTables(used, states, span)
}

// states are those of the days of files of rows.
func (s *Store) states(ctx context.Context, c *duckdb.Conn, d *summed, raw []*file) ([]dayState, error) {
	states := make([]dayState, len(raw))
	for i, f := range raw {
		var err error
		if states[i], err = s.stateOf(ctx, c, d, f.Span, f); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// hourTables read hours that are up to date from their files, and make the others from rows.
func (s *Store) hourTables(used summaryFiles, states []dayState, spans ...belfry.Span) []summaryTable {
	var stale []belfry.Span
	var rows []summaryTable
	raw := s.files.tables(used.raw)
	for i, st := range states {
		if len(st.hours) > 0 {
			stale = append(stale, st.hours...)
			rows = append(rows, rowsOfHours(raw[i], st.hours))
		}
	}
	list := s.fileTables(used.hour, stale, spans...)
	if len(rows) > 0 {
		list = append(list, hoursOfRows(rows))
	}
	return list
}

// fileTables read the summaries of spans from their files, but for those that begin in one of the periods.
func (s *Store) fileTables(files []*file, except []belfry.Span, spans ...belfry.Span) []summaryTable {
	var list []summaryTable
	for i, t := range s.files.tables(files) {
		var in []belfry.Span
		for _, sp := range within(spans, files[i].Span) {
			in = append(in, belfry.Span{From: max(sp.From, files[i].From), To: min(sp.To, files[i].To)})
		}
		if len(in) > 0 {
			list = append(list, storedSummaries(t, in, within(except, files[i].Span)))
		}
	}
	return list
}

// dayTables read days that are up to date from their files, and make the others from their hours.
func (s *Store) dayTables(used summaryFiles, states []dayState, span belfry.Span) []summaryTable {
	of := summaryFiles{hour: used.hour}
	var stale []belfry.Span
	var old []dayState
	for i, st := range states {
		if !st.current {
			stale, old = append(stale, st.Span), append(old, st)
			of.raw = append(of.raw, used.raw[i])
		}
	}
	list := s.fileTables(used.day, stale, span)
	if hours := s.hourTables(of, old, joined(stale)...); len(hours) > 0 {
		list = append(list, daysOfHours(hours))
	}
	return list
}

// within picks the periods that have moments of p.
func within(list []belfry.Span, p belfry.Span) []belfry.Span {
	var some []belfry.Span
	for _, q := range list {
		if q.Overlaps(p.From, p.To-1) {
			some = append(some, q)
		}
	}
	return some
}

// kept is where the summaries of a period are.
func (d *summed) kept(p string) *catalog.Collection {
	if p == query.PeriodDay {
		return d.day
	}
	return d.hour
}

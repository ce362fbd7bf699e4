package duck

import (
	"slices"

	"belfry"
	"belfry/query"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// fromSummaries reports whether the groups of a plan are made from summaries, and of which period: if the plan asks for
// it, or if rows of its span are gone and only their summaries are left.
func (s *Store) fromSummaries(p *query.Plan) (string, bool) {
	by, chosen := p.FromSummaries()
	return by, chosen || by != "" && p.From < s.Oldest(p.Collection.Name)
}

// acquireGroups returns the tables for groups that are made from summaries, and from rows where summaries are out of
// date, begin before the span or end after it.
func (a *reading) acquireGroups(p *query.Plan, by string) (tables []query.Table, err error) {
	if p.From > p.To {
		return nil, nil
	}
	of := *p
	of.Period = by
	sp := summaryPlan{&of, a.store.trackers[p.Collection.Name]}
	span := belfry.Span{From: p.From, To: min(p.To, folder.EndOfTime) + 1}
	used, states, err := a.acquireSpan(sp, span)
	if err != nil {
		return nil, err
	}
	for _, t := range a.store.groupTables(sp, used, states, span) {
		tables = append(tables, t.AsParts())
	}
	return tables, nil
}

// groupTables returns tables that contain each row of the span once: in a summary, or as it is.
func (s *Store) groupTables(p summaryPlan, used summaryFiles, states []summary.State, span belfry.Span) (list []summary.Table) {
	days := belfry.Span{From: (span.From + belfry.Day - 1) / belfry.Day * belfry.Day, To: span.To - span.To%belfry.Day} // whole days within the span
	if p.Period != query.PeriodDay || days.From >= days.To {
		days = belfry.Span{}
	}
	hours := []belfry.Span{span} // where hours are read
	var except []belfry.Span     // and where they are not
	if days.From < days.To {
		var stale []belfry.Span
		hours = []belfry.Span{{From: span.From, To: days.From}, {From: days.To, To: span.To}}
		for _, st := range states {
			if !st.Current {
				stale = append(stale, st.Span)
				hours = append(hours, summary.Within([]belfry.Span{st.Span}, days)...)
			}
		}
		list = s.fileTables(used.day, stale, days)
	}
	var rows []summary.Table
	raw, items := s.files.tables(used.raw), s.newPeriodFilter(p.Plan, periodsIn(used.raw))
	for i, st := range states {
		if st.Current && days.Contains(st.From) {
			continue
		}
		if hours := st.AsRows(span); len(hours) > 0 {
			except = append(except, hours...)
			if !items.MayHave(st.Span) {
				continue
			}
			rows = append(rows, summary.ReadRows(raw[i], "timestamp", p.indicators(raw[i]), st.Partly(hours)))
		}
	}
	if len(rows) > 0 { // in one table, so that the statement is planned once for all of them
		list = append(list, summary.RowsAsHours(rows))
	}
	for i, t := range s.files.tables(used.hour) {
		if in := summary.Within(hours, used.hour[i].Span); len(in) > 0 {
			list = append(list, summary.Stored(t, in, summary.Within(except, used.hour[i].Span)))
		}
	}
	return list
}

func periodsIn(list []*file) []belfry.Span {
	periods := make([]belfry.Span, len(list))
	for i, f := range list {
		periods[i] = f.Span
	}
	return periods
}

// indicators returns the indicators of a table that the groups use.
func (p summaryPlan) indicators(t query.Table) []int {
	return slices.DeleteFunc(summary.Indicators(t), func(n int) bool {
		return !slices.ContainsFunc(p.Grouping.Calls, func(c query.Call) bool { return c.Column.N == n })
	})
}

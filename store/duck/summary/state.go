package summary

import "belfry"

// State says which summaries of a day are up to date.
type State struct {
	belfry.Span
	Hours   []belfry.Span // out of date, adjacent ones joined
	Stale   int           // number of hours out of date
	Current bool          // the summary of the day is up to date
	Rows    HourCounts
	Known   bool // Rows has been counted
}

// compareLost is compare for a day that is incomplete. Its file may come back; until then summaries of at least as many rows as are left
// are better than those rows. Answers report the day as missing.
func (st *State) compareLost(hours Counts, day int64) {
	all := int64(0)
	for h, n := range st.Rows {
		m := hours[hourOf(st.Span, h)].Rows
		all += max(n, m)
		if n > m {
			st.addStale(hourOf(st.Span, h))
		}
	}
	st.Current = st.Stale == 0 && day >= all
}

// compare finds the hours that are out of date.
func (st *State) compare(hours Counts, from origins, day Made) {
	all := int64(0)
	for h, n := range st.Rows {
		start := hourOf(st.Span, h)
		m := hours[start]
		switch {
		case n == 0: // a summary is all that is left
			n = m.Rows
		case n != m.Rows || !from.has(m.Origin):
			st.addStale(start)
		}
		all += n
	}
	st.Current = st.Stale == 0 && all == day.Rows && hours.made(st.Span, day.Origin)
}

func (st *State) addStale(start belfry.Time) {
	st.Stale++
	st.Hours = add(st.Hours, belfry.Span{From: start, To: start + belfry.Hour})
}

// hourOf returns the start of hour n of a day.
func hourOf(day belfry.Span, n int) belfry.Time { return day.From + belfry.Time(n)*belfry.Hour }

// Due returns the hours that ended before a time and are out of date or, if there are none, the day.
func (st *State) Due(before belfry.Time) (hours, days []Task) {
	of := func(h belfry.Time) Task {
		if !st.Known { // it may have any number of rows
			return Task{belfry.Span{From: h, To: h + belfry.Hour}, 0, true}
		}
		return Task{belfry.Span{From: h, To: h + belfry.Hour}, st.Rows[(h-st.From)/belfry.Hour], false}
	}
	for _, p := range st.Hours {
		for h := p.From; h < p.To && h+belfry.Hour <= before; h += belfry.Hour {
			hours = append(hours, of(h))
		}
	}
	if st.Stale == 0 && !st.Current && st.To <= before {
		days = []Task{{st.Span, st.Rows.Sum(), false}}
	}
	return hours, days
}

// Partly returns the hours, or nil if they are the whole day and need no condition.
func (st *State) Partly(hours []belfry.Span) []belfry.Span {
	if len(hours) == 1 && hours[0] == st.Span {
		return nil
	}
	return hours
}

// AsRows returns the hours whose rows must be read because their summaries are out of date or reach beyond the span.
func (st *State) AsRows(span belfry.Span) []belfry.Span {
	var list []belfry.Span
	for h := st.From; h < st.To; h += belfry.Hour {
		hour := belfry.Span{From: h, To: h + belfry.Hour}
		inside := span.From <= hour.From && hour.To <= span.To
		if !hour.Overlaps(span.From, span.To-1) || inside && len(Within(st.Hours, hour)) == 0 {
			continue
		}
		list = add(list, hour)
	}
	return list
}

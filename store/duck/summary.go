package duck

import (
	"context"
	"maps"
	"slices"
	"sync"

	"belfry/store/duck/duckdb"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Summaries are kept in files of their own beside the rows, one for each month:
//
//	DIR/objectdata/2026-11-15.duckdb ──Summarise──► DIR/objectdata.hour/2026-11.duckdb ──► DIR/objectdata.day/2026-11.duckdb
//
// Rows are only ever added to a file, so an hour is up to date when it was made from this file, of as many rows as there
// are. Both stand in the table made of the file of summaries, written in the transaction of the summary: the number of rows,
// and the origin, which says what was in the file of rows at that time (see origins). How many rows there are is counted
// once and then kept in step by Append. No other state is needed: a crash in between leaves an hour that is out of date,
// and so do a late row, and another file in the place of one that was lost.
//
// Rows may be lost. An hour that has a summary and no rows keeps the summary; as soon as it has rows, it is made from them.
//
// A query of summaries reads what is up to date from them and makes the rest itself, from the rows. So its answer never
// depends on how far Summarise has come. Before rows are dropped, their hours and days are brought up to date.

// summed is a collection with summaries.
type summed struct {
	raw, hour, day *catalog.Collection // the last two as the files know them

	making chan struct{} // held by who writes summaries

	mu      sync.Mutex
	tallies map[belfry.Time]*tally // by day
	made    map[*catalog.Collection]map[belfry.Time]rowCounts
	version uint64          // counts changes of made
	failed  map[failure]int // how often; see fail
	behind  int             // hours that are over and not up to date, as far as is known
}

// rowCounts is of how many rows the hours or days of a file were made, by where they begin. It is never changed, only
// replaced.
type rowCounts map[belfry.Time]madeFrom

// madeFrom says what a summary was made of.
type madeFrom struct {
	rows   int64
	origin origin
}

func newSummed(c *catalog.Collection) *summed {
	kept := func(period string) *catalog.Collection {
		return &catalog.Collection{Name: c.SummaryName(period), Historical: true, Period: catalog.Month, Item: true}
	}
	d := &summed{raw: c, hour: kept(catalog.Hour), day: kept(catalog.Day), making: make(chan struct{}, 1)}
	d.forget()
	return d
}

// collections are all for which there may be files, and those among them that have summaries, by name.
func collections(cat *catalog.Catalog) (all []*catalog.Collection, sums map[string]*summed) {
	sums = map[string]*summed{}
	for _, c := range cat.Kept() {
		all = append(all, c)
		if len(c.Summaries) > 0 {
			d := newSummed(c)
			sums[c.Name] = d
			all = append(all, d.hour, d.day)
		}
	}
	return all, sums
}

// forget says that nothing is known any more.
func (d *summed) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tallies, d.failed = map[belfry.Time]*tally{}, map[failure]int{}
	d.made = map[*catalog.Collection]map[belfry.Time]rowCounts{d.hour: {}, d.day: {}}
	d.version++
}

// forgetMade says that a file of summaries must be asked again.
func (d *summed) forgetMade(f *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.made[f.collection], f.From)
	d.version++
}

// noteMade takes note of a commit to a file of summaries. Their origins belong to the files of rows that the tallies are of.
func (d *summed) noteMade(f *file, rows rowCounts, of map[belfry.Time]*tally) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	for at, m := range rows {
		day := at - at%belfry.Day
		if t := of[day]; f.collection == d.hour && t != nil && t == d.tallies[day] {
			t.origins.add(m.origin)
		}
	}
	old, ok := d.made[f.collection][f.From]
	if !ok {
		return
	}
	counts := maps.Clone(old)
	maps.Copy(counts, rows)
	d.made[f.collection][f.From] = counts
}

// madeOf tells of how many rows the summaries were made that are in the file of month.
func (s *Store) madeOf(ctx context.Context, q *duckdb.Conn, d *summed, c *catalog.Collection, at belfry.Time) (rowCounts, error) {
	month := c.PeriodOf(at)
	for {
		d.mu.Lock()
		counts, ok := d.made[c][month.From]
		version := d.version
		d.mu.Unlock()
		if ok {
			return counts, nil
		}
		counts, err := s.readMade(ctx, q, c, month)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		if d.version == version {
			d.made[c][month.From] = counts
		}
		d.mu.Unlock()
	}
}

func (s *Store) readMade(ctx context.Context, q *duckdb.Conn, c *catalog.Collection, month belfry.Span) (_ rowCounts, err error) {
	used, err := s.files.acquire(ctx, c, month.From, month.To-1)
	if err != nil {
		return nil, err
	}
	defer func() { s.files.finish(used, err) }()
	counts := rowCounts{}
	for _, f := range used {
		if err = readCounts(ctx, q, f, "", counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// day says which of its summaries are up to date.
type dayState struct {
	belfry.Span
	hours   []belfry.Span // that are not up to date, neighbours joined
	stale   int           // how many hours they are
	current bool          // the summary of the day is up to date
	rows    hourCounts
	known   bool // how many rows there are
}

// stateOf compares the rows of a day with its summaries. The caller uses the file of the rows, f; without it they are
// not counted.
func (s *Store) stateOf(ctx context.Context, q *duckdb.Conn, d *summed, day belfry.Span, f *file) (dayState, error) {
	st := dayState{Span: day}
	hours, err := s.madeOf(ctx, q, d, d.hour, day.From)
	if err != nil {
		return st, err
	}
	days, err := s.madeOf(ctx, q, d, d.day, day.From)
	if err != nil {
		return st, err
	}
	var from origins
	st.rows, from, st.known, err = s.tallyOf(ctx, q, d, day, f, hours, days[day.From].rows)
	if err != nil {
		return st, err
	}
	if !st.known {
		st.hours, st.stale = []belfry.Span{day}, 24
		return st, nil
	}
	if s.files.isLost(d.raw, day) {
		st.compareLost(hours, days[day.From].rows)
	} else {
		st.compare(hours, from, days[day.From])
	}
	return st, nil
}

// compareLost is compare for a day that is incomplete: its file may come back, and until then summaries that were made of
// as many rows as are left, or more, tell more than these. Answers name the day as missing.
func (st *dayState) compareLost(hours rowCounts, day int64) {
	all := int64(0)
	for h, n := range st.rows {
		m := hours[hourOf(st.Span, h)].rows
		all += max(n, m)
		if n > m {
			st.addStale(hourOf(st.Span, h))
		}
	}
	st.current = st.stale == 0 && day >= all
}

// compare finds the hours that are not up to date. Where rows were lost since summaries without an origin were made, these
// count as out of date even if their numbers match.
func (st *dayState) compare(hours rowCounts, from origins, day madeFrom) {
	all, lost := int64(0), false
	for h, n := range st.rows {
		m := hours[hourOf(st.Span, h)]
		lost = lost || m.rows > n
		if n == 0 { // a summary is all that is left
			n = m.rows
		}
		all += n
	}
	for h, n := range st.rows {
		start := hourOf(st.Span, h)
		m := hours[start]
		if n == 0 || n == m.rows && from.has(m.origin) && (m.origin != unknownOrigin || !lost) {
			continue
		}
		st.addStale(start)
	}
	st.current = st.stale == 0 && all == day.rows && hours.made(st.Span, day.origin)
}

func (st *dayState) addStale(start belfry.Time) {
	st.stale++
	if last := len(st.hours) - 1; last >= 0 && st.hours[last].To == start {
		st.hours[last].To += belfry.Hour
	} else {
		st.hours = append(st.hours, belfry.Span{From: start, To: start + belfry.Hour})
	}
}

// hourOf returns the start of hour n of a day.
func hourOf(day belfry.Span, n int) belfry.Time { return day.From + belfry.Time(n)*belfry.Hour }

// SummariesBehind is how many hours that are over wait for Summarise, as far as is known.
func (s *Store) SummariesBehind() int {
	n := 0
	for _, d := range s.sums {
		d.mu.Lock()
		n += d.behind
		d.mu.Unlock()
	}
	return n
}

// indicators are the numbers of the indicators that a table has as numbers.
func indicators(t query.Table) []int {
	var list []int
	for n := 1; n <= belfry.MaxIndicators; n++ {
		if t.Columns[belfry.IndicatorColumn(n)] {
			list = append(list, n)
		}
	}
	return slices.Clip(list)
}

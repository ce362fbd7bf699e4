package summary

import (
	"context"
	"maps"
	"sync"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// Tracker tracks the summaries of a collection.
type Tracker struct {
	Raw, Hour, Day *catalog.Collection // of the rows, and of the files of hours and days

	making chan struct{} // see Acquire

	mu      sync.Mutex
	byDay   map[belfry.Time]*dayCounts
	made    map[*catalog.Collection]map[belfry.Time]Counts
	version uint64          // of made
	failed  map[failure]int // number of attempts; see Fail
	behind  int             // see Behind
}

// NewTracker returns the tracker of a collection.
func NewTracker(c *catalog.Collection) *Tracker {
	kept := func(period string) *catalog.Collection {
		return &catalog.Collection{Name: c.SummaryName(period), Historical: true, Period: catalog.Month, Item: true}
	}
	d := &Tracker{Raw: c, Hour: kept(catalog.Hour), Day: kept(catalog.Day), making: make(chan struct{}, 1)}
	d.Forget()
	return d
}

// Forget discards everything that is known.
func (d *Tracker) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDay, d.failed = map[belfry.Time]*dayCounts{}, map[failure]int{}
	d.made = map[*catalog.Collection]map[belfry.Time]Counts{d.Hour: {}, d.Day: {}}
	d.version++
}

// File is a file of rows or of summaries that is attached to the engine.
type File struct {
	belfry.Span
	Collection *catalog.Collection
	Alias      string // of the database
}

func (f File) rows() string { return f.Alias + ".main.rows" }

// ForgetMade discards what is known of a file of summaries.
func (d *Tracker) ForgetMade(f File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.made[f.Collection], f.From)
	d.version++
}

// NoteMade records a commit to a file of summaries. days are the counts from when the rows were read.
func (d *Tracker) NoteMade(f File, rows Counts, days map[belfry.Time]*dayCounts) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	for at, m := range rows {
		day := at - at%belfry.Day
		if t := days[day]; f.Collection == d.Hour && t != nil && t == d.byDay[day] {
			t.origins.add(m.Origin)
		}
	}
	old, ok := d.made[f.Collection][f.From]
	if !ok {
		return
	}
	counts := maps.Clone(old)
	maps.Copy(counts, rows)
	d.made[f.Collection][f.From] = counts
}

// HourCounts is the number of rows in each hour of a day.
type HourCounts [24]int64

// Sum returns the number of rows of the day.
func (c *HourCounts) Sum() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

// dayCounts counts the rows of a day by hour. The mutex of the tracker guards it.
type dayCounts struct {
	hours   HourCounts
	origins origins // of summaries that were made from the present file
	known   bool
	pos     belfry.Position // of the last commit in hours
	missed  belfry.Position // of the last commit while hours was not known
}

// dayCounts returns the counts of a day. The caller holds the mutex.
func (d *Tracker) dayCounts(day belfry.Time) *dayCounts {
	t := d.byDay[day]
	if t == nil {
		t = new(dayCounts)
		d.byDay[day] = t
	}
	return t
}

// NoteRows counts the rows of a commit, by hour. first means that the file was empty before.
func (d *Tracker) NoteRows(day belfry.Time, pos belfry.Position, first bool, rows *HourCounts) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.dayCounts(day)
	switch {
	case !t.known && first:
		t.known = true
	case !t.known:
		t.missed = pos
		return
	case pos <= t.pos: // counted before
		return
	}
	t.pos = pos
	for h, n := range rows {
		t.hours[h] += n
	}
}

// Invalidate discards the count of a day whose last commit may have failed or succeeded. Counts in progress are discarded, too.
func (d *Tracker) Invalidate(day belfry.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byDay, day)
}

// countHours counts the rows of a file and returns the position of the last commit it counted. The engine knows the total without reading
// rows; if the day was made of as many, from this file, the counts of its hours are right, too.
func countHours(ctx context.Context, q *duckdb.Conn, f File, made Counts, from origins, day int64) (have HourCounts, pos belfry.Position, err error) {
	position := "(SELECT coalesce(max(pos), 0) FROM " + f.Alias + ".main.position)" // 0 before the first commit
	r, err := q.Query(ctx, "SELECT (SELECT count(*) FROM "+f.rows()+"), "+position)
	if err != nil || !r.Next() {
		return have, 0, err
	}
	own := true
	for h := range have {
		m := made[hourOf(f.Span, h)]
		have[h] = m.Rows
		own = own && (m.Rows == 0 || from.has(m.Origin))
	}
	if n := r.Int(0); own && n == day && n == have.Sum() {
		return have, belfry.Position(r.Int(1)), nil
	}
	have = HourCounts{}
	r, err = q.Query(ctx, "SELECT p.pos, h.hour, h.n FROM "+position+" AS p(pos) LEFT JOIN (SELECT (timestamp - "+number(f.From)+") // "+number(belfry.Hour)+
		" AS hour, count(*) AS n FROM "+f.rows()+" GROUP BY ALL) AS h ON TRUE")
	if err != nil {
		return have, 0, err
	}
	for r.Next() {
		pos = belfry.Position(r.Int(0))
		if !r.Null(1) {
			have[r.Int(1)] = r.Int(2)
		}
	}
	return have, pos, nil
}

// Acquire waits until no one else writes summaries of the collection.
func (d *Tracker) Acquire(ctx context.Context) (release func(), err error) {
	select {
	case d.making <- struct{}{}:
		return func() { <-d.making }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Collection returns the collection of the files that have the summaries of a period.
func (d *Tracker) Collection(p string) *catalog.Collection {
	if p == query.PeriodDay {
		return d.Day
	}
	return d.Hour
}

// DayCounts returns the present counts of the days of the spans.
func (d *Tracker) DayCounts(spans []belfry.Span) map[belfry.Time]*dayCounts {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := map[belfry.Time]*dayCounts{}
	for _, sp := range spans {
		day := sp.From - sp.From%belfry.Day
		list[day] = d.dayCounts(day)
	}
	return list
}

// Made returns what the summaries of c were made of that are in the file of a month. It calls read if it does not know.
func (d *Tracker) Made(c *catalog.Collection, month belfry.Time, read func() (Counts, error)) (Counts, error) {
	for {
		d.mu.Lock()
		counts, ok := d.made[c][month]
		version := d.version
		d.mu.Unlock()
		if ok {
			return counts, nil
		}
		counts, err := read()
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		if d.version == version {
			d.made[c][month] = counts
		}
		d.mu.Unlock()
	}
}

// DropMade forgets the summaries of c in months before t.
func (d *Tracker) DropMade(c *catalog.Collection, t belfry.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.made[c], func(month belfry.Time, _ Counts) bool { return month < t })
}

// Behind returns the number of hours that are over and, as known so far, not up to date.
func (d *Tracker) Behind() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.behind
}

// SetBehind sets what Behind returns. If nothing is left to do, failed work is tried again.
func (d *Tracker) SetBehind(hours int, idle bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.behind = hours
	if idle {
		d.retry()
	}
}

// State compares the rows of a day with its summaries. f is the file of the rows; if it is nil, rows that have not been counted are not
// counted. lost means that rows are missing from the file.
func (d *Tracker) State(ctx context.Context, q *duckdb.Conn, day belfry.Span, f *File, hours Counts, made Made, lost bool) (State, error) {
	st := State{Span: day}
	var from origins
	var err error
	if st.Rows, from, st.Known, err = d.count(ctx, q, day, f, hours, made.Rows); err != nil {
		return st, err
	}
	switch {
	case !st.Known:
		st.Hours, st.Stale = []belfry.Span{day}, 24
	case lost:
		st.compareLost(hours, made.Rows)
	default:
		st.compare(hours, from, made)
	}
	return st, nil
}

// count returns the number of rows in each hour of a day, and the origins of the summaries that were made from its
// file. They are unknown while rows arrive faster than they can be counted. That does no harm: those rows have not been
// summarised either.
func (d *Tracker) count(ctx context.Context, q *duckdb.Conn, day belfry.Span, f *File, made Counts, rows int64) (HourCounts, origins, bool, error) {
	for range 3 {
		d.mu.Lock()
		t := d.dayCounts(day.From)
		have, from, known := t.hours, t.origins, t.known
		d.mu.Unlock()
		if known || f == nil {
			return have, from, known, nil
		}
		from, err := findOrigins(ctx, q, *f, made)
		if err != nil {
			return have, nil, false, err
		}
		have, pos, err := countHours(ctx, q, *f, made, from, rows)
		if err != nil {
			return have, nil, false, err
		}
		d.mu.Lock()
		if d.byDay[day.From] == t && !t.known && t.missed <= pos {
			t.hours, t.origins, t.pos, t.known = have, from, pos, true
		}
		d.mu.Unlock()
	}
	return HourCounts{}, nil, false, nil
}

package duck

import (
	"context"

	"belfry/store/duck/duckdb"

	"belfry"
)

// hourCounts is how many rows each hour of a day has.
type hourCounts [24]int64

func (c *hourCounts) sum() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

// tally counts the rows of a file by hour. Its fields belong to the mutex of summed.
type tally struct {
	hours   hourCounts
	origins origins // of summaries of the day that were made from this file
	known   bool
	pos     uint64 // of the last commit that is counted in hours
	missed  uint64 // of the last commit while nothing was known
}

// tally finds the tally of a day. The caller holds the mutex.
func (d *summed) tally(day belfry.Time) *tally {
	t := d.tallies[day]
	if t == nil {
		t = new(tally)
		d.tallies[day] = t
	}
	return t
}

// note takes note of a commit of rows. The first to a file says all there is to know about it.
func (d *summed) note(day belfry.Time, pos uint64, first bool, pieces []piece) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tally(day)
	switch {
	case !t.known && first:
		t.known = true
	case !t.known:
		t.missed = pos
		return
	case pos <= t.pos: // it was there when they were counted
		return
	}
	t.pos = pos
	for _, p := range pieces {
		if p.rows == nil {
			for _, at := range p.batch.Times {
				t.hours[(at-day)/belfry.Hour]++
			}
			continue
		}
		for _, i := range p.rows {
			t.hours[(p.batch.Times[i]-day)/belfry.Hour]++
		}
	}
}

// doubt says that it is not known what became of a commit. Who is counting meanwhile counts for nobody.
func (d *summed) doubt(day belfry.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tallies, day)
}

// noteRows and doubtRows tell the summaries of the file's collection, if there are any.
func (s *Store) noteRows(f *file, pos uint64, pieces []piece) {
	if d := s.sums[f.collection.Name]; d != nil {
		d.note(f.From, pos, f.pos == 0, pieces)
	}
}

func (s *Store) doubtRows(f *file) {
	if d := s.sums[f.collection.Name]; d != nil {
		d.doubt(f.From)
	}
}

// tallyOf tells how many rows each hour of a day has, whose file is f. It is not known when rows come in faster than they can be
// counted, which is no harm: nobody has summed them up then either.
func (s *Store) tallyOf(ctx context.Context, q *duckdb.Conn, d *summed, p belfry.Span, f *file, made rowCounts, day int64) (hourCounts, origins, bool, error) {
	for range 3 {
		d.mu.Lock()
		t := d.tally(p.From)
		have, from, known := t.hours, t.origins, t.known
		d.mu.Unlock()
		if known || f == nil {
			return have, from, known, nil
		}
		from, err := findOrigins(ctx, q, f, made)
		if err != nil {
			return have, nil, false, err
		}
		have, pos, err := countHours(ctx, q, f, made, from, day)
		if err != nil {
			return have, nil, false, err
		}
		d.mu.Lock()
		if d.tallies[f.From] == t && !t.known && t.missed <= pos {
			t.hours, t.origins, t.pos, t.known = have, from, pos, true
		}
		d.mu.Unlock()
	}
	return hourCounts{}, nil, false, nil
}

// countHours counts the rows of the file, and tells up to which position. How many there are in all the engine knows
// without reading them; where that is what the day was made of, from this file, the hours need not be counted either.
func countHours(ctx context.Context, q *duckdb.Conn, f *file, made rowCounts, from origins, day int64) (have hourCounts, pos uint64, err error) {
	position := "(SELECT coalesce(max(pos), 0) FROM " + f.alias + ".main.position)" // 0 before the first commit
	r, err := q.Query(ctx, "SELECT (SELECT count(*) FROM "+f.table.Ref+"), "+position)
	if err != nil || !r.Next() {
		return have, 0, err
	}
	own := true
	for h := range have {
		m := made[hourOf(f.Span, h)]
		have[h] = m.rows
		own = own && (m.rows == 0 || from.has(m.origin))
	}
	if n := r.Int(0); own && n == day && n == have.sum() {
		return have, uint64(r.Int(1)), nil
	}
	have = hourCounts{}
	r, err = q.Query(ctx, "SELECT p.pos, h.hour, h.n FROM "+position+" AS p(pos) LEFT JOIN (SELECT (timestamp - "+number(f.From)+") // "+number(belfry.Hour)+
		" AS hour, count(*) AS n FROM "+f.table.Ref+" GROUP BY ALL) AS h ON TRUE")
	if err != nil {
		return have, 0, err
	}
	for r.Next() {
		pos = uint64(r.Int(0))
		if !r.Null(1) {
			have[r.Int(1)] = r.Int(2)
		}
	}
	return have, pos, nil
}

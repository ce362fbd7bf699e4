package summary

import (
	"context"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/store/duck/duckdb"
)

// Origin identifies what a summary was made from. The number of rows is not enough: a file may be lost or lose its end, and as many other
// rows may arrive.
//
// The origin of an hour is a checksum of the positions of all commits to the file of rows at that time. A file matches if the positions of
// its first commits have the same checksum: then it still has those rows. This also distinguishes a file that was put back, or an old copy,
// from the file that was in its place.
//
// The origin of a day is a checksum of the origins and row counts of its hours.
type Origin int64

// noOrigin is the origin of a time without a summary. No file matches it.
const noOrigin Origin = 0

// origins is a set of origins. It is immutable.
type origins []Origin

func (o origins) has(one Origin) bool { return slices.Contains(o, one) }

func (o *origins) add(one Origin) {
	if !o.has(one) {
		*o = append(slices.Clip(*o), one)
	}
}

// mixer is an odd number without a pattern, from the generator splitmix64.
const mixer = 0xbf58476d1ce4e5b9

// chain is the checksum of a growing list of numbers.
type chain struct{ sum uint64 }

func (c *chain) add(n uint64) Origin {
	x := c.sum*mixer + n + 1
	x = (x ^ x>>30) * mixer
	x = (x ^ x>>27) * 0x94d049bb133111eb
	c.sum = max(x^x>>31, 1)
	return Origin(c.sum)
}

// Made returns the table made of a file of summaries, as a statement refers to it.
func (f File) Made() string { return f.Alias + ".main." + MadeTable }

// Check returns the error of the engine if a file of summaries does not have the table made with its columns.
func Check(ctx context.Context, q *duckdb.Conn, f File) error {
	return q.Exec(ctx, "SELECT timestamp, rows, origin FROM "+f.Made()+" LIMIT 0")
}

// history calls each with the origin of a file of rows after each of its commits, oldest first.
func history(ctx context.Context, q *duckdb.Conn, f File, each func(Origin)) error {
	r, err := q.Query(ctx, "SELECT pos FROM "+f.Alias+".main.position")
	if err != nil {
		return err
	}
	positions, _ := r.Words(0)
	if !slices.IsSorted(positions) { // the engine keeps the order of insertion, and sorting in SQL takes longer than reading
		slices.Sort(positions)
	}
	var c chain
	for _, pos := range positions {
		each(c.add(pos))
	}
	return nil
}

// findOrigins returns the origins, among those of the hours of a day, that match its file.
func findOrigins(ctx context.Context, q *duckdb.Conn, f File, hours Counts) (found origins, err error) {
	var wanted origins
	for h := range 24 {
		if m := hours[hourOf(f.Span, h)]; m.Rows > 0 {
			wanted.add(m.Origin)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	err = history(ctx, q, f, func(o Origin) {
		if wanted.has(o) {
			found.add(o)
		}
	})
	return found, err
}

// Origins returns the origin of each span when it is summarised from the given files of rows or, for days, of hours.
func Origins(ctx context.Context, q *duckdb.Conn, used []File, spans []belfry.Span, days bool) (map[belfry.Time]Origin, error) {
	from := map[belfry.Time]Origin{}
	for _, f := range used {
		var last Origin
		var err error
		hours := Counts{}
		if days {
			err = ReadCounts(ctx, q, f, "", hours)
		} else {
			err = history(ctx, q, f, func(o Origin) { last = o })
		}
		if err != nil {
			return nil, err
		}
		for _, sp := range spans {
			switch {
			case !f.Contains(sp.From):
			case days:
				from[sp.From] = hours.checksum(sp)
			default:
				from[sp.From] = last
			}
		}
	}
	return from, nil
}

// checksum returns the origin of a day with these hours.
func (hours Counts) checksum(day belfry.Span) Origin {
	var c chain
	for h := range 24 {
		m := hours[hourOf(day, h)]
		c.add(uint64(m.Rows))
		c.add(uint64(m.Origin))
	}
	return Origin(c.sum)
}

// made reports whether a day was made from these hours. One without rows has no summary, and neither have its hours.
func (hours Counts) made(day belfry.Span, from Origin) bool {
	if from != noOrigin {
		return from == hours.checksum(day)
	}
	for h := range 24 {
		if hours[hourOf(day, h)].Origin != noOrigin {
			return false
		}
	}
	return true
}

// originOf returns a SQL expression for the origin of a timestamp.
func originOf(from map[belfry.Time]Origin) string {
	var b strings.Builder
	b.WriteString("CASE timestamp")
	for _, at := range slices.Sorted(maps.Keys(from)) {
		b.WriteString(" WHEN " + number(at) + " THEN " + number(from[at]))
	}
	return b.String() + " END"
}

// Counts has what the hours or days in a file were made of, by their start. It is immutable once it has been read.
type Counts map[belfry.Time]Made

// Made is what a summary was made of.
type Made struct {
	Rows   int64
	Origin Origin
}

// ReadCounts adds what the summaries in a file were made of to counts.
func ReadCounts(ctx context.Context, q *duckdb.Conn, f File, where string, counts Counts) error {
	r, err := q.Query(ctx, "SELECT timestamp, rows, coalesce(origin, "+number(noOrigin)+") FROM "+f.Made()+where)
	if err != nil {
		return err
	}
	for r.Next() {
		counts[belfry.Time(r.Int(0))] = Made{r.Int(1), Origin(r.Int(2))}
	}
	return nil
}

// parts returns into how many parts the items are divided, so that a statement makes about most summaries of one span. Each statement reads
// all rows, so rows are not counted: usually there are many rows of few items.
func parts(ctx context.Context, q *duckdb.Conn, by Table, rows, most int64) (int64, error) {
	if rows <= most {
		return 1, nil
	}
	items, err := q.Number(ctx, "SELECT approx_count_distinct(hash(customer, item)) FROM ("+by.from+")")
	return 1 + int64(items)/most, err
}

// Rewrite replaces the summaries of the spans in a file and returns what they were made of. They have so many rows; those with more than
// most have one span. A statement makes about most summaries, to bound memory. origins is called after the rows have been read, in the same
// transaction; its error ends the rewrite.
func Rewrite(ctx context.Context, q *duckdb.Conn, f File, spans []belfry.Span, by Table, rows, most int64, origins func() (map[belfry.Time]Origin, error)) (Counts, error) {
	parts, err := parts(ctx, q, by, rows, most)
	if err != nil {
		return nil, err
	}
	table, made := f.Alias+".main.rows", f.Made()
	at := " WHERE " + among(Join(spans))
	for _, name := range []string{table, made} {
		if err := q.Exec(ctx, "DELETE FROM "+name+at); err != nil {
			return nil, err
		}
	}
	cols := Columns(by.Indicators)
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = duckdb.QuoteName(c.Name)
	}
	list := strings.Join(names, ", ")
	for part := range parts {
		some := " WHERE coalesce(item, 0) % " + number(parts) + " = " + number(part)
		if err := q.Exec(ctx, "INSERT INTO "+table+" ("+list+") SELECT "+list+" FROM ("+by.Text+")"+some+" ORDER BY timestamp, customer, item"); err != nil {
			return nil, err
		}
	}
	from, err := origins()
	if err != nil {
		return nil, err
	}
	if err := q.Exec(ctx, "INSERT INTO "+made+" BY NAME SELECT timestamp, CAST(sum(rows) AS BIGINT) AS rows, "+originOf(from)+" AS origin FROM "+table+at+" GROUP BY timestamp"); err != nil {
		return nil, err
	}
	counts := Counts{}
	for _, sp := range spans {
		counts[sp.From] = Made{}
	}
	return counts, ReadCounts(ctx, q, f, at, counts)
}

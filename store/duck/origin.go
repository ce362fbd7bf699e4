package duck

import (
	"context"
	"maps"
	"slices"
	"strings"

	"belfry/store/duck/duckdb"

	"belfry"
)

// origin tells from what a summary was made. That as many rows are there as it was made of is not enough: a file may be lost,
// or lose its end, and as many other rows may come.
//
// The origin of an hour is a checksum of all positions in the file of rows at that time, which are those of its commits. A
// file has the origin if the checksum of its positions up to some commit is the same: then the rows of that time are still in
// it. This also tells a file that was put back, or an old copy, from the one that was in its place.
//
// The origin of a day is a checksum of what its hours were made of.
//
// Summaries of earlier versions have no origin. They count as made from a file of rows that is of an earlier version, too,
// which does not begin with position 0.
type origin int64

const unknownOrigin origin = 0

// origins is a set of origins. It is never changed, only replaced.
type origins []origin

func (o origins) has(one origin) bool { return slices.Contains(o, one) }

func (o *origins) add(one origin) {
	if !o.has(one) {
		*o = append(slices.Clip(*o), one)
	}
}

// chain is the checksum of a list of numbers that grows.
type chain struct{ sum uint64 }

func (c *chain) add(n uint64) origin {
	x := c.sum*checksumKey + n + 1
	x = (x ^ x>>30) * checksumKey
	x = (x ^ x>>27) * 0x94d049bb133111eb
	c.sum = max(x^x>>31, 1)
	return origin(c.sum)
}

// made is how statements call the table made of a file of summaries, which of an earlier version has no origins.
func (f *file) made() string {
	return "(SELECT * FROM " + f.alias + ".main." + madeTable + " UNION ALL BY NAME SELECT CAST(NULL AS BIGINT) AS origin WHERE FALSE)"
}

// addOrigin is the statement that gives a file of summaries of an earlier version a place for origins.
func addOrigin(f *file) string {
	return "ALTER TABLE " + f.alias + ".main." + madeTable + " ADD COLUMN IF NOT EXISTS origin BIGINT"
}

// history calls each with the origins that a file of rows has had, oldest first; with unknownOrigin before that if it is of an
// earlier version.
func history(ctx context.Context, q *duckdb.Conn, f *file, each func(origin)) error {
	r, err := q.Query(ctx, "SELECT pos FROM "+f.alias+".main.position")
	if err != nil {
		return err
	}
	positions, _ := r.Words(0)
	if !slices.IsSorted(positions) { // they are, as the engine keeps the order; to have it sort them would take longer than to read them
		slices.Sort(positions)
	}
	var c chain
	for i, pos := range positions {
		if i == 0 && pos != 0 {
			each(unknownOrigin)
		}
		each(c.add(pos))
	}
	return nil
}

// findOrigins tells which of the summaries of a day were made from its file.
func findOrigins(ctx context.Context, q *duckdb.Conn, f *file, hours rowCounts) (found origins, err error) {
	var wanted origins
	for h := range 24 {
		if m := hours[hourOf(f.Span, h)]; m.rows > 0 {
			wanted.add(m.origin)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	err = history(ctx, q, f, func(o origin) {
		if wanted.has(o) {
			found.add(o)
		}
	})
	return found, err
}

// originsOf gives the origins of summaries that are made from files of rows, or of hours, by where they begin.
func originsOf(ctx context.Context, q *duckdb.Conn, used []*file, spans []belfry.Span, days bool) (map[belfry.Time]origin, error) {
	from := map[belfry.Time]origin{}
	for _, f := range used {
		var last origin
		var err error
		hours := rowCounts{}
		if days {
			err = readCounts(ctx, q, f, "", hours)
		} else {
			err = history(ctx, q, f, func(o origin) { last = o })
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

// checksum is the origin of a day with these hours.
func (hours rowCounts) checksum(day belfry.Span) origin {
	var c chain
	for h := range 24 {
		m := hours[hourOf(day, h)]
		c.add(uint64(m.rows))
		c.add(uint64(m.origin))
	}
	return origin(c.sum)
}

// made tells whether a day was made from these hours.
func (hours rowCounts) made(day belfry.Span, from origin) bool {
	if from != unknownOrigin {
		return from == hours.checksum(day)
	}
	for h := range 24 {
		if hours[hourOf(day, h)].origin != unknownOrigin {
			return false
		}
	}
	return true
}

// originOf is an expression that gives the origin of a timestamp.
func originOf(from map[belfry.Time]origin) string {
	var b strings.Builder
	b.WriteString("CASE timestamp")
	for _, at := range slices.Sorted(maps.Keys(from)) {
		b.WriteString(" WHEN " + number(at) + " THEN " + number(from[at]))
	}
	return b.String() + " END"
}

// talliesOf finds the tallies of the days of spans, as they are now.
func (d *summed) talliesOf(spans []belfry.Span) map[belfry.Time]*tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := map[belfry.Time]*tally{}
	for _, sp := range spans {
		day := sp.From - sp.From%belfry.Day
		list[day] = d.tally(day)
	}
	return list
}

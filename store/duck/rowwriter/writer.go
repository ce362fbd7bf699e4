// Package rowwriter writes rows of batches into a database file: it divides batches by period, finds the columns they
// need, and pads long texts so that the engine can hold them.
package rowwriter

import (
	"context"
	"fmt"
	"maps"

	"belfry"
	"belfry/store/duck/duckdb"
)

// rowWriter writes batches through an appender. Columns that a batch does not have are NULL in its rows.
type rowWriter struct {
	*duckdb.Appender
	from     []*belfry.Column // the batch's columns in the appender's order; nil: absent
	fill     Fill             // of the file, including what has been written
	overflow []bool           // columns whose last text was OverflowBytes or longer

	noPadding bool // see config

	// Buffers to Gather the values of parts of a batch.
	times   []belfry.Time
	ints    []int64
	numbers []float64
	texts   []string
}

func (w *rowWriter) write(p Piece) error {
	for i := range w.Columns {
		w.from[i] = w.source(p.Batch, i)
	}
	for at, n := 0, 0; at < p.Len(); at += n {
		var err error
		if n, err = w.nextRows(p, at, min(w.Room(), p.Len()-at)); err != nil {
			return err
		}
		if p.Rows == nil {
			w.writeRange(p, at, n)
		} else {
			w.writeRows(p.Batch, p.Rows[at:at+n])
		}
		if err := w.Advance(n); err != nil {
			return err
		}
	}
	return nil
}

// source returns column i of the batch. Batches usually have the columns in the order of the appender.
func (w *rowWriter) source(b *belfry.Batch, i int) *belfry.Column {
	name := w.Columns[i].Name
	if at := i - 3; at >= 0 && at < len(b.Columns) && b.Columns[at].Name == name {
		return &b.Columns[at]
	}
	return b.Column(name)
}

// writeRange writes n rows from at.
func (w *rowWriter) writeRange(p Piece, at, n int) {
	b := p.Batch
	for i, c := range w.from {
		switch {
		case w.Columns[i].Name == CustomerColumn && p.IDs != nil:
			w.Appender.Smalls(i, p.Customers[at:at+n])
		case w.Columns[i].Name == IDColumn && p.IDs != nil:
			w.Appender.Ints(i, p.IDs[at:at+n])
		case w.Columns[i].Name == CustomerColumn:
			w.Appender.Fixed(i, n, uint32(b.Customer))
		case w.Columns[i].Name == IDColumn:
			w.Appender.Count(i, n, uint64(b.FirstID)+uint64(at))
		case w.Columns[i].Name == TimestampColumn:
			w.Appender.Times(i, b.Times[at:at+n])
		case c == nil:
			w.Appender.Missing(i, n)
		case c.Numbers != nil:
			w.Appender.Numbers(i, c.Numbers[at:at+n])
		case c.Texts != nil:
			w.Appender.Texts(i, c.Texts[at:at+n])
		default:
			w.Appender.Ints(i, c.Ints[at:at+n])
		}
	}
}

func (w *rowWriter) writeRows(b *belfry.Batch, rows []int) {
	for i, c := range w.from {
		switch {
		case w.Columns[i].Name == CustomerColumn:
			w.Appender.Fixed(i, len(rows), uint32(b.Customer))
		case w.Columns[i].Name == IDColumn:
			w.ints = w.ints[:0]
			for _, r := range rows {
				w.ints = append(w.ints, int64(b.FirstID)+int64(r))
			}
			w.Appender.Ints(i, w.ints)
		case w.Columns[i].Name == TimestampColumn:
			w.times = Gather(w.times, b.Times, rows)
			w.Appender.Times(i, w.times)
		case c == nil:
			w.Appender.Missing(i, len(rows))
		case c.Numbers != nil:
			w.numbers = Gather(w.numbers, c.Numbers, rows)
			w.Appender.Numbers(i, w.numbers)
		case c.Texts != nil:
			w.texts = Gather(w.texts, c.Texts, rows)
			w.Appender.Texts(i, w.texts)
		default:
			w.ints = Gather(w.ints, c.Ints, rows)
			w.Appender.Ints(i, w.ints)
		}
	}
}

func Gather[T any](to, from []T, rows []int) []T {
	to = to[:0]
	for _, r := range rows {
		to = append(to, from[r])
	}
	return to
}

// AddColumns adds the columns that a file lacks, which has those of had. It returns all its columns, or nil if none were added.
func AddColumns(ctx context.Context, c *duckdb.Conn, alias string, had map[string]duckdb.Kind, cols []duckdb.Column) (map[string]duckdb.Kind, error) {
	var kinds map[string]duckdb.Kind
	for _, col := range cols {
		k, ok := had[col.Name]
		if ok && k != col.Kind {
			return nil, fmt.Errorf("column %q is %s, not %s: the type of a column never changes", col.Name, k.SQL(), col.Kind.SQL())
		}
		if ok {
			continue
		}
		if err := c.Exec(ctx, "ALTER TABLE "+alias+".main.rows ADD COLUMN "+duckdb.QuoteName(col.Name)+" "+col.Kind.SQL()); err != nil {
			return nil, err
		}
		if kinds == nil {
			kinds = map[string]duckdb.Kind{}
			maps.Copy(kinds, had)
		}
		kinds[col.Name] = col.Kind
	}
	return kinds, nil
}

// InsertPosition records the position that a file has reached.
func InsertPosition(ctx context.Context, c *duckdb.Conn, alias string, pos belfry.Position) error {
	return c.Exec(ctx, "INSERT INTO "+alias+".main.position VALUES (?)", uint64(pos))
}

package rowwriter

import (
	"context"
	"slices"

	"belfry/store/duck/duckdb"
)

// The engine reads and checkpoints a column in vectors of 2,048 rows, and holds all texts of a vector in memory
// meanwhile. With texts of 1 MB that is 2 GB, many times what it has. A text of 4 KiB or more goes to an overflow
// block, and is read once for its row and once more for each later row in which the column is NULL: then 1 GB is held
// for one text.
//
// So two rules bound the memory of a vector, whatever the rows are:
//   - A vector gets no more than VectorBytes of text. If the next row does not fit, the rest of the vector is filled with
//     padding. This also bounds a row group, which each checkpoint rewrites until it is full: it has 60 vectors.
//   - After a text of OverflowBytes or more, a row in which its column is NULL comes only after a row of padding.
//
// A row of padding has an empty text in each text column and NULL in all others. It takes some bytes in the file. No
// condition on customer, time or item is true for it, and every query has one on the customer. Statements without a
// condition must leave these rows out. A real row never has an empty text.
const (
	VectorRows    = 2048
	VectorBytes   = 4 << 20
	OverflowBytes = 4096
)

// Fill is how full the last vector of a file is. The zero value means unknown.
type Fill struct {
	Alias string // of the file when its rows were counted
	Rows  int    // in it
	bytes int    // of texts, without those from before the file was attached
}

// add counts rows, no more than the vector has space for.
func (v *Fill) add(rows, bytes int) {
	v.Rows += rows
	v.bytes += bytes
	if v.Rows == VectorRows {
		v.Rows, v.bytes = 0, 0
	}
}

// fits reports whether rows may go into the vector. A row that is too large for a whole vector gets its own.
func (v *Fill) fits(bytes int) bool { return v.Rows == 0 || v.bytes+bytes <= VectorBytes }

// TextBytes returns the size of the texts of n rows from at, and that of the longest.
func (p Piece) TextBytes(at, n int) (bytes, longest int) {
	for i := range p.Batch.Columns {
		texts := p.Batch.Columns[i].Texts
		switch {
		case texts == nil:
		case p.Rows == nil:
			for _, t := range texts[at : at+n] {
				bytes, longest = bytes+len(t), max(longest, len(t))
			}
		default:
			for _, r := range p.Rows[at : at+n] {
				bytes, longest = bytes+len(texts[r]), max(longest, len(texts[r]))
			}
		}
	}
	return bytes, longest
}

// nextRows returns how many of the n rows from at can be written at once: all, unless texts are long. It writes padding
// before them if necessary.
func (w *rowWriter) nextRows(p Piece, at, n int) (int, error) {
	n = min(n, VectorRows-w.fill.Rows)
	if w.noPadding {
		return n, nil
	}
	bytes, longest := p.TextBytes(at, n)
	if longest >= OverflowBytes || w.anyOverflow() || !w.fill.fits(bytes) {
		n = 1
		if bytes, _ = p.TextBytes(at, 1); !w.fill.fits(bytes) {
			if err := w.pad(VectorRows - w.fill.Rows); err != nil {
				return 0, err
			}
		}
		if err := w.padAfterOverflow(p, at); err != nil {
			return 0, err
		}
	}
	w.fill.add(n, bytes)
	return n, nil
}

func (w *rowWriter) anyOverflow() bool { return slices.Contains(w.overflow, true) }

// padAfterOverflow writes a row of padding if row at has no text in a column in which the row before has a long one.
func (w *rowWriter) padAfterOverflow(p Piece, at int) error {
	if p.Rows != nil {
		at = p.Rows[at]
	}
	size := func(i int) int {
		if c := w.from[i]; c != nil && c.Texts != nil {
			return len(c.Texts[at])
		}
		return 0
	}
	for i := range w.overflow {
		if w.overflow[i] && size(i) == 0 {
			if err := w.pad(1); err != nil {
				return err
			}
			break
		}
	}
	for i := range w.overflow {
		w.overflow[i] = size(i) >= OverflowBytes
	}
	return nil
}

// padAtEnd writes a row of padding if the last row has a long text, because the next row is unknown.
func (w *rowWriter) padAtEnd() error {
	if !w.anyOverflow() {
		return nil
	}
	return w.pad(1)
}

func (w *rowWriter) pad(rows int) error {
	clear(w.overflow)
	for rows > 0 {
		n := min(w.Room(), rows)
		for i := range w.Columns {
			w.Appender.Padding(i, n)
		}
		w.fill.add(n, 0)
		if err := w.Advance(n); err != nil {
			return err
		}
		rows -= n
	}
	return nil
}

// CountFill counts the rows of the last vector of an attached file.
func CountFill(ctx context.Context, c *duckdb.Conn, alias string) (Fill, error) {
	rows, err := c.Number(ctx, "SELECT count(*) FROM "+alias+".main.rows")
	if err != nil {
		return Fill{}, err
	}
	return Fill{Alias: alias, Rows: int(rows % VectorRows)}, nil
}

package rowwriter

import (
	"fmt"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/duckdb"
)

// MaxCommit is how many rows go into one transaction if positions allow it. Above 122,880, the engine's row group, it
// would write row groups straight into the file and leave a small one behind each time, to be merged later: half as
// much work now, but a file of twice the size.
const MaxCommit = 100_000

// Names of the columns every file has.
const (
	CustomerColumn  = "customer"
	IDColumn        = "id"
	TimestampColumn = "timestamp"
)

// Piece is a batch, or the part of it that belongs to one period.
type Piece struct {
	Batch *belfry.Batch
	Rows  []int // nil: all of them

	// Of rows that are copied from another file, in place of what Batch says; with Rows nil.
	Customers, IDs []int64
}

// Len returns the number of rows.
func (p Piece) Len() int {
	if p.Rows != nil {
		return len(p.Rows)
	}
	return p.Batch.Len()
}

// Split calls each with the periods of a batch's rows; rows is nil if they all share one, which is the usual case.
func Split(c *catalog.Collection, b *belfry.Batch, each func(p belfry.Span, rows []int)) {
	p := c.PeriodOf(b.Times[0])
	if !slices.ContainsFunc(b.Times, func(t belfry.Time) bool { return !p.Contains(t) }) {
		each(p, nil)
		return
	}
	parts := map[belfry.Span][]int{}
	for i, t := range b.Times {
		if !p.Contains(t) {
			p = c.PeriodOf(t)
		}
		parts[p] = append(parts[p], i)
	}
	order := make([]belfry.Span, 0, len(parts))
	for p := range parts {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b belfry.Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	for _, p := range order {
		each(p, parts[p])
	}
}

// CountHours counts the rows of a day by hour.
func CountHours(day belfry.Time, pieces []Piece) *[24]int64 {
	var n [24]int64
	for _, p := range pieces {
		if p.Rows == nil {
			for _, at := range p.Batch.Times {
				n[(at-day)/belfry.Hour]++
			}
			continue
		}
		for _, i := range p.Rows {
			n[(p.Batch.Times[i]-day)/belfry.Hour]++
		}
	}
	return &n
}

// BatchesOf returns the batches of which there are pieces.
func BatchesOf(batches []*belfry.Batch, pieces []Piece) []*belfry.Batch {
	in := map[*belfry.Batch]bool{}
	for _, p := range pieces {
		in[p.Batch] = true
	}
	return slices.DeleteFunc(slices.Clone(batches), func(b *belfry.Batch) bool { return !in[b] })
}

// Without returns the batches that are not in a list.
func Without(batches, list []*belfry.Batch) []*belfry.Batch {
	if len(list) == 0 {
		return batches
	}
	return slices.DeleteFunc(slices.Clone(batches), func(b *belfry.Batch) bool { return slices.Contains(list, b) })
}

// CommitSize returns how many pieces go into the next transaction. The pieces of one position stay together.
func CommitSize(pieces []Piece) int {
	rows := 0
	for i, p := range pieces {
		if i > 0 && rows+p.Len() > MaxCommit && p.Batch.Pos != pieces[i-1].Batch.Pos {
			return i
		}
		rows += p.Len()
	}
	return len(pieces)
}

// commonColumns returns the columns that every file has.
func commonColumns() []duckdb.Column {
	return []duckdb.Column{{Name: CustomerColumn, Kind: duckdb.Small}, {Name: IDColumn, Kind: duckdb.ID}, {Name: TimestampColumn, Kind: duckdb.Int}}
}

// Columns returns the columns that the pieces need, starting with those that every file has.
func Columns(c *catalog.Collection, pieces []Piece) ([]duckdb.Column, error) {
	cols := commonColumns()
	if c.Item {
		cols = append(cols, duckdb.Column{Name: belfry.ItemColumn, Kind: duckdb.ID})
	}
	known := make(map[string]duckdb.Kind, 16)
	for _, col := range cols {
		known[col.Name] = col.Kind
	}
	for i, p := range pieces {
		if i > 0 && sameColumns(p.Batch, pieces[i-1].Batch) {
			continue
		}
		for j := range p.Batch.Columns {
			col := columnOf(&p.Batch.Columns[j])
			k, ok := known[col.Name]
			switch {
			case !ok:
				known[col.Name] = col.Kind
				cols = append(cols, col)
			case k != col.Kind || col.Name == IDColumn || col.Name == TimestampColumn:
				return nil, fmt.Errorf("column %q is %s, not %s: the type of a column never changes", col.Name, k.SQL(), col.Kind.SQL())
			}
		}
	}
	return cols, nil
}

func sameColumns(a, b *belfry.Batch) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(a, b belfry.Column) bool { return columnOf(&a) == columnOf(&b) })
}

func columnOf(c *belfry.Column) duckdb.Column {
	switch {
	case c.Numbers != nil:
		return duckdb.Column{Name: c.Name, Kind: duckdb.Number}
	case c.Texts != nil:
		return duckdb.Column{Name: c.Name, Kind: duckdb.Text}
	case c.Name == belfry.ItemColumn:
		return duckdb.Column{Name: c.Name, Kind: duckdb.ID}
	}
	return duckdb.Column{Name: c.Name, Kind: duckdb.Int}
}

// Write writes pieces into the table of rows of a database, with columns that include all of theirs.
func Write(c *duckdb.Conn, alias string, fill Fill, cols []duckdb.Column, pieces []Piece, noPadding bool) (Fill, error) {
	a, err := c.NewAppender(alias, "rows", cols)
	if err != nil {
		return fill, err
	}
	w := rowWriter{Appender: a, from: make([]*belfry.Column, len(cols)), fill: fill, overflow: make([]bool, len(cols)), noPadding: noPadding}
	for _, p := range pieces {
		if err := w.write(p); err != nil {
			a.Discard()
			return fill, err
		}
	}
	if err := w.padAtEnd(); err != nil {
		a.Discard()
		return fill, err
	}
	return w.fill, a.Close()
}

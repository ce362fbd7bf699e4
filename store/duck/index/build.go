package index

import (
	"context"
	"fmt"
	"strings"

	"belfry"
	"belfry/store/duck/duckdb"
)

// Built is a block with its pages, to be written.
type Built struct {
	Block
	data []byte
}

// blockBuilder builds filters of rows that arrive in the order of their row ids.
type blockBuilder struct {
	set   *Set
	some  bool   // there are columns of text
	next  uint64 // row id that comes next
	open  Block  // the block of that row
	begun bool   // open has rows that are not padding
	done  []Built
}

// Build builds the filters of the blocks from up to but not including to of a table, over the given text columns. All rows of these
// blocks must be committed. Without text columns the filters match everything. After an error it returns the blocks that it completed.
func Build(ctx context.Context, c *duckdb.Conn, table string, texts []string, set *Set, from, to int) ([]Built, error) {
	b := &blockBuilder{set: set, some: len(texts) > 0, next: uint64(from) * BlockRows}
	set.Reset()
	var more strings.Builder
	for _, name := range texts {
		more.WriteString(", " + duckdb.QuoteName(name))
	}
	text := fmt.Sprintf("SELECT rowid, customer, id, timestamp%s FROM %s WHERE rowid >= %d AND rowid < %d",
		more.String(), table, from*BlockRows, to*BlockRows)
	err := c.Stream(ctx, text, b.add)
	if err == nil && len(b.done) < to-from {
		err = fmt.Errorf("rows end or change their order at row %d", b.next)
	}
	return b.done, err
}

// add adds a chunk of rows. It reports false if they are not the rows that should come next.
func (b *blockBuilder) add(r *duckdb.Chunk) bool {
	for i := range r.Rows {
		if r.Columns[0].Wide(i) != b.next {
			return false
		}
		if b.next%BlockRows == 0 {
			b.open, b.begun = Block{}, false
		}
		if !r.Columns[1].Null(i) { // padding has no customer
			b.row(r, i)
		}
		b.next++
		if b.next%BlockRows == 0 {
			b.seal()
		}
	}
	return true
}

// row adds a row to the open block.
func (b *blockBuilder) row(r *duckdb.Chunk, i int) {
	customer, id, at := belfry.CustomerID(r.Columns[1].Small(i)), belfry.RowID(r.Columns[2].Wide(i)), belfry.Time(r.Columns[3].Wide(i))
	if !b.begun {
		b.open, b.begun = Block{First: at, Last: at, Low: id, High: id}, true
	}
	b.open.First, b.open.Last = min(b.open.First, at), max(b.open.Last, at)
	b.open.Low, b.open.High, b.open.LastID = min(b.open.Low, id), max(b.open.High, id), id
	for _, col := range r.Columns[4:] {
		if !b.set.Full() {
			b.set.AddText(customer, col.Text(i))
		}
	}
}

// seal completes the open block.
func (b *blockBuilder) seal() {
	built := Built{Block: b.open}
	if b.some && !b.set.Full() {
		built.data, built.pages, built.size = buildPages(int(b.next/BlockRows)-1, b.set.all)
	}
	b.done = append(b.done, built)
	b.set.Reset()
}

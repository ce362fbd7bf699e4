package duck

import (
	"context"
	"fmt"
	"strings"

	"belfry/store/duck/duckdb"

	"belfry"
)

// builtBlock is a block with the pages of its filter.
type builtBlock struct {
	block
	data []byte
}

// blockBuilder makes filters out of rows that come in the order of their row ids.
type blockBuilder struct {
	set   *tokenSet
	some  bool   // there are columns of text
	next  uint64 // row that comes next
	open  block  // the block it belongs to
	begun bool   // it has rows that are not padding
	done  []builtBlock
}

// buildBlocks makes the filters of blocks from to to of a table, all of whose rows are committed, over the given columns
// of text; of none at all, filters that let everything pass. It gives those that it came to, even when it fails.
func buildBlocks(ctx context.Context, c *duckdb.Conn, table string, texts []string, set *tokenSet, from, to int) ([]builtBlock, error) {
	b := &blockBuilder{set: set, some: len(texts) > 0, next: uint64(from) * blockRows}
	set.reset()
	var more strings.Builder
	for _, name := range texts {
		more.WriteString(", " + quoteName(name))
	}
	text := fmt.Sprintf("SELECT rowid, customer, id, timestamp%s FROM %s WHERE rowid >= %d AND rowid < %d",
		more.String(), table, from*blockRows, to*blockRows)
	err := c.Stream(ctx, text, b.add)
	if err == nil && len(b.done) < to-from {
		err = fmt.Errorf("rows end or change their order at row %d", b.next)
	}
	return b.done, err
}

// add takes a chunk of rows; false when they are not those that should come.
func (b *blockBuilder) add(r *duckdb.Chunk) bool {
	for i := range r.Rows {
		if r.Columns[0].Wide(i) != b.next {
			return false
		}
		if b.next%blockRows == 0 {
			b.open, b.begun = block{}, false
		}
		if !r.Columns[1].Null(i) { // padding has no customer
			b.row(r, i)
		}
		b.next++
		if b.next%blockRows == 0 {
			b.seal()
		}
	}
	return true
}

// row adds one row to the open block.
func (b *blockBuilder) row(r *duckdb.Chunk, i int) {
	customer, id, at := belfry.CustomerID(r.Columns[1].Small(i)), belfry.RowID(r.Columns[2].Wide(i)), belfry.Time(r.Columns[3].Wide(i))
	if !b.begun {
		b.open, b.begun = block{first: at, last: at, low: id, high: id}, true
	}
	b.open.first, b.open.last = min(b.open.first, at), max(b.open.last, at)
	b.open.low, b.open.high, b.open.lastID = min(b.open.low, id), max(b.open.high, id), id
	for _, col := range r.Columns[4:] {
		if !b.set.full() {
			b.set.addText(customer, col.Text(i))
		}
	}
}

// seal ends a block.
func (b *blockBuilder) seal() {
	built := builtBlock{block: b.open}
	if b.some && !b.set.full() {
		built.data, built.pages, built.size = buildPages(int(b.next/blockRows)-1, b.set.all)
	}
	b.done = append(b.done, built)
	b.set.reset()
}

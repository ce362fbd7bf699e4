package duck

import (
	"context"
	"fmt"
	"strings"

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
func buildBlocks(ctx context.Context, c *conn, table string, texts []string, set *tokenSet, from, to int) ([]builtBlock, error) {
	b := &blockBuilder{set: set, some: len(texts) > 0, next: uint64(from) * blockRows}
	set.reset()
	var more strings.Builder
	for _, name := range texts {
		more.WriteString(", " + quoteName(name))
	}
	text := fmt.Sprintf("SELECT rowid, customer, id, timestamp%s FROM %s WHERE rowid >= %d AND rowid < %d",
		more.String(), table, from*blockRows, to*blockRows)
	err := c.stream(ctx, text, b.add)
	if err == nil && len(b.done) < to-from {
		err = fmt.Errorf("rows end or change their order at row %d", b.next)
	}
	return b.done, err
}

// add takes a chunk of rows; false when they are not those that should come.
func (b *blockBuilder) add(r *chunkReader) bool {
	for i := range r.rows {
		if r.cols[0].wide(i) != b.next {
			return false
		}
		if b.next%blockRows == 0 {
			b.open, b.begun = block{}, false
		}
		if !r.cols[1].null(i) { // padding has no customer
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
func (b *blockBuilder) row(r *chunkReader, i int) {
	customer, id, at := belfry.CustomerID(r.cols[1].small(i)), belfry.RowID(r.cols[2].wide(i)), belfry.Time(r.cols[3].wide(i))
	if !b.begun {
		b.open, b.begun = block{first: at, last: at, low: id, high: id}, true
	}
	b.open.first, b.open.last = min(b.open.first, at), max(b.open.last, at)
	b.open.low, b.open.high, b.open.lastID = min(b.open.low, id), max(b.open.high, id), id
	for _, col := range r.cols[4:] {
		if !b.set.full() {
			b.set.addText(customer, col.text(i))
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

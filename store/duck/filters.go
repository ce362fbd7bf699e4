package duck

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// filters are the token filters of one file. They cover the rows of its first len(blocks) blocks; later rows are always
// read.
type filters struct {
	mu     sync.Mutex
	alias  string // of the file when the blocks were last compared with its rows; "" never
	blocks []index.Block
}

// blocksOf returns the blocks that cover rows of the file, which the caller holds. If the file was attached again since
// the last call, they are read and compared with its rows: whatever happened to either of them, a filter is never used
// for rows it was not built from.
func (s *Store) blocksOf(ctx context.Context, c *duckdb.Conn, f *file) ([]index.Block, error) {
	t := &f.filters
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.alias == f.alias {
		return t.blocks, nil
	}
	list, err := index.Read(f.path+index.Suffix, index.WordFormat(f.collection))
	if err != nil {
		return nil, fmt.Errorf("read token filters of %s: %w", f.path, err)
	}
	if list, err = confirm(ctx, c, f, list); err != nil {
		return nil, err
	}
	t.alias, t.blocks = f.alias, list
	return list, nil
}

// confirm returns the blocks whose rows the file has.
func confirm(ctx context.Context, c *duckdb.Conn, f *file, list []index.Block) ([]index.Block, error) {
	if len(list) == 0 {
		return nil, nil
	}
	rows, err := c.Number(ctx, "SELECT count(*) FROM "+f.ref())
	if err != nil {
		return nil, err
	}
	list = list[:min(uint64(len(list)), rows/index.BlockRows)]
	if len(list) == 0 {
		return nil, nil
	}
	id, err := c.Number(ctx, fmt.Sprintf("SELECT arg_max(id, rowid) FROM %s WHERE rowid >= %d AND rowid < %d", f.ref(), (len(list)-1)*index.BlockRows, len(list)*index.BlockRows))
	if err != nil || id != uint64(list[len(list)-1].LastID) {
		return nil, err
	}
	return list, nil
}

// dropFrom discards a block whose filter could not be read and all blocks after it. They are built again.
func (t *filters) dropFrom(block int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocks = slices.Clone(t.blocks[:min(block, len(t.blocks))])
}

// extendFilters appends blocks to those that were known when they were built.
func (f *file) extendFilters(old []index.Block, more []index.Built) error {
	t := &f.filters
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.blocks) != len(old) { // damage was found meanwhile
		return nil
	}
	list, err := index.Write(f.path+index.Suffix, index.WordFormat(f.collection), old, more)
	if err != nil {
		return fmt.Errorf("write token filters: %w", err)
	}
	t.blocks = list
	return nil
}

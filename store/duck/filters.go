package duck

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// filters are the token filters of one file. They speak for the rows of its first len(blocks) blocks; what comes after
// is always read.
type filters struct {
	mu     sync.Mutex
	alias  string // of the file when the blocks were last compared with its rows; "" never
	blocks []index.Block
}

// blocksOf gives the blocks that speak for rows of the file, which the caller holds. When the file has been attached
// anew since the last time they are read and compared with its rows: whatever has happened to either of them
// meanwhile, a filter never stands for rows that it was not made from.
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

// confirm keeps the blocks whose rows the file has.
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

// dropFrom says that the filter of a block could not be read: it and those after it are made anew.
func (t *filters) dropFrom(block int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocks = slices.Clone(t.blocks[:min(block, len(t.blocks))])
}

// extendFilters writes more blocks behind those that were known when they were built.
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

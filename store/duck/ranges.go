package duck

import (
	"context"

	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// maxRanges is how many ranges of rows a statement has. Each is a separate branch, which takes the engine half a
// millisecond to plan, on one thread, while it reads a block in one. fewRanges is how many each file may have
// nevertheless.
const (
	maxRanges = 256
	fewRanges = 8
)

// limitToBlocks restricts the tables to the rows that can be in the answer according to the token filters.
func (s *Store) limitToBlocks(ctx context.Context, c *duckdb.Conn, p *query.Plan, used []*file, tables []query.Table) error {
	n := index.TokensOf(p)
	if n == nil || len(p.Collection.Key) > 0 { // the latest row of a key may be in a block without the word
		return nil
	}
	limit := max(maxRanges/max(len(used), 1), fewRanges)
	for i, f := range used {
		ranges, err := s.rowRanges(ctx, c, p, f, n, limit)
		if err != nil {
			return err
		}
		for _, r := range ranges {
			tables[i].Parts = append(tables[i].Parts, r.Condition())
		}
	}
	return nil
}

// rowRanges returns at most limit ranges of rows of a file that can be in the answer; nil when nothing is known.
func (s *Store) rowRanges(ctx context.Context, c *duckdb.Conn, p *query.Plan, f *file, n *index.TokenQuery, limit int) ([]index.RowRange, error) {
	blocks, err := s.blocksOf(ctx, c, f)
	if err != nil {
		return nil, err
	}
	match, ok := s.matching(f, blocks, p, n)
	if !ok {
		return nil, nil
	}
	return index.Ranges(match, blocks, limit), nil
}

// matching returns the blocks that may have rows of the answer; ok is false if that is unknown.
func (s *Store) matching(f *file, blocks []index.Block, p *query.Plan, n *index.TokenQuery) (match []int, ok bool) {
	if len(blocks) == 0 {
		s.indexer.request(f) // it may only be small
		return nil, false
	}
	r, err := index.Open(f.path+index.Suffix, blocks)
	if err != nil { // the rows can be read without filters
		s.cfg.Log.Warn("a token filter cannot be read, so all rows are read", "file", f.path+index.Suffix, "err", err)
		s.indexer.request(f)
		return nil, false
	}
	defer r.Close()
	match = r.Matching(n, p.From, p.To)
	if block, damaged := r.Damaged(); damaged {
		f.filters.dropFrom(block)
		s.indexer.request(f)
	}
	return match, true
}

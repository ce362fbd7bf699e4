package duck

import (
	"context"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// The last rows with a common word are in the last blocks of the newest file, so there is no need to test every text of
// the day for them.

// latestBlocks are the numbers of blocks at the end of the newest file that are tried before everything is read, of
// those that may have the word at all. A rare word is in few blocks, and trying some of them would hardly be cheaper
// than reading all.
var latestBlocks = [...]int{16, 128}

// endsInBlocks reports whether the latest rows of a plan may be found at the end of its newest file.
func endsInBlocks(p *query.Plan, periods []belfry.Span) bool {
	return len(periods) > 0 && p.Where != nil && len(index.TextColumns(p.Collection)) > 0 && firstTry(p, 3) < 3 && p.Order[0].Desc
}

// endsOf returns the times of the last rows of the blocks that may have rows of the answer.
func (s *Store) endsOf(ctx context.Context, c *duckdb.Conn, p *query.Plan, newest []belfry.Span) (ends []belfry.Time, err error) {
	used, err := s.files.acquireAll(ctx, s.files.list(p.Collection, newest))
	if err != nil || len(used) == 0 {
		return nil, err
	}
	defer func() { s.files.finish(used, err) }()
	blocks, err := s.blocksOf(ctx, c, used[0])
	if err != nil {
		return nil, err
	}
	if n := index.TokensOf(p); n != nil {
		match, _ := s.matching(used[0], blocks, p, n)
		for _, i := range match {
			ends = append(ends, blocks[i].Last)
		}
		return ends, nil
	}
	for _, b := range blocks {
		ends = append(ends, b.Last)
	}
	return ends, nil
}

// findRecent turns a plan of the most recent rows into one that selects them by time and id, which it finds with a
// separate statement. The new plan is answered like one with a span: in pages, if its order allows them.
func (s *Store) findRecent(ctx context.Context, p *query.Plan) (*query.Plan, error) {
	newest, err := s.read(ctx, p.Newest(), 0)
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	if newest.result.Rows == 0 {
		return p.Empty(), nil
	}
	var oldest query.Cursor
	var last belfry.RowID
	for newest.result.Next() {
		oldest = query.Cursor{Time: belfry.Time(newest.result.Int(0)), ID: belfry.RowID(newest.result.Int(1))}
		last = max(last, oldest.ID)
	}
	return p.Among(oldest, last), nil
}

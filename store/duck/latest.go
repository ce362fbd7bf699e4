package duck

import (
	"context"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// The last rows with a word that many have are in the last blocks of the newest file, and there is no need to test every
// text of the day for them.

// latestBlocks are how many blocks at the end of the newest file are tried before everything is read, of those that may
// have the word at all. Where it is rare they are most of what there is, and a try would hardly be cheaper than the whole.
var latestBlocks = [...]int{16, 128}

// selectLatest asks for the rows at the end of the newest file alone; nil when they are not enough for an answer. A row that
// is newer than all of the blocks before cannot be in them, late as rows may come.
func (s *Store) selectLatest(ctx context.Context, c *duckdb.Conn, p *query.Plan, periods []belfry.Span) (*rows, error) {
	if len(periods) == 0 || p.Where == nil || len(index.TextColumns(p.Collection)) == 0 || firstTry(p, 3) == 3 || !p.Order[0].Desc {
		return nil, nil
	}
	newest := periods[len(periods)-1:]
	ends, err := s.endsOf(ctx, c, p, newest)
	if err != nil {
		return nil, err
	}
	for _, n := range latestBlocks {
		from := latestFrom(ends, n)
		if from <= p.From || from > p.To {
			return nil, nil
		}
		some := *p
		some.From = from
		r, err := s.queryFiles(ctx, c, &some, newest)
		if err != nil || r.result.Rows > p.Limit || r.result.Cut {
			return r, err
		}
	}
	return nil, nil
}

// endsOf gives the times of the last rows of the blocks that may have rows of the answer.
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

// latestFrom is the moment from which on all rows are in the last n of the blocks that end so; 0 when that is half of them.
func latestFrom(ends []belfry.Time, n int) (from belfry.Time) {
	if len(ends) <= 2*n {
		return 0
	}
	for _, end := range ends[:len(ends)-n] {
		from = max(from, end+1)
	}
	return from
}

// locateRecent turns a plan that reads the most recent rows into one that finds them by their places. It is then answered as one of a
// span is: in pages where its order has some. The places come from a statement of their own.
func (s *Store) locateRecent(ctx context.Context, p *query.Plan) (*query.Plan, error) {
	newest, err := s.withSlot(ctx, p.Newest(), int(s.cfg.Answer))
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	if newest.result.Cut {
		return nil, errLarge
	}
	if newest.result.Rows == 0 {
		return emptyPlan(p), nil
	}
	var oldest query.Place
	var last belfry.RowID
	for newest.result.Next() {
		oldest = query.Place{Time: belfry.Time(newest.result.Int(0)), ID: belfry.RowID(newest.result.Int(1))}
		last = max(last, oldest.ID)
	}
	return p.Among(oldest, last), nil
}

// narrowToRecent narrows a plan of the most recent rows, of which it makes groups, or that are summaries, to the span in which these
// are. How far back they reach is found as for any plan that wants the latest rows: with the newest files, and with more only
// while there are too few rows. Rows that are stored meanwhile do no harm, as the statement counts the rows that it reads.
func (s *Store) narrowToRecent(ctx context.Context, c *duckdb.Conn, p *query.Plan) (*query.Plan, error) {
	newest, err := s.selectFiles(ctx, c, p.Newest())
	if err != nil {
		return nil, err
	}
	if newest.result.Cut {
		return nil, errLarge
	}
	if newest.result.Rows == 0 {
		return emptyPlan(p), nil
	}
	q := *p
	newest.result.Seek(newest.result.Rows - 1)
	q.From = belfry.Time(newest.result.Int(0))
	return &q, nil
}

// emptyPlan is the plan with an empty span.
func emptyPlan(p *query.Plan) *query.Plan {
	q := *p
	q.From, q.To = 1, 0
	return &q
}

package duck

import (
	"context"

	"belfry"
	"belfry/query"
)

// The last rows with a word that many have are in the last blocks of the newest file, and there is no need to test every
// text of the day for them.

// latestBlocks are how many blocks at the end of the newest file are tried before everything is read.
var latestBlocks = [...]int{16, 128}

// askLatest asks for the rows at the end of the newest file alone; nil when they are not enough for an answer. A row that
// is newer than all of the blocks before cannot be in them, late as rows may come.
func (s *Store) askLatest(ctx context.Context, c *conn, p *query.Plan, periods []period) (*rows, error) {
	if len(periods) == 0 || p.Where == nil || len(textColumns(p.Collection)) == 0 || firstTry(p, 3) == 3 || !p.Order[0].Desc {
		return nil, nil
	}
	newest := periods[len(periods)-1:]
	for _, n := range latestBlocks {
		from, err := s.latestFrom(ctx, c, p, newest, n)
		if err != nil || from <= p.From || from > p.To {
			return nil, err
		}
		some := *p
		some.From = from
		r, err := s.askSome(ctx, c, &some, newest)
		if err != nil || r.result.rows > p.Limit || r.result.cut {
			return r, err
		}
	}
	return nil, nil
}

// latestFrom is the moment from which on all rows of a file are in its last n blocks or behind them; 0 when it has no more.
func (s *Store) latestFrom(ctx context.Context, c *conn, p *query.Plan, newest []period, n int) (from belfry.Time, err error) {
	used, err := s.files.acquireAll(ctx, s.files.list(p.Collection, newest))
	if err != nil || len(used) == 0 {
		return 0, err
	}
	defer func() { s.files.finish(used, err) }()
	blocks, err := s.blocksOf(ctx, c, used[0])
	if err != nil || len(blocks) <= n {
		return 0, err
	}
	for _, b := range blocks[:len(blocks)-n] {
		from = max(from, b.last+1)
	}
	return from, nil
}

package duck

import (
	"context"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// among turns a plan that reads the most recent rows into one that finds them by their places. It is then answered as one of a
// span is: in pages where its order has some. The places come from a statement of their own.
func (s *Store) among(ctx context.Context, p *query.Plan) (*query.Plan, error) {
	newest, err := s.withSlot(ctx, p.Newest(), int(s.cfg.Answer))
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	if newest.result.Cut {
		return nil, errLarge
	}
	if newest.result.Rows == 0 {
		return nothing(p), nil
	}
	var oldest query.Place
	var last belfry.RowID
	for newest.result.Next() {
		oldest = query.Place{Time: belfry.Time(newest.result.Int(0)), ID: belfry.RowID(newest.result.Int(1))}
		last = max(last, oldest.ID)
	}
	return p.Among(oldest, last), nil
}

// recent narrows a plan of the most recent rows, of which it makes groups, or that are summaries, to the span in which these
// are. How far back they reach is found as for any plan that wants the latest rows: with the newest files, and with more only
// while there are too few rows. Rows that are stored meanwhile do no harm, as the statement counts the rows that it reads.
func (s *Store) recent(ctx context.Context, c *duckdb.Conn, p *query.Plan) (*query.Plan, error) {
	newest, err := s.selectFiles(ctx, c, p.Newest())
	if err != nil {
		return nil, err
	}
	if newest.result.Cut {
		return nil, errLarge
	}
	if newest.result.Rows == 0 {
		return nothing(p), nil
	}
	q := *p
	newest.result.Seek(newest.result.Rows - 1)
	q.From = belfry.Time(newest.result.Int(0))
	return &q, nil
}

// nothing is the plan with an empty span.
func nothing(p *query.Plan) *query.Plan {
	q := *p
	q.From, q.To = 1, 0
	return &q
}

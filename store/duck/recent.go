package duck

import (
	"context"

	"belfry"
	"belfry/query"
)

// recent narrows a plan that makes its groups of the most recent rows to the span in which these are. How far back they
// reach is found as for any plan that wants the latest rows: with the newest files, and with more only while there are too few
// rows. Rows that are stored meanwhile do no harm, as the statement counts the rows that it reads.
func (s *Store) recent(ctx context.Context, c *conn, p *query.Plan) (*query.Plan, error) {
	newest, err := s.askFiles(ctx, c, p.Newest())
	if err != nil {
		return nil, err
	}
	if newest.result.cut {
		return nil, errLarge
	}
	q := *p
	if newest.result.row = newest.result.rows; newest.result.row == 0 { // there is none
		q.From, q.To = 1, 0
	} else {
		q.From = belfry.Time(newest.result.int(0))
	}
	return &q, nil
}

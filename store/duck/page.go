package duck

import (
	"context"
	"errors"
	"io"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowwriter"
)

// rows is the answer to a plan, or a page of it.
type rows struct {
	*query.HeldRows
	result *duckdb.Result
	asked  int // rows of the page; 0: the whole answer was asked for
}

// An answer stays in our memory while its client reads it. To avoid a thousand lines of a megabyte there, rows in order
// of time are fetched page by page, as the client reads them:
//
//	SELECT … LIMIT 1024                                      first page
//	SELECT … WHERE (timestamp, id) is after the last …       as many as will fit, by the size of the rows so far
//
// Each page is a separate statement, so that a slow client holds neither files nor engine. A page ends early when it
// has pageBytes. Rows in any other order must be complete before the first can be sent; they may take answerBytes.
const (
	firstPage   = 1024
	pageGrowth  = 16
	pageBytes   = 16 << 20
	answerBytes = 64 << 20
)

// pageBytes returns the maximum size of a page; smaller if the limit of an answer is low.
func (s *Store) pageBytes() int { return min(pageBytes, int(s.cfg.Answer/4)) }

// errLarge means that an answer is larger than allowed.
var errLarge = errors.New("the answer is too large")

// pages are the rows of a plan, one page of them in memory.
type pages struct {
	store *Store
	ctx   context.Context
	plan  *query.Plan
	page  *rows
	left  int // rows after those of this page
	last  query.Cursor
	known rowwriter.Arrival // of the time when the first page was read
}

// setPage replaces the page by the next one.
func (g *pages) setPage(page *rows) {
	g.page = page
	g.left -= page.result.Rows
	if page.result.Rows < page.asked && !page.result.Cut {
		g.left = 0 // there are no more
	}
}

// next returns how many rows to fetch, by the size of those of this page.
func (g *pages) next() int {
	r := g.page.result
	each := max(1, r.Bytes/max(1, r.Rows))
	return max(1, min(g.left, pageGrowth*r.Rows, g.store.pageBytes()/each))
}

func (g *pages) Columns() []query.Output {
	c := g.page.Columns()
	return c[:len(c)-2]
}

func (g *pages) Next() ([]belfry.Value, error) {
	for {
		row, err := g.page.Next()
		if err == io.EOF && g.left > 0 {
			n := g.next()
			g.page.Close()
			page, err := g.store.read(g.ctx, g.plan.After(g.last, g.bound()), n)
			if err != nil {
				return nil, g.store.explain(g.ctx, g.plan, err)
			}
			g.setPage(page)
			continue
		}
		if err != nil {
			return nil, err
		}
		row, g.last = query.CursorOf(row)
		return row, nil
	}
}

// bound returns the id of the newest row that belongs to the answer; 0 while no newer ones have arrived.
func (g *pages) bound() belfry.RowID {
	if g.known.Last != 0 {
		return g.known.Last
	}
	if now := g.store.arrivals.Of(g.plan.Customer); now.First > 1 {
		return now.First - 1
	}
	return 0
}

func (g *pages) Close() error {
	g.left = 0
	return g.page.Close()
}

// acquireComplete returns the files of the span of a plan, and records in the plan what is missing.
func (s *Store) acquireComplete(ctx context.Context, p *query.Plan) ([]*file, error) {
	for {
		losses := s.files.losses()
		err := s.checkComplete(p)
		if err != nil {
			return nil, err
		}
		used, err := s.files.acquire(ctx, p.Collection, p.From, p.To)
		if ctx.Err() != nil || s.files.losses() == losses {
			return used, err
		}
		s.files.finish(used, nil)
	}
}

// fixColumns fixes the columns of a plan to those that its files have, so that each of its pages has the same.
func (s *Store) fixColumns(ctx context.Context, p *query.Plan) (*query.Plan, error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	used, err := s.acquireComplete(ctx, p)
	if err != nil {
		return nil, err
	}
	defer s.files.finish(used, nil)
	tables := s.files.tables(used)
	return p.Fixed(func(column string) bool {
		for _, t := range tables {
			if t.Has(column) {
				return true
			}
		}
		return false
	}), nil
}

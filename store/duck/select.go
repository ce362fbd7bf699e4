package duck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"belfry"
	"belfry/query"
	"belfry/store/duck/dialect"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/names"
	"belfry/store/duck/slots"
)

// A plan passes through four functions:
//
//	Select     finds the most recent rows, if the plan wants those, and reads a page, if the order allows pages
//	read       repeats what failed for lack of memory or because the engine broke down
//	runInSlot  waits for a slot
//	run        the statements, on one connection; repeats them without a file that turned out to be damaged

// Select implements store.Store. When it returns, a page is in our memory, or the complete answer if its order does not
// allow pages: a slow client holds neither files nor engine. ctx must last until the rows are closed.
func (s *Store) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	plan, err := s.prepare(ctx, p)
	if err != nil {
		return nil, s.explain(ctx, p, err)
	}
	n := 0 // no pages
	if plan.Paged() {
		n = min(firstPage, plan.Limit+1)
	}
	known := s.arrivals.Of(p.Customer)
	r, err := s.read(ctx, plan, n)
	switch {
	case err != nil:
		return nil, s.explain(ctx, p, err)
	case n == 0:
		return r.HeldRows, nil
	}
	g := &pages{store: s, ctx: ctx, plan: plan, left: plan.Limit + 1, known: known}
	g.setPage(r)
	return g, nil
}

// prepare returns the plan to run instead of a client's: of the most recent rows it knows the place, and its pages all
// have the same columns. It records in the plan which days are missing in an answer of pages.
func (s *Store) prepare(ctx context.Context, p *query.Plan) (_ *query.Plan, err error) {
	if p.Recent() && p.Grouping == nil && p.Period == "" {
		if p, err = s.findRecent(ctx, p); err != nil {
			return nil, err
		}
	}
	if !p.Paged() {
		return p, nil
	}
	if p.Open() && p.Limit >= firstPage {
		if p, err = s.fixColumns(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, s.checkComplete(p)
}

// read runs a plan in a slot of its customer and returns a page of n rows, or with n 0 the whole answer. If the engine
// runs out of memory over a page, it reads a smaller one.
func (s *Store) read(ctx context.Context, p *query.Plan, n int) (*rows, error) {
	page, limit := p, int(s.cfg.Answer)
	if n > 0 {
		page, limit = p.Page(n), s.pageBytes()
	}
	r, err := s.runInSlot(ctx, page, limit)
	switch {
	case errors.Is(err, errFile) && duckdb.OutOfMemory(err):
		tooLittle := err
		r, err = slots.Await(ctx, func() (*rows, error) { return s.runAlone(ctx, page, limit, tooLittle) })
	case errors.Is(err, errDown) || duckdb.IsKind(err, duckdb.FatalError, duckdb.InternalError):
		if failed := s.restartIfBroken(ctx); failed != nil {
			return nil, errors.Join(err, failed)
		}
		r, err = s.runInSlot(ctx, page, limit)
	}
	if n > 1 && duckdb.OutOfMemory(err) && ctx.Err() == nil {
		return s.read(ctx, p, max(1, n/pageGrowth))
	}
	if err == nil {
		err = s.reserveAnswer(r)
	}
	if err != nil {
		return nil, err
	}
	if n == 0 && r.result.Cut {
		r.Close()
		return nil, errLarge
	}
	r.asked = n
	return r, nil
}

// runInSlot runs a plan in a slot of its customer. It ends when ctx does, or when the memory of the query is needed.
func (s *Store) runInSlot(ctx context.Context, p *query.Plan, limit int) (*rows, error) {
	inner, leave, err := s.enter(ctx, p.Customer)
	if err != nil {
		return nil, err
	}
	r, err := slots.Await(ctx, func() (*rows, error) {
		defer leave()
		return s.run(inner, p, limit)
	})
	if err != nil && context.Cause(inner) == slots.ErrEvicted {
		return nil, belfry.Errorf(belfry.Overloaded, "the query on %s was ended, as its memory was needed for rows to be stored; narrow its time span, or try again shortly", p.Collection.Name)
	}
	return r, err
}

// run answers a plan on a connection of its own, with as many rows as fit into limit bytes. If a file was lost meanwhile
// it starts again, as the answer may lack a day that it does not name.
func (s *Store) run(ctx context.Context, p *query.Plan, limit int) (_ *rows, err error) {
	c, giveBack, err := s.borrow(limit)
	if err != nil {
		return nil, err
	}
	a := &reading{store: s, ctx: ctx, conn: c}
	sound := false
	defer func() { // after a panic, too
		a.release(err)
		giveBack(sound)
	}()
	for {
		losses := s.files.losses()
		a.steps(p, func(st step) {
			var stmt *query.Statement
			var res *duckdb.Result
			tables, err := a.acquire(st)
			if err == nil {
				stmt, err = query.SQL(st.plan, dialect.New(names.Table), tables)
			}
			if err == nil {
				res, err = c.Query(ctx, stmt.Text, stmt.Args...)
			}
			a.release(err)
			a.record(stmt, res, err)
		})
		if ctx.Err() != nil || s.files.losses() == losses {
			sound = a.err == nil
			return a.rows, a.err
		}
	}
}

// enter waits for a slot of the customer, which leave returns. The context it returns is cancelled when the memory of
// the query is needed.
func (s *Store) enter(ctx context.Context, c belfry.CustomerID) (inner context.Context, leave func(), err error) {
	if err := s.slots.Enter(ctx, c); err != nil {
		return nil, nil, err
	}
	inner, q, err := s.queries.Enter(ctx)
	if err != nil {
		s.slots.Leave(c)
		return nil, nil, err
	}
	return inner, func() {
		s.queries.Leave(q)
		s.slots.Leave(c)
	}, nil
}

// borrow returns a connection. The engine is not replaced until giveBack is called, which says whether the connection is
// sound.
func (s *Store) borrow(limit int) (c *duckdb.Conn, giveBack func(sound bool), err error) {
	s.engineMu.RLock()
	if err = s.usable(); err == nil {
		c, err = s.engine.Borrow()
	}
	if err != nil {
		s.engineMu.RUnlock()
		return nil, nil, err
	}
	c.Limit = limit
	stop := func() {}
	if s.cfg.Quick != s.cfg.Behind {
		stop = c.LowerPriorityAfter(duckdb.QuickTime, s.cfg.Behind)
	}
	return c, func(sound bool) {
		stop()
		s.engine.Return(c, sound)
		s.engineMu.RUnlock()
	}, nil
}

// restartIfBroken restarts the engine if no one else has. After a serious error, such as in a write to a file of summaries,
// it fails for all queries; the writer restarts it, too.
func (s *Store) restartIfBroken(ctx context.Context) error {
	if err := s.lockWrite(ctx); err != nil {
		return err
	}
	defer s.unlockWrite()
	if !s.engineBroken(ctx) {
		return nil
	}
	return s.restartEngine(ctx)
}

// reserveAnswer counts the memory of an answer until it is closed, or refuses it if clients have left too much unread.
func (s *Store) reserveAnswer(r *rows) error {
	bytes := int64(r.result.Bytes)
	if s.unreadBytes.Add(bytes) > s.cfg.Answers {
		s.unreadBytes.Add(-bytes)
		return belfry.Errorf(belfry.Overloaded, "answers that clients have not read yet take %d MiB, as much as they may; try again shortly", s.cfg.Answers>>20)
	}
	r.Release = sync.OnceFunc(func() { s.unreadBytes.Add(-bytes) })
	return nil
}

// explain turns an error into one for the client, if the client can do something about it. Messages of the engine are
// not passed on.
func (s *Store) explain(ctx context.Context, p *query.Plan, err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return belfry.Errorf(belfry.BadQuery, "the query on %s took longer than a query may; narrow its time span or its conditions", p.Collection.Name)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errLarge):
		return belfry.Errorf(belfry.BadQuery, "the answer of the query on %s is larger than %d MiB, and its order does not let it be sent in parts; ask for fewer rows or fields, or ORDER BY timestamp", p.Collection.Name, s.cfg.Answer>>20)
	case duckdb.OutOfMemory(err):
		return belfry.Errorf(belfry.BadQuery, "the query on %s needs more memory than a query may have; narrow its time span, or ask for fewer fields or rows", p.Collection.Name)
	case duckdb.IsKind(err, duckdb.BinderError) && strings.Contains(err.Error(), "expression depth limit"):
		return belfry.Errorf(belfry.BadQuery, "the query on %s has too many conditions; write fewer, or IN for a list of values", p.Collection.Name)
	case duckdb.IsKind(err, duckdb.OutOfRangeError):
		return belfry.Errorf(belfry.BadQuery, "a result of the query on %s is larger than a number can be; narrow its conditions to smaller numbers", p.Collection.Name)
	}
	return fmt.Errorf("query %s: %w", p.Collection.Name, err)
}

package duck

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"belfry"
	"belfry/query"
	"belfry/store/duck/dialect"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/names"
	"belfry/store/duck/slots"
)

// A plan passes through six functions, each of which adds one thing:
//
//	Select       pages, if the order allows them; errors that the client can understand
//	withSlot     a slot of the customer; it catches panics, and retries what failed for lack of memory or of the engine
//	withConn     a connection; it runs the plan again without files that turn out to be damaged
//	selectFiles  the files: summaries or rows, as few as the order allows
//	queryFiles   attached files, without the blocks that cannot have rows of the answer
//	runSQL       the statement

// Select implements store.Store. When it returns, a page is in our memory, or the complete answer if its order does not
// allow pages: a slow client holds neither files nor engine. ctx must last until the rows are closed.
func (s *Store) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if p.Recent() && p.Grouping == nil && p.Period == "" {
		q, err := s.locateRecent(ctx, p)
		if err != nil {
			return nil, s.explain(ctx, p, err)
		}
		p = q
	}
	if p.Paged() {
		g, err := s.openPages(ctx, p)
		if err != nil {
			return nil, err
		}
		return g, nil
	}
	rows, err := s.withSlot(ctx, p, int(s.cfg.Answer))
	if err == nil && rows.result.Cut {
		rows.Close()
		err = errLarge
	}
	if err != nil {
		return nil, s.explain(ctx, p, err)
	}
	return rows, nil
}

// outcome is the result of a query that ran in a goroutine of its own.
type outcome struct {
	rows  *rows
	err   error
	fault string // a panic, which must end only the request and not the process
}

// withSlot waits for a slot, runs the plan, and keeps as many of its rows as fit into limit bytes.
func (s *Store) withSlot(ctx context.Context, p *query.Plan, limit int) (*rows, error) {
	if err := s.slots.Enter(ctx, p.Customer); err != nil {
		return nil, err
	}
	inner, me, err := s.queries.Enter(ctx)
	if err != nil {
		s.slots.Leave(p.Customer)
		return nil, err
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.slots.Leave(p.Customer)
		defer s.queries.Leave(me)
		var out outcome
		defer func() {
			if v := recover(); v != nil {
				out.fault = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
			done <- out
		}()
		out.rows, out.err = s.withConn(inner, p, limit)
	}()
	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done(): // the engine checks for interrupts every few thousand rows; until then the slot stays in use
		return nil, ctx.Err()
	}
	switch {
	case out.fault != "":
		panic(out.fault)
	case out.err != nil && context.Cause(inner) == slots.ErrEvicted:
		return nil, belfry.Errorf(belfry.Overloaded, "the query on %s was ended, as its memory was needed for rows to be stored; narrow its time span, or try again shortly", p.Collection.Name)
	case errors.Is(out.err, errFile) && duckdb.OutOfMemory(out.err):
		return s.retryAlone(ctx, p, limit, out.err)
	case errors.Is(out.err, errDown) || duckdb.IsKind(out.err, duckdb.FatalError, duckdb.InternalError):
		out.rows, out.err = s.retryAfterRestart(ctx, p, limit, out.err)
	}
	if out.err != nil {
		return nil, out.err
	}
	return out.rows, s.reserveAnswer(out.rows)
}

// retryAfterRestart runs a plan once more after the engine has failed. It fails for all queries after a serious error
// elsewhere, such as in a write to a file of summaries. The writer restarts it; if it has not yet, this does.
func (s *Store) retryAfterRestart(ctx context.Context, p *query.Plan, limit int, err error) (*rows, error) {
	if s.lockWrite(ctx) != nil {
		return nil, err
	}
	if s.engineBroken(ctx) {
		if failed := s.restartEngine(ctx); failed != nil {
			s.unlockWrite()
			return nil, errors.Join(err, failed)
		}
	}
	s.unlockWrite()
	return s.withConn(ctx, p, limit)
}

// reserveAnswer counts the memory of an answer until it is closed, or refuses it if clients have left too much unread.
func (s *Store) reserveAnswer(r *rows) error {
	bytes := int64(r.result.Bytes)
	if s.unreadBytes.Add(bytes) > s.cfg.Answers {
		s.unreadBytes.Add(-bytes)
		return belfry.Errorf(belfry.Overloaded, "answers that clients have not read yet take %d MiB, as much as they may; try again shortly", s.cfg.Answers>>20)
	}
	r.release = sync.OnceFunc(func() { s.unreadBytes.Add(-bytes) })
	return nil
}

// withConn runs the plan on its own connection. If a file was lost meanwhile it runs the plan again, as the answer may
// lack a day that it does not name.
func (s *Store) withConn(ctx context.Context, p *query.Plan, limit int) (*rows, error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	c, err := s.engine.Borrow()
	if err != nil {
		return nil, err
	}
	sound := false
	defer func() { s.engine.Return(c, sound) }()
	c.Limit = limit
	if s.cfg.Quick != s.cfg.Behind {
		defer c.LowerPriorityAfter(duckdb.QuickTime, s.cfg.Behind)()
	}
	for {
		losses := s.files.losses()
		r, err := s.selectFiles(ctx, c, p)
		if ctx.Err() != nil || s.files.losses() == losses {
			sound = err == nil
			return r, err
		}
	}
}

// selectFiles runs the plan on the files of its span. If rows are wanted in order of time it starts with the files at
// that end, and reads more only while there are too few rows: the others cannot have any that come before.
func (s *Store) selectFiles(ctx context.Context, c *duckdb.Conn, p *query.Plan) (_ *rows, err error) {
	if p.Recent() {
		if p, err = s.narrowToRecent(ctx, c, p); err != nil {
			return nil, err
		}
	}
	if err := s.complete(p); err != nil {
		return nil, err
	}
	if p.Period != "" {
		return s.selectSummaries(ctx, c, p)
	}
	if by, ok := s.fromSummaries(p); ok {
		return retryInvalidated(func() (*rows, error) { return s.groupSummaries(ctx, c, p, by) })
	}
	periods := s.files.periods(p.Collection, p.From, p.To)
	if r, err := s.selectLatest(ctx, c, p, periods); r != nil || err != nil {
		if err == nil && latestOnly(p) {
			err = s.completeFrom(p, periods[len(periods)-1].From)
		}
		return r, err
	}
	w := s.walk(p, periods)
	w.extend(firstTry(p, len(periods)))
	for {
		r, err := s.queryFiles(ctx, c, p, w.found)
		if err != nil || r.result.Rows > p.Limit || r.result.Cut || !w.extend(8*len(w.found)) {
			if err == nil && latestOnly(p) {
				err = s.completeFrom(p, w.reached(r.result.Rows > p.Limit || r.result.Cut))
			}
			return r, err
		}
	}
}

// queryFiles runs the plan on the files of some periods.
func (s *Store) queryFiles(ctx context.Context, c *duckdb.Conn, p *query.Plan, periods []belfry.Span) (*rows, error) {
	return retryInvalidated(func() (_ *rows, err error) {
		var used []*file
		if len(periods) > 0 {
			used, err = s.files.acquireAll(ctx, s.files.list(p.Collection, periods))
			if err != nil {
				return nil, err
			}
			defer func() { s.files.finish(used, err) }()
		}
		tables := s.files.tables(used)
		if err := s.narrow(ctx, c, p, used, tables); err != nil {
			return nil, err
		}
		return s.runSQL(ctx, c, p, tables)
	})
}

// retryInvalidated runs a query once more if an earlier failure had invalidated a file: it is attached again by then.
func retryInvalidated(run func() (*rows, error)) (*rows, error) {
	r, err := run()
	if err != nil && strings.Contains(err.Error(), "has been invalidated") {
		r, err = run()
	}
	return r, err
}

// runSQL runs the plan on the given tables.
func (s *Store) runSQL(ctx context.Context, c *duckdb.Conn, p *query.Plan, tables []query.Table) (*rows, error) {
	stmt, err := query.SQL(p, dialect.New(names.Table), tables)
	if err != nil {
		return nil, err
	}
	res, err := c.Query(ctx, stmt.Text, stmt.Args...)
	if err != nil {
		return nil, err
	}
	return &rows{stmt: stmt, result: res, row: make([]belfry.Value, len(stmt.Columns))}, nil
}

// firstTry returns how many of n files to start with.
func firstTry(p *query.Plan, n int) int {
	if _, byTime := p.ByTime(); !byTime || p.Grouping != nil || p.Recent() {
		return n
	}
	return min(n, 2) // two, because the newest is nearly empty just after midnight
}

// atEnd returns the n periods where the order of the plan begins.
func atEnd(p *query.Plan, periods []belfry.Span, n int) []belfry.Span {
	if len(p.Order) > 0 && !p.Order[0].Desc {
		return periods[:n]
	}
	return periods[len(periods)-n:]
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
	case duckdb.IsKind(err, duckdb.OutOfRangeError):
		return belfry.Errorf(belfry.BadQuery, "a result of the query on %s is larger than a number can be; narrow its conditions to smaller numbers", p.Collection.Name)
	}
	return fmt.Errorf("query %s: %w", p.Collection.Name, err)
}

package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store/duck/dialect"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/summary"
)

// Select implements store.Store. What is in our memory when it returns is a page, or the complete answer if its order
// has no pages: a client that reads slowly holds neither files nor engine. ctx must last until the rows are closed.
func (s *Store) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if p.Recent() && p.Grouping == nil && p.Period == "" {
		q, err := s.among(ctx, p)
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
	rows, err := s.statement(ctx, p, int(s.cfg.Answer))
	if err == nil && rows.result.Cut {
		rows.Close()
		err = errLarge
	}
	if err != nil {
		return nil, s.explain(ctx, p, err)
	}
	return rows, nil
}

// statement runs a plan once there is a place for it, and reads its rows as far as they fit into so many bytes.
func (s *Store) statement(ctx context.Context, p *query.Plan, most int) (*rows, error) {
	if err := s.slots.enter(ctx, p.Customer); err != nil {
		return nil, err
	}
	inner, me, err := s.runs.enter(ctx)
	if err != nil {
		s.slots.leave(p.Customer)
		return nil, err
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.slots.leave(p.Customer)
		defer s.runs.leave(me)
		done <- s.attempt(inner, p, most)
	}()
	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done(): // the engine looks up after every few thousand rows; until it does, the place stays taken
		return nil, ctx.Err()
	}
	switch {
	case out.fault != "":
		panic(out.fault)
	case out.err != nil && context.Cause(inner) == errEvicted:
		return nil, belfry.Errorf(belfry.Overloaded, "the query on %s was ended, as its memory was needed for rows to be stored; narrow its time span, or try again shortly", p.Collection.Name)
	case errors.Is(out.err, errFile) && shortOfMemory(out.err):
		return s.answerAlone(ctx, p, most, out.err)
	case errors.Is(out.err, errDown) || duckdb.IsKind(out.err, duckdb.FatalError, duckdb.InternalError):
		out.rows, out.err = s.answerAnew(ctx, p, most, out.err)
	}
	if out.err != nil {
		return nil, out.err
	}
	return out.rows, s.hold(out.rows)
}

// answerAnew answers a plan once more after the engine has given up, which it does for all when something else fails badly, as a write to a file of
// summaries. Who writes starts it anew; if nobody does, it is done here.
func (s *Store) answerAnew(ctx context.Context, p *query.Plan, most int, err error) (*rows, error) {
	if s.lockWrite(ctx) != nil {
		return nil, err
	}
	if s.broken(ctx) {
		if failed := s.revive(ctx); failed != nil {
			s.unlockWrite()
			return nil, errors.Join(err, failed)
		}
	}
	s.unlockWrite()
	return s.answer(ctx, p, most)
}

// hold books the memory of an answer until it is closed, or refuses it when clients have left too much unread.
func (s *Store) hold(r *rows) error {
	bytes := int64(r.result.Bytes)
	if s.unread.Add(bytes) > s.cfg.Answers {
		s.unread.Add(-bytes)
		return belfry.Errorf(belfry.Overloaded, "answers that clients have not read yet take %d MiB, as much as they may; try again shortly", s.cfg.Answers>>20)
	}
	r.release = sync.OnceFunc(func() { s.unread.Add(-bytes) })
	return nil
}

// outcome is what became of a statement.
type outcome struct {
	rows  *rows
	err   error
	fault string // a panic; it must not end the process, but the request alone
}

func (s *Store) attempt(ctx context.Context, p *query.Plan, most int) (out outcome) {
	defer func() {
		if v := recover(); v != nil {
			out.fault = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	out.rows, out.err = s.answer(ctx, p, most)
	return out
}

func (s *Store) answer(ctx context.Context, p *query.Plan, most int) (*rows, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	c, err := s.engine.Borrow()
	if err != nil {
		return nil, err
	}
	sound := false
	defer func() { s.engine.Return(c, sound) }()
	c.Limit = most
	if s.cfg.Quick != s.cfg.Behind {
		defer c.LowerPriorityAfter(duckdb.QuickTime, s.cfg.Behind)()
	}
	r, err := s.ask(ctx, c, p)
	sound = err == nil
	return r, err
}

// ask runs the plan. A file that turns out to be damaged meanwhile is set aside, and the plan run again without it, or
// refused.
func (s *Store) ask(ctx context.Context, c *duckdb.Conn, p *query.Plan) (*rows, error) {
	for {
		losses := s.files.losses()
		r, err := s.askFiles(ctx, c, p)
		if ctx.Err() != nil || s.files.losses() == losses { // else an answer may be without a day that it does not name
			return r, err
		}
	}
}

// askFiles runs the plan on the files of its span. When the rows are wanted by time it begins with the files at that end,
// and takes more only while there are too few rows: the others cannot have any that come before.
func (s *Store) askFiles(ctx context.Context, c *duckdb.Conn, p *query.Plan) (_ *rows, err error) {
	if p.Recent() {
		if p, err = s.recent(ctx, c, p); err != nil {
			return nil, err
		}
	}
	if err := s.complete(p); err != nil {
		return nil, err
	}
	if p.Period != "" {
		return s.askSummaries(ctx, c, p)
	}
	if by, ok := s.fromSummaries(p); ok {
		return twice(func() (*rows, error) { return s.groupSummaries(ctx, c, p, by) })
	}
	periods := s.files.periods(p.Collection, p.From, p.To)
	if r, err := s.askLatest(ctx, c, p, periods); r != nil || err != nil {
		if err == nil && latestOnly(p) {
			err = s.completeFrom(p, periods[len(periods)-1].From)
		}
		return r, err
	}
	w := s.walk(p, periods)
	w.extend(firstTry(p, len(periods)))
	for {
		r, err := s.askSome(ctx, c, p, w.found)
		if err != nil || r.result.Rows > p.Limit || r.result.Cut || !w.extend(8*len(w.found)) {
			if err == nil && latestOnly(p) {
				err = s.completeFrom(p, w.reached(r.result.Rows > p.Limit || r.result.Cut))
			}
			return r, err
		}
	}
}

// latestOnly tells whether a plan asks for the latest rows, whenever that was. Then days before those that were read do not
// matter.
func latestOnly(p *query.Plan) bool {
	return p.From <= 0 && p.Period == "" && p.Grouping == nil && len(p.Order) > 0 && p.Order[0].Column.Name == timestampColumn && p.Order[0].Desc &&
		(p.Limit < firstPage || p.Latest > 0) // of a larger answer, parts are sent before that is known
}

// complete refuses a plan whose span has days of which rows cannot be read, or tells it which these are.
func (s *Store) complete(p *query.Plan) error {
	if latestOnly(p) {
		return nil // that depends on how far it has to go back
	}
	d := s.sums[p.Collection.Name]
	from, to := p.From, p.To
	if d != nil && p.Period != "" && to < endOfTime { // a summary is of the span in which it begins
		from, to = from-from%belfry.Day, to+query.PeriodLength(p.Period)-1
	}
	names := s.namesOf(p.Collection, s.files.lostIn(p.Collection, from, to))
	if d != nil {
		names = append(names, s.lostSummaries(p, d, from, to)...)
	}
	return p.Missing(names)
}

// completeFrom does the same for the days from a moment on.
func (s *Store) completeFrom(p *query.Plan, from belfry.Time) error {
	return p.Missing(s.namesOf(p.Collection, s.files.lostIn(p.Collection, from, p.To)))
}

// namesOf names days as file names do.
func (s *Store) namesOf(c *catalog.Collection, days []belfry.Span) (names []string) {
	for _, d := range days {
		names = append(names, d.From.Std().Format(layout(c)))
	}
	return names
}

// lostSummaries are the days of the span of which summaries cannot be read. While the rows of a day are there, its
// summaries are made from them.
func (s *Store) lostSummaries(p *query.Plan, d *summary.Tracker, from, to belfry.Time) (names []string) {
	by, ok := p.Period, p.Period != ""
	if !ok {
		if by, ok = s.fromSummaries(p); !ok {
			return nil
		}
	}
	to = min(to, s.Oldest(d.Raw.Name)-1)
	for _, month := range s.files.lostIn(d.Collection(by), from, to) {
		for day := month.From; day < month.To; day += belfry.Day {
			if (belfry.Span{From: day, To: day + belfry.Day}).Overlaps(from, to) {
				names = append(names, day.Std().Format(time.DateOnly))
			}
		}
	}
	return names
}

// firstTry is how many of n files to begin with.
func firstTry(p *query.Plan, n int) int {
	if p.Grouping != nil || p.Recent() || len(p.Order) == 0 || p.Order[0].Column.Name != timestampColumn {
		return n
	}
	return min(n, 2) // two, as just after midnight there is little in the newest
}

// atEnd gives the n periods in which the order of the plan begins.
func atEnd(p *query.Plan, periods []belfry.Span, n int) []belfry.Span {
	if len(p.Order) > 0 && !p.Order[0].Desc {
		return periods[:n]
	}
	return periods[len(periods)-n:]
}

// askSome runs the plan on the given periods. A file that an earlier failure has spoiled is
// attached anew and asked once more.
func (s *Store) askSome(ctx context.Context, c *duckdb.Conn, p *query.Plan, periods []belfry.Span) (*rows, error) {
	r, err := s.run(ctx, c, p, periods)
	if err != nil && strings.Contains(err.Error(), "has been invalidated") {
		r, err = s.run(ctx, c, p, periods)
	}
	return r, err
}

func (s *Store) run(ctx context.Context, c *duckdb.Conn, p *query.Plan, periods []belfry.Span) (_ *rows, err error) {
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
	return s.runOn(ctx, c, p, tables)
}

// runOn runs the plan on the given tables.
func (s *Store) runOn(ctx context.Context, c *duckdb.Conn, p *query.Plan, tables []query.Table) (*rows, error) {
	stmt, err := query.SQL(p, dialect.New(itemTable), tables)
	if err != nil {
		return nil, err
	}
	res, err := c.Query(ctx, stmt.Text, stmt.Args...)
	if err != nil {
		return nil, err
	}
	return &rows{stmt: stmt, result: res, row: make([]belfry.Value, len(stmt.Columns))}, nil
}

// tables says what the engine calls the files, and which columns they have.
func (fs *files) tables(list []*file) []query.Table {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	tables := make([]query.Table, len(list))
	for i, f := range list {
		tables[i] = f.table
	}
	return tables
}

// finish ends the use of files by a query. One that the engine has given up on is not used again as it is.
func (fs *files) finish(list []*file, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err != nil {
		for _, f := range list {
			f.stale = f.stale || strings.Contains(err.Error(), `"`+f.alias+`" has been invalidated`)
			if f.doomed {
				continue
			}
			if why := damageIn(f.path, err); why != "" {
				fs.setAside(f, why)
			} else if why := unreadableIn(f.path, err); why != "" {
				fs.setUnreadable(f, why)
			}
		}
	}
	fs.releaseLocked(list)
}

// explain turns an error into one for the client where the client can do something about it. What the engine said stays
// with us.
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
	case shortOfMemory(err):
		return belfry.Errorf(belfry.BadQuery, "the query on %s needs more memory than a query may have; narrow its time span, or ask for fewer fields or rows", p.Collection.Name)
	case duckdb.IsKind(err, duckdb.OutOfRangeError):
		return belfry.Errorf(belfry.BadQuery, "a result of the query on %s is larger than a number can be; narrow its conditions to smaller numbers", p.Collection.Name)
	}
	return fmt.Errorf("query %s: %w", p.Collection.Name, err)
}

// rows is the answer to a plan.
type rows struct {
	stmt   *query.Statement
	result *duckdb.Result
	row    []belfry.Value

	release func() // gives back what the answer takes; nil: nothing was booked
}

func (r *rows) Columns() []query.Output { return r.stmt.Columns }

func (r *rows) Next() ([]belfry.Value, error) {
	if !r.result.Next() {
		return nil, io.EOF
	}
	if err := r.stmt.Row(r.result, r.row); err != nil {
		return nil, err
	}
	return r.row, nil
}

// Words implements query.Held.
func (r *rows) Words(output int) (words []uint64, null []bool, ok bool) {
	at := 0
	for _, out := range r.stmt.Columns[:output] {
		at += out.Width()
	}
	if r.stmt.Columns[output].Width() > 1 || r.result.IsText(at) {
		return nil, nil, false
	}
	words, null = r.result.Words(at)
	return words, null, true
}

// At implements query.Held.
func (r *rows) At(row int) ([]belfry.Value, error) {
	r.result.Seek(row)
	return r.row, r.stmt.Row(r.result, r.row)
}

func (r *rows) Close() error {
	if r.release != nil {
		r.release()
	}
	return nil
}

package duck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"belfry/store/duck/duckdb"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Summarise does one piece of work on the summaries of what was over before the given moment: it counts rows, or makes
// hours or days that are not up to date. It tells whether there may be more to do. Writers and queries go on meanwhile;
// how long to rest between pieces is for the caller to say.
func (s *Store) Summarise(ctx context.Context, before belfry.Time) (more bool, err error) {
	for _, d := range s.sums {
		if more, err = s.summarise(ctx, d, before); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

func (s *Store) summarise(ctx context.Context, d *summed, before belfry.Time) (more bool, err error) {
	release, err := d.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	s.life.RLock()
	defer s.life.RUnlock()
	if err := s.usable(); err != nil {
		return false, err
	}
	q, err := s.engine.Connect()
	if err != nil {
		return false, err
	}
	defer q.Close()
	w, more, err := s.find(ctx, q, d, before)
	if err != nil || w == nil {
		return more, err
	}
	err = s.make(ctx, q, d, w)
	if err != nil && ctx.Err() == nil {
		for _, p := range w.spans {
			d.fail(w.to, p.From)
			if len(w.spans) == 1 && d.attempts(w.to, p.From) == 1 {
				d.fail(w.to, p.From)
			}
		}
	}
	return true, err
}

// take waits for the right to write summaries.
func (d *summed) take(ctx context.Context) (release func(), err error) {
	select {
	case d.making <- struct{}{}:
		return func() { <-d.making }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make brings hours or days up to date.
func (s *Store) make(ctx context.Context, q *duckdb.Conn, d *summed, w *work) (err error) {
	from := d.raw
	if w.to == d.day {
		from = d.hour
	}
	tallies := d.talliesOf(w.spans) // before the files, so that they are not of others
	used, err := s.files.acquireAll(ctx, s.files.list(from, periodsOf(from, w.spans)))
	if err != nil {
		return err
	}
	defer func() { s.files.finish(used, err) }()
	spans := coveredBy(used, w.spans) // the rows of the others have been dropped, and their summaries are all there is
	spans = slices.DeleteFunc(spans, func(sp belfry.Span) bool { return s.files.isLost(d.raw, d.raw.PeriodOf(sp.From)) })
	if len(spans) == 0 {
		return nil
	}
	f, err := s.files.acquireForWriting(ctx, w.to, w.to.PeriodOf(spans[0].From), summaryColumns(nil))
	if err != nil {
		return err
	}
	defer func() { s.files.finish([]*file{f}, err) }()
	s.files.occupy(f, true)
	defer s.files.occupy(f, false)
	known := s.files.tables(used)
	rows, err := s.replace(ctx, q, f, spans, s.source(d, w.to, used, known, spans), 1+w.rows/s.cfg.summed, func() (map[belfry.Time]origin, error) {
		if err := unchanged(ctx, q, used, known); err != nil {
			return nil, err
		}
		return originsOf(ctx, q, used, spans, w.to == d.day)
	})
	if errors.Is(err, errNewColumn) {
		return nil // the work is still due, and will be found again
	}
	if err != nil {
		d.forgetMade(f)
		s.files.spoil(f)
		return fmt.Errorf("summarise %s at %s: %w", d.raw.Name, spans[0].From, err)
	}
	d.noteMade(f, rows, tallies)
	d.done(w)
	return nil
}

// periodsOf are the periods of files in which the spans are, each once. Spans are in the order of time.
func periodsOf(c *catalog.Collection, spans []belfry.Span) []belfry.Span {
	var list []belfry.Span
	for _, sp := range spans {
		if len(list) == 0 || !list[len(list)-1].Contains(sp.From) {
			list = append(list, c.PeriodOf(sp.From))
		}
	}
	return list
}

// coveredBy are the spans of which there is a file.
func coveredBy(files []*file, spans []belfry.Span) []belfry.Span {
	return slices.DeleteFunc(slices.Clone(spans), func(sp belfry.Span) bool {
		return !slices.ContainsFunc(files, func(f *file) bool { return f.Contains(sp.From) })
	})
}

// source is a table with the summaries of the spans, made from files of rows or of hours.
func (s *Store) source(d *summed, to *catalog.Collection, used []*file, known []query.Table, spans []belfry.Span) summaryTable {
	var list []summaryTable
	for i, t := range known {
		in := joined(within(spans, used[i].Span))
		if to == d.day {
			list = append(list, storedSummaries(t, in, nil))
		} else {
			list = append(list, rowsOfHours(t, in))
		}
	}
	if to == d.day {
		return daysOfHours(list)
	}
	return hoursOfRows(list)
}

// joined makes one period of those that touch. They are in the order of time.
func joined(list []belfry.Span) []belfry.Span {
	var some []belfry.Span
	for _, p := range list {
		if last := len(some) - 1; last >= 0 && some[last].To == p.From {
			some[last].To = p.To
		} else {
			some = append(some, p)
		}
	}
	return some
}

// summaryColumns are the columns of a file of summaries.
func summaryColumns(list []int) []duckdb.Column {
	cols := []duckdb.Column{{Name: customerColumn, Kind: duckdb.Small}, {Name: belfry.ItemColumn, Kind: duckdb.ID}, {Name: timestampColumn, Kind: duckdb.Int}, {Name: rowsColumn, Kind: duckdb.Int}}
	for _, n := range list {
		for k, c := range query.SummaryColumns(n) {
			cols = append(cols, duckdb.Column{Name: c.Name, Kind: [...]duckdb.Kind{duckdb.Number, duckdb.Number, duckdb.Number, duckdb.Int}[k]})
		}
	}
	return cols
}

// replace writes the summaries of spans anew, and what they were made of, in one transaction. What gives their origins may
// still refuse it.
func (s *Store) replace(ctx context.Context, q *duckdb.Conn, f *file, spans []belfry.Span, by summaryTable, parts int64, origins func() (map[belfry.Time]origin, error)) (rowCounts, error) {
	if err := q.Exec(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	kinds, err := extend(ctx, q, f, summaryColumns(by.indicators))
	if err == nil {
		err = s.files.sign(ctx, q, f)
	}
	var rows rowCounts
	if err == nil {
		rows, err = rewrite(ctx, q, f, spans, by, parts, origins)
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = s.files.commit(ctx, q, f)
	}
	if err != nil {
		_ = q.Exec(ctx, "ROLLBACK") // which says so when the failed statement has already done it
		return nil, err
	}
	return rows, s.files.wrote(f, f.pos, kinds)
}

// errNewColumn says that rows came in with a column that a statement does not know.
var errNewColumn = errors.New("a new column")

// unchanged tells whether the files have the columns that statements were written for. A file gets a new one with the first
// rows that need it. When these come in after a statement was written and before it runs, they would be counted in,
// and what is in the new column be missing for good. A transaction sees columns as it saw the rows.
func unchanged(ctx context.Context, q *duckdb.Conn, used []*file, known []query.Table) error {
	for i, f := range used {
		kinds, err := readKinds(ctx, q, f.alias)
		if err != nil {
			return err
		}
		if len(kinds) != len(known[i].Columns) { // none ever goes
			return errNewColumn
		}
	}
	return nil
}

// rewrite makes the summaries of so many parts of the items one after the other, and counts the rows they are made of.
func rewrite(ctx context.Context, q *duckdb.Conn, f *file, spans []belfry.Span, by summaryTable, parts int64, origins func() (map[belfry.Time]origin, error)) (rowCounts, error) {
	if err := q.Exec(ctx, addOrigin(f)); err != nil {
		return nil, err
	}
	table, made := f.alias+".main.rows", f.alias+".main."+madeTable
	at := " WHERE " + among(joined(spans))
	for _, name := range []string{table, made} {
		if err := q.Exec(ctx, "DELETE FROM "+name+at); err != nil {
			return nil, err
		}
	}
	cols := summaryColumns(by.indicators)
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = duckdb.QuoteName(c.Name)
	}
	list := strings.Join(names, ", ")
	for part := range parts {
		some := " WHERE coalesce(item, 0) % " + number(parts) + " = " + number(part)
		if err := q.Exec(ctx, "INSERT INTO "+table+" ("+list+") SELECT "+list+" FROM ("+by.text+")"+some+" ORDER BY timestamp, customer, item"); err != nil {
			return nil, err
		}
	}
	from, err := origins()
	if err != nil {
		return nil, err
	}
	if err := q.Exec(ctx, "INSERT INTO "+made+" BY NAME SELECT timestamp, CAST(sum(rows) AS BIGINT) AS rows, "+originOf(from)+" AS origin FROM "+table+at+" GROUP BY timestamp"); err != nil {
		return nil, err
	}
	counts := rowCounts{}
	for _, sp := range spans {
		counts[sp.From] = madeFrom{}
	}
	return counts, readCounts(ctx, q, f, at, counts)
}

// readCounts reads from a file of summaries of how many rows they were made.
func readCounts(ctx context.Context, q *duckdb.Conn, f *file, where string, counts rowCounts) error {
	r, err := q.Query(ctx, "SELECT timestamp, rows, coalesce(origin, "+number(unknownOrigin)+") FROM "+f.made()+where)
	if err != nil {
		return err
	}
	for r.Next() {
		counts[belfry.Time(r.Int(0))] = madeFrom{r.Int(1), origin(r.Int(2))}
	}
	return nil
}

// settleAhead settles while others may write, so that little is left to do when they may not.
func (s *Store) settleAhead(ctx context.Context, d *summed, t belfry.Time) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if err := s.usable(); err != nil {
		return err
	}
	return s.settle(ctx, d, t)
}

// settle brings up to date what the rows before t say, so that they can go. When nobody writes meanwhile, the second
// round makes the days, and that is the end of it; where somebody does, what remains is told.
func (s *Store) settle(ctx context.Context, d *summed, t belfry.Time) error {
	release, err := d.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	q, err := s.engine.Connect()
	if err != nil {
		return err
	}
	defer q.Close()
	for range 25 {
		list, err := s.unsettled(ctx, q, d, t)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, w := range list {
			if err := s.make(ctx, q, d, w); err != nil {
				return err
			}
		}
	}
	return errors.New("rows come in faster than they can be summed up")
}

// unsettled is the work on the days before t.
func (s *Store) unsettled(ctx context.Context, q *duckdb.Conn, d *summed, t belfry.Time) ([]*work, error) {
	list := agenda{most: s.cfg.summed}
	for _, p := range s.files.periods(d.raw, 0, t-1) {
		if p.To > t {
			break
		}
		if s.files.isLost(d.raw, p) {
			continue
		}
		st, err := s.lookAt(ctx, q, d, p)
		if err != nil {
			return nil, err
		}
		hours, days := st.due(endOfTime)
		list.add(d, hours, days)
	}
	return slices.Concat(list.hours, list.days), nil
}

// DropSummaries forgets the summaries of c older than t, by whole months. Those of rows that are still there stay.
func (s *Store) DropSummaries(ctx context.Context, c *catalog.Collection, p string, t belfry.Time) error {
	d := s.sums[c.Name]
	if d == nil {
		return fmt.Errorf("drop summaries of %s: it has none", c.Name)
	}
	of := d.kept(p)
	if raw := s.files.periods(c, 0, endOfTime); len(raw) > 0 {
		t = min(t, raw[0].From)
	}
	if err := s.Drop(ctx, of, t); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for month := range d.made[of] {
		if month < s.mark(of.Name) {
			delete(d.made[of], month)
		}
	}
	return nil
}

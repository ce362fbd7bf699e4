package duck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Summarise does one piece of work on the summaries of what was over before the given moment: it counts the rows of a
// day, or makes an hour or a day that is not up to date. It tells whether there may be more to do. Writers and queries
// go on meanwhile; how long to rest between pieces is for the caller to say.
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
	q, err := s.engine.connect()
	if err != nil {
		return false, err
	}
	defer q.close()
	w, err := s.find(ctx, q, d, before)
	if err != nil || w == nil {
		return false, err
	}
	if !w.counted {
		if err = s.make(ctx, q, d, *w); err != nil && ctx.Err() == nil {
			d.mu.Lock()
			d.failed[w.from] = true // not again before the others had their turn
			d.mu.Unlock()
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

// work is a piece of work: an hour, or a day, of the rows of a day.
type work struct {
	period
	of      period
	counted bool // rows have been counted, and that is all there was to do
}

// find looks for the oldest hour or day that is not up to date. A day follows when all its hours are made.
func (s *Store) find(ctx context.Context, q *conn, d *summed, before belfry.Time) (*work, error) {
	behind, failed := 0, 0
	var first *work
	for _, p := range s.files.periods(d.raw, 0, before-1) {
		known := d.knows(p)
		st, err := s.lookAt(ctx, q, d, p)
		if err != nil {
			return nil, err
		}
		if !known && d.knows(p) {
			return &work{of: p, counted: true}, nil
		}
		for _, w := range st.due(before) {
			if w.to-w.from == hourLength {
				behind++
			}
			switch {
			case d.hasFailed(w.from):
				failed++
			case first == nil:
				first = &w
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.behind = behind
	if first == nil && failed > 0 {
		clear(d.failed)
	}
	return first, nil
}

// due are the hours that are over and not up to date or, when there are none, the day.
func (st *dayState) due(before belfry.Time) []work {
	var list []work
	for _, p := range st.hours {
		for h := p.from; h < p.to && h+hourLength <= before; h += hourLength {
			list = append(list, work{period: period{h, h + hourLength}, of: st.period})
		}
	}
	if st.stale == 0 && !st.current && st.to <= before {
		list = append(list, work{period: st.period, of: st.period})
	}
	return list
}

func (d *summed) knows(day period) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tally(day.from).known
}

func (d *summed) hasFailed(start belfry.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[start]
}

// lookAt tells the state of a day. A day whose rows have been dropped meanwhile needs nothing.
func (s *Store) lookAt(ctx context.Context, q *conn, d *summed, p period) (st dayState, err error) {
	used, err := s.files.acquire(ctx, d.raw, p.from, p.to-1)
	if err != nil || len(used) == 0 {
		return dayState{}, err
	}
	defer func() { s.files.finish(used, err) }()
	return s.stateOf(ctx, q, d, used[0])
}

// make brings one hour or day up to date.
func (s *Store) make(ctx context.Context, q *conn, d *summed, w work) error {
	from, to := d.raw, d.hour
	if w.to-w.from == dayLength {
		from, to = d.hour, d.day
	}
	used, err := s.files.acquire(ctx, from, w.from, w.to-1)
	if err != nil {
		return err
	}
	defer func() { s.files.finish(used, err) }()
	if len(used) == 0 {
		return nil
	}
	f, err := s.files.acquireForWriting(ctx, to, periodOf(to, w.from), summaryColumns(nil))
	if err != nil {
		return err
	}
	defer s.files.release([]*file{f})
	s.files.occupy(f, true)
	defer s.files.occupy(f, false)
	if err = s.replace(ctx, q, d, f, w.period, s.source(used[0], w.period)); err != nil {
		d.forgetMade(f)
		s.files.spoil(f)
		return fmt.Errorf("summarise %s at %s: %w", d.raw.Name, w.from, err)
	}
	return nil
}

// maxSummed is of how many rows one statement makes summaries, as the engine holds them in memory until it is done.
const maxSummed = 1 << 20

// source is a table with the summaries of the period, made from a file of rows or of hours.
func (s *Store) source(f *file, p period) summaryTable {
	t := s.files.tables([]*file{f})[0]
	if p.to-p.from == dayLength {
		return dayOfHours(p.from, []summaryTable{storedSummaries(t, []period{p}, nil)})
	}
	return hoursOfRows(t, []period{p})
}

// summaryColumns are the columns of a file of summaries.
func summaryColumns(list []int) []column {
	cols := []column{{customerColumn, kindSmall}, {belfry.ItemColumn, kindID}, {timestampColumn, kindInt}, {rowsColumn, kindInt}}
	for _, n := range list {
		for k, c := range query.SummaryColumns(n) {
			cols = append(cols, column{c.Name, [...]kind{kindNumber, kindNumber, kindNumber, kindInt}[k]})
		}
	}
	return cols
}

// replace writes the summaries of a period anew, and of how many rows they were made, in one transaction.
func (s *Store) replace(ctx context.Context, q *conn, d *summed, f *file, p period, by summaryTable) error {
	if err := q.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	kinds, err := extend(ctx, q, f, summaryColumns(by.indicators))
	rows := int64(0)
	if err == nil {
		rows, err = rewrite(ctx, q, f, p, by, 1+d.rowsIn(p)/maxSummed)
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = q.exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = q.exec(ctx, "ROLLBACK") // which says so when the failed statement has already done it
		return err
	}
	err = s.files.wrote(f, f.pos, kinds) // first, so that who hears of the summary also knows its columns
	if err == nil {
		d.noteMade(f, p.from, rows)
	}
	return err
}

// rewrite makes the summaries of so many parts of the items one after the other, and counts the rows they are made of.
func rewrite(ctx context.Context, q *conn, f *file, p period, by summaryTable, parts int64) (int64, error) {
	table, made := f.alias+".main.rows", f.alias+".main."+madeTable
	at := " WHERE timestamp = " + number(p.from)
	for _, name := range []string{table, made} {
		if err := q.exec(ctx, "DELETE FROM "+name+at); err != nil {
			return 0, err
		}
	}
	cols := summaryColumns(by.indicators)
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = quoteName(c.name)
	}
	list := strings.Join(names, ", ")
	for part := range parts {
		some := " WHERE coalesce(item, 0) % " + number(parts) + " = " + number(part)
		if err := q.exec(ctx, "INSERT INTO "+table+" ("+list+") SELECT "+list+" FROM ("+by.text+")"+some+" ORDER BY customer, item"); err != nil {
			return 0, err
		}
	}
	n, err := q.number(ctx, "SELECT CAST(sum(rows) AS BIGINT) FROM "+table+at)
	if err == nil {
		err = q.exec(ctx, "INSERT INTO "+made+" VALUES ("+number(p.from)+", "+number(int64(n))+")")
	}
	return int64(n), err
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

// settle brings up to date what the rows before t say, so that they can go.
func (s *Store) settle(ctx context.Context, d *summed, t belfry.Time) error {
	release, err := d.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	q, err := s.engine.connect()
	if err != nil {
		return err
	}
	defer q.close()
	for _, p := range s.files.periods(d.raw, 0, t-1) {
		if p.to > t {
			break
		}
		if err := s.settleDay(ctx, q, d, p); err != nil {
			return err
		}
	}
	return nil
}

// settleDay makes the hours of a day and then the day itself. Nobody writes meanwhile, so that is the end of it; where
// somebody does, what remains is told.
func (s *Store) settleDay(ctx context.Context, q *conn, d *summed, p period) error {
	for range 25 {
		st, err := s.lookAt(ctx, q, d, p)
		if err != nil {
			return err
		}
		due := st.due(endOfTime)
		if len(due) == 0 {
			return nil
		}
		for _, w := range due {
			if err := s.make(ctx, q, d, w); err != nil {
				return err
			}
		}
	}
	return errors.New("rows come in faster than they can be summed up")
}

// DropSummaries forgets the summaries of c older than t, by whole months. Those of rows that are still there stay.
func (s *Store) DropSummaries(ctx context.Context, c *catalog.Collection, p string, t belfry.Time) error {
	d := s.sums[c.Name]
	if d == nil {
		return fmt.Errorf("drop summaries of %s: it has none", c.Name)
	}
	of := d.kept(p)
	if raw := s.files.periods(c, 0, endOfTime); len(raw) > 0 {
		t = min(t, raw[0].from)
	}
	if err := s.Drop(ctx, of, t); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for month := range d.made[of] {
		if month < s.Oldest(of.Name) {
			delete(d.made[of], month)
		}
	}
	return nil
}

package duck

import (
	"context"

	"belfry"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/summary"
)

// find looks for the oldest work. A day that cannot be looked at keeps nobody from the others; the error is told when
// there is nothing else to do. The time that it takes is bounded by the rows it counts, so work may be nil although
// there is more to do.
func (s *Store) find(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, before belfry.Time) (w *summary.Work, more bool, err error) {
	list := summary.Queue{Limit: s.cfg.summed}
	behind, counted := 0, int64(0)
	for _, p := range s.files.periods(d.Raw, 0, before-1) {
		if d.Attempts(d.Raw, p.From) > 0 || s.files.isLost(d.Raw, p) {
			continue
		}
		known := d.Counted(p)
		st, bad := s.lookAt(ctx, q, d, p)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if bad != nil {
			d.Fail(d.Raw, p.From)
			err = bad
			continue
		}
		if !known && st.Known {
			if counted += st.Rows.Sum(); counted > s.cfg.summed {
				return nil, true, nil
			}
		}
		hours, days := st.Due(before)
		behind += len(hours)
		list.Add(d, d.Ready(d.Hour, hours), d.Ready(d.Day, days))
	}
	w = list.First()
	d.SetBehind(behind, w == nil)
	if w == nil {
		return nil, false, err
	}
	return w, true, nil
}

// lookAt tells the state of a day. A day whose rows have been dropped meanwhile needs nothing.
func (s *Store) lookAt(ctx context.Context, q *duckdb.Conn, d *summary.Tracker, p belfry.Span) (st summary.State, err error) {
	if d.Counted(p) { // so there is no need to attach the file
		if st, err = s.stateOf(ctx, q, d, p, nil); err != nil || st.Known {
			return st, err
		}
	}
	used, err := s.files.acquire(ctx, d.Raw, p.From, p.To-1)
	if err != nil || len(used) == 0 {
		return summary.State{}, err
	}
	defer func() { s.files.finish(used, err) }()
	return s.stateOf(ctx, q, d, p, used[0])
}

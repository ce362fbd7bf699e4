package duck

import (
	"context"

	"belfry/store/duck/duckdb"

	"belfry"
	"belfry/catalog"
)

// work is a piece of work: hours, or days, that are made in one transaction. They share a file of summaries.
type work struct {
	to    *catalog.Collection
	spans []belfry.Span
	rows  int64
	alone bool // nothing else may be made with it
}

// span is an hour or a day that is to be made.
type span struct {
	belfry.Span
	rows  int64
	alone bool
}

// agenda is what is to be done, hours and days apart, oldest first.
type agenda struct {
	most        int64 // rows of a piece of work that is of more than one hour or day
	hours, days []*work
}

// add puts more on the agenda. Hours and days of few rows go together: what a transaction costs is much more than it
// takes to sum them up.
func (a *agenda) add(d *summed, hours, days []span) {
	a.hours = a.arrange(a.hours, d.hour, hours)
	a.days = a.arrange(a.days, d.day, days)
}

func (a *agenda) arrange(list []*work, to *catalog.Collection, spans []span) []*work {
	for _, sp := range spans {
		var last *work
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		if last == nil || last.alone || sp.alone || last.rows+sp.rows > a.most || !to.PeriodOf(last.spans[0].From).Contains(sp.From) {
			last = &work{to: to, alone: sp.alone}
			list = append(list, last)
		}
		last.spans = append(last.spans, sp.Span)
		last.rows += sp.rows
	}
	return list
}

// first is the oldest piece of work; of a month, the days come after the hours they are made of.
func (a *agenda) first() *work {
	switch {
	case len(a.hours) == 0 && len(a.days) == 0:
		return nil
	case len(a.hours) == 0, len(a.days) > 0 && a.days[0].spans[0].From < a.hours[0].to.PeriodOf(a.hours[0].spans[0].From).From:
		return a.days[0]
	}
	return a.hours[0]
}

// due are the hours that are over and not up to date or, when there are none, the day.
func (st *dayState) due(before belfry.Time) (hours, days []span) {
	of := func(h belfry.Time) span {
		if !st.known { // it may be any number
			return span{belfry.Span{From: h, To: h + belfry.Hour}, 0, true}
		}
		return span{belfry.Span{From: h, To: h + belfry.Hour}, st.rows[(h-st.From)/belfry.Hour], false}
	}
	for _, p := range st.hours {
		for h := p.From; h < p.To && h+belfry.Hour <= before; h += belfry.Hour {
			hours = append(hours, of(h))
		}
	}
	if st.stale == 0 && !st.current && st.To <= before {
		days = []span{{st.Span, st.rows.sum(), false}}
	}
	return hours, days
}

// find looks for the oldest work. A day that cannot be looked at keeps nobody from the others; the error is told when
// there is nothing else to do. The time that it takes is bounded by the rows it counts, so work may be nil although
// there is more to do.
func (s *Store) find(ctx context.Context, q *duckdb.Conn, d *summed, before belfry.Time) (w *work, more bool, err error) {
	list := agenda{most: s.cfg.summed}
	behind, counted := 0, int64(0)
	for _, p := range s.files.periods(d.raw, 0, before-1) {
		if d.attempts(d.raw, p.From) > 0 || s.files.isLost(d.raw, p) {
			continue
		}
		known := d.knows(p)
		st, bad := s.lookAt(ctx, q, d, p)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if bad != nil {
			d.fail(d.raw, p.From)
			err = bad
			continue
		}
		if !known && st.known {
			if counted += st.rows.sum(); counted > s.cfg.summed {
				return nil, true, nil
			}
		}
		hours, days := st.due(before)
		behind += len(hours)
		list.add(d, d.able(d.hour, hours), d.able(d.day, days))
	}
	w = list.first()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.behind = behind
	if w == nil {
		d.retry()
		return nil, false, err
	}
	return w, true, nil
}

// A failure is an hour or a day that could not be made, or a day whose rows could not be looked at.
type failure struct {
	of *catalog.Collection
	at belfry.Time
}

// fail says that something could not be made. What has failed together with others is tried alone; what has failed
// alone waits until all others are made.
func (d *summed) fail(of *catalog.Collection, at belfry.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[failure{of, at}]++
}

func (d *summed) attempts(of *catalog.Collection, at belfry.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[failure{of, at}]
}

// retry lets what has failed have its turn again. The caller holds the mutex.
func (d *summed) retry() {
	for f := range d.failed {
		if f.of == d.raw {
			delete(d.failed, f)
		} else {
			d.failed[f] = 1
		}
	}
}

// able leaves out what does not have its turn.
func (d *summed) able(of *catalog.Collection, list []span) []span {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failed) == 0 {
		return list
	}
	var left []span
	for _, sp := range list {
		n := d.failed[failure{of, sp.From}]
		if n < 2 {
			sp.alone = sp.alone || n > 0
			left = append(left, sp)
		}
	}
	return left
}

// done says that something has been made.
func (d *summed) done(w *work) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range w.spans {
		delete(d.failed, failure{w.to, p.From})
	}
}

func (d *summed) knows(day belfry.Span) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tally(day.From).known
}

// lookAt tells the state of a day. A day whose rows have been dropped meanwhile needs nothing.
func (s *Store) lookAt(ctx context.Context, q *duckdb.Conn, d *summed, p belfry.Span) (st dayState, err error) {
	if d.knows(p) { // so there is no need to attach the file
		if st, err = s.stateOf(ctx, q, d, p, nil); err != nil || st.known {
			return st, err
		}
	}
	used, err := s.files.acquire(ctx, d.raw, p.From, p.To-1)
	if err != nil || len(used) == 0 {
		return dayState{}, err
	}
	defer func() { s.files.finish(used, err) }()
	return s.stateOf(ctx, q, d, p, used[0])
}

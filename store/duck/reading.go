package duck

import (
	"context"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// reading is the run of a plan on a connection, step by step: where the order allows it, the first statement reads few
// files, and the next ones more only while there are too few rows.
type reading struct {
	store *Store
	ctx   context.Context
	conn  *duckdb.Conn
	files []*file // in use by the present step
	rows  *rows   // of the last step
	err   error
}

// step is what one statement reads.
type step struct {
	plan    *query.Plan
	groups  string        // summaries of this period, from which the groups of the plan are made; empty: not from summaries
	periods []belfry.Span // of files of rows; days if the plan reads summaries
}

// steps calls run with what to read, step by step. Run runs a statement and records its result; with that of the last one the plan
// is answered.
func (a *reading) steps(p *query.Plan, run func(step)) {
	if p.Recent() {
		a.steps(p.Newest(), run)
		if p = a.narrowed(p); a.err != nil {
			return
		}
	}
	if a.err = a.store.checkComplete(p); a.err != nil {
		return
	}
	by, grouped := a.store.fromSummaries(p)
	switch {
	case p.Period != "":
		a.summarySteps(p, run)
	case grouped:
		a.try(step{plan: p, groups: by}, run)
	default:
		a.rowSteps(p, run)
	}
}

// record records the result of a step.
func (a *reading) record(stmt *query.Statement, res *duckdb.Result, err error) {
	if a.rows, a.err = nil, err; err == nil {
		a.rows = &rows{HeldRows: &query.HeldRows{Statement: stmt, Cells: res.Cells()}, result: res}
	}
}

// try has a step run, once more if an earlier failure had invalidated a file: it is attached again by then. It reports
// whether the answer is complete, or cannot be.
func (a *reading) try(st step, run func(step)) (done bool) {
	run(st)
	if a.err != nil && strings.Contains(a.err.Error(), "has been invalidated") {
		run(st)
	}
	return a.err != nil || a.enough(st.plan)
}

// enough reports whether the last step has all rows of a plan, or as many as fit.
func (a *reading) enough(p *query.Plan) bool {
	return a.rows.result.Rows > p.Limit || a.rows.result.Cut
}

// narrowed narrows a plan of the most recent rows that groups them or reads summaries to the span of these rows, which
// the last step has found. Rows that are stored meanwhile do no harm, as the statement counts the rows it reads.
func (a *reading) narrowed(p *query.Plan) *query.Plan {
	if a.err != nil {
		return nil
	}
	newest := a.rows.result
	if newest.Cut {
		a.err = errLarge
		return nil
	}
	if newest.Rows == 0 {
		return p.Empty()
	}
	q := *p
	newest.Seek(newest.Rows - 1)
	q.From = belfry.Time(newest.Int(0))
	return &q
}

// summarySteps reads summaries, those of few days first.
func (a *reading) summarySteps(p *query.Plan, run func(step)) {
	days := a.store.summaryDays(summaryPlan{p, a.store.trackers[p.Collection.Name]})
	for n := firstTry(p, len(days)); ; n = min(8*n, len(days)) {
		if a.try(step{plan: p, periods: atEnd(p, days, n)}, run) || n == len(days) {
			return
		}
	}
}

// rowSteps reads the files of the span: the end of the newest, or few of them first.
func (a *reading) rowSteps(p *query.Plan, run func(step)) {
	periods := a.store.files.periods(p.Collection, p.From, p.To)
	if a.latestSteps(p, periods, run) {
		if a.err == nil && latestOnly(p) {
			a.err = a.store.checkCompleteFrom(p, periods[len(periods)-1].From)
		}
		return
	}
	f := a.store.newPeriodFilter(p, periods)
	f.Find(firstTry(p, len(periods)))
	for !a.try(step{plan: p, periods: f.Found}, run) && f.Find(8*len(f.Found)) {
	}
	if a.err == nil && latestOnly(p) {
		a.err = a.store.checkCompleteFrom(p, f.TestedFrom(a.enough(p)))
	}
}

// latestSteps reads the rows at the end of the newest file alone. It reports whether that was enough. A row that is newer
// than all earlier blocks cannot be in them, however late rows may arrive.
func (a *reading) latestSteps(p *query.Plan, periods []belfry.Span, run func(step)) (done bool) {
	if !endsInBlocks(p, periods) {
		return false
	}
	newest := periods[len(periods)-1:]
	ends, err := a.store.endsOf(a.ctx, a.conn, p, newest)
	if err != nil {
		a.err = err
		return true
	}
	for _, n := range latestBlocks {
		from := index.LatestFrom(ends, n)
		if from <= p.From || from > p.To {
			return false
		}
		some := *p
		some.From = from
		if a.try(step{plan: &some, periods: newest}, run) {
			return true
		}
	}
	return false
}

// acquire acquires the files of a step and returns its tables. release ends the use of the files, even after an error.
func (a *reading) acquire(st step) ([]query.Table, error) {
	switch {
	case st.groups != "":
		return a.acquireGroups(st.plan, st.groups)
	case st.plan.Period != "":
		return a.acquireSummaries(st.plan, st.periods)
	}
	if len(st.periods) == 0 {
		return nil, nil
	}
	if err := a.acquireFiles(a.store.files.list(st.plan.Collection, st.periods)); err != nil {
		return nil, err
	}
	tables := a.store.files.tables(a.files)
	return tables, a.store.limitToBlocks(a.ctx, a.conn, st.plan, a.files, tables)
}

// acquireFiles attaches files until release.
func (a *reading) acquireFiles(list []*file) error {
	got, err := a.store.files.acquireAll(a.ctx, list)
	a.files = append(a.files, got...)
	return err
}

// release ends the use of the files of a step. If err shows that one is damaged, that one is taken out of use.
func (a *reading) release(err error) {
	a.store.files.finish(a.files, err)
	a.files = nil
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

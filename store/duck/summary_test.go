package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// summaryWorld is a store and a copy of every row that it ever stored.
type summaryWorld struct {
	*rand.Rand
	t    *testing.T
	s    *Store
	dir  string
	pos  belfry.Position
	rows map[belfry.CustomerID][]querytest.Row
	mark belfry.Time
	most int64 // rows that are summarised at once; 0 as usual
}

const worldDays = 4

func newWorld(t *testing.T, seed uint64) *summaryWorld {
	w := &summaryWorld{Rand: rand.New(rand.NewPCG(seed, 5)), t: t, dir: t.TempDir(), rows: map[belfry.CustomerID][]querytest.Row{}}
	w.open()
	t.Cleanup(func() { w.s.Close() })
	return w
}

func (w *summaryWorld) open() {
	w.s = open(w.t, w.dir)
	if w.most > 0 {
		w.s.cfg.summaryRows = w.most
	}
}

// send appends rows of any age; their indicators differ from batch to batch.
func (w *summaryWorld) send() {
	b := &belfry.Batch{Collection: "objectdata", Customer: belfry.CustomerID(1 + w.IntN(2)), FirstID: belfry.RowID(w.pos * 1000)}
	w.pos++
	b.Pos = w.pos
	item := belfry.Column{Name: belfry.ItemColumn}
	i1 := belfry.Column{Name: "i1"}
	in := belfry.Column{Name: belfry.IndicatorColumn(2 + w.IntN(3))}
	text := belfry.Column{Name: "s1"}
	late := w.IntN(worldDays)
	for range 1 + w.IntN(60) {
		at := crashDay0 + belfry.Time(late)*belfry.Day + belfry.Time(w.Int64N(int64(belfry.Day)))
		if w.IntN(4) == 0 {
			at = crashDay0 + belfry.Time(w.Int64N(int64(worldDays*belfry.Day)))
		}
		if w.IntN(3) == 0 {
			at -= at % belfry.Hour // the first moment of an hour
		}
		b.Times = append(b.Times, at)
		item.Ints = append(item.Ints, int64(1+w.IntN(4)))
		i1.Numbers, in.Numbers = append(i1.Numbers, w.value(math.MaxFloat64)), append(in.Numbers, w.value(100))
		text.Texts = append(text.Texts, "")
		if last := len(i1.Numbers) - 1; math.IsNaN(i1.Numbers[last]) {
			text.Texts[last] = "x"
		}
	}
	b.Columns = []belfry.Column{item, i1, in, text}
	mustAppend(w.t, w.s, b)
	for i, at := range b.Times {
		if at < w.mark {
			continue
		}
		row := querytest.Row{"timestamp": {Type: belfry.TimeValue, Int: int64(at)}, "item": {Type: belfry.IDValue, Int: item.Ints[i]}}
		for _, c := range []belfry.Column{i1, in} {
			if !math.IsNaN(c.Numbers[i]) {
				row[c.Name] = belfry.Value{Type: belfry.NumberValue, Num: c.Numbers[i]}
			}
		}
		w.rows[b.Customer] = append(w.rows[b.Customer], row)
	}
}

func (w *summaryWorld) value(most float64) float64 {
	switch w.IntN(8) {
	case 0:
		return belfry.AbsentNumber()
	case 1:
		return most
	}
	return math.Round(w.Float64()*2e4-1e4) / 100
}

// tend does some of the work that is due, up to a random time.
func (w *summaryWorld) tend() {
	before := crashDay0 + belfry.Time(w.Int64N(int64((worldDays+1)*belfry.Day)))
	for range w.IntN(25) {
		more, err := w.s.Summarise(w.t.Context(), before)
		if err != nil {
			w.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// reopen closes the store, or leaves it as a kill would, and opens it again.
func (w *summaryWorld) reopen(kill bool) {
	if kill {
		dir := w.t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
			w.t.Fatal(err)
		}
		w.dir = dir
	}
	if err := w.s.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *summaryWorld) drop() {
	w.mark = max(w.mark, crashDay0+belfry.Time(w.IntN(3))*belfry.Day)
	if err := w.s.Drop(w.t.Context(), w.s.cfg.Catalog.Collection("objectdata"), w.mark+belfry.Time(w.Int64N(int64(belfry.Day)))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *summaryWorld) step() {
	switch n := w.IntN(12); {
	case n < 5:
		w.send()
	case n < 9:
		w.tend()
	case n < 10:
		w.drop()
	default:
		w.reopen(n == 11)
	}
}

// check queries the summaries of both customers and compares them with those of all rows.
func (w *summaryWorld) check() {
	w.t.Helper()
	for _, period := range []string{query.PeriodHour, query.PeriodDay} {
		for customer := belfry.CustomerID(1); customer <= 3; customer++ {
			p := planFor(w.t, w.s, customer, "SELECT id, timestamp, period, i1, i1_min, i1_max, i1_count, i2, i3, i4, i4_count FROM objectdata WHERE period = '"+period+
				"' AND timestamp >= '2000-01-01' LIMIT 100000")
			got, err := w.s.Select(w.t.Context(), p)
			if err != nil {
				w.t.Fatal(err)
			}
			want, err := query.Eval(p, asRows(w.rows[customer]))
			if err != nil {
				w.t.Fatal(err)
			}
			sameRows(w.t, fmt.Sprint(period, " of customer ", customer), got, want)
		}
	}
}

// checkGroups queries groups that are made from summaries where possible. The span may begin and end anywhere except in
// dropped days.
func (w *summaryWorld) checkGroups() {
	w.t.Helper()
	from := w.mark + belfry.Time(w.Int64N(int64(belfry.Day)))
	if w.mark == 0 {
		from = crashDay0 - 40*belfry.Day + belfry.Time(w.Int64N(int64(42*belfry.Day)))
	}
	if w.IntN(3) == 0 {
		from -= from % belfry.Day
	}
	to := crashDay0 + belfry.Time(w.Int64N(int64(40*belfry.Day)))
	bucket := []string{"1h", "6h", "1d", "2d", "1w"}[w.IntN(5)]
	p := planFor(w.t, w.s, 1, "SELECT TIMEBUCKET(timestamp, '"+bucket+"') AS t, COUNT(*), MEAN(i2), SUM(i3), MIN(i2), MAX(i1), MEAN(i4) FROM objectdata WHERE timestamp >= '"+
		from.String()+"' AND timestamp <= '"+to.String()+"' GROUP BY t HAVING COUNT(*) > 1 LIMIT 100000")
	by, ok := w.s.fromSummaries(p)
	got, err := w.s.Select(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	want, err := query.Eval(p, asRows(w.rows[1]))
	if err != nil {
		w.t.Fatal(err)
	}
	sameRows(w.t, fmt.Sprint(bucket, " from ", from, " to ", to, " by ", by, ok), got, want)
}

// checkDroppedGroups queries groups of rows that are gone. However short the span, only their summaries are left.
func (w *summaryWorld) checkDroppedGroups() {
	w.t.Helper()
	p := planFor(w.t, w.s, 1, "SELECT TIMEBUCKET(timestamp, '6h') AS t, COUNT(*), MEAN(i2), MIN(i3) FROM objectdata WHERE timestamp >= '"+crashDay0.String()+"' AND timestamp < '"+
		(crashDay0+belfry.Day).String()+"' AND ip IS NULL GROUP BY t, host")
	if _, chosen := p.FromSummaries(); chosen {
		w.t.Error("summaries are chosen for a day of which the rows may be there")
	}
	got, err := w.s.Select(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	want, err := query.Eval(p, asRows(w.rows[1]))
	if err != nil {
		w.t.Fatal(err)
	}
	sameRows(w.t, "a day that was dropped", got, want)
}

func asRows(rows []querytest.Row) iter.Seq[query.Row] {
	return func(yield func(query.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	}
}

func planFor(t testing.TB, s *Store, customer belfry.CustomerID, text string) *query.Plan {
	t.Helper()
	sel, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := query.Check(sel, s.cfg.Catalog, query.Options{Customer: customer, Now: crashDay0 + worldDays*belfry.Day})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameRows compares two answers; numbers may differ by rounding.
func sameRows(t *testing.T, what string, got, want query.Rows) {
	t.Helper()
	a, b := readAll(t, got), readAll(t, want)
	if len(a) != len(b) {
		t.Fatalf("%s: %d rows, want %d", what, len(a), len(b))
	}
	for i := range a {
		if !slices.EqualFunc(a[i], b[i], func(x, y belfry.Value) bool {
			if x.Type == belfry.NumberValue && y.Type == belfry.NumberValue {
				return math.Abs(x.Num-y.Num) <= 1e-9*max(math.Abs(x.Num), math.Abs(y.Num), 1)
			}
			return x == y
		}) {
			t.Fatalf("%s: row %d is\n%v, want\n%v", what, i, a[i], b[i])
		}
	}
}

func readAll(t *testing.T, r query.Rows) (all [][]belfry.Value) {
	t.Helper()
	defer r.Close()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(row))
	}
}

// TestSummaries stores rows in any order while summaries are made, days are dropped and the store is reopened. Answers
// always equal those from all rows.
func TestSummaries(t *testing.T) {
	worlds, steps := 3, 20
	if testing.Short() {
		worlds, steps = 1, 8
	}
	for seed := range worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, uint64(seed))
			if seed > 0 { // so that an hour takes several statements, and a day several pieces of work
				w.most = int64(3 * seed)
				w.s.cfg.summaryRows = w.most
			}
			for range steps {
				w.step()
				w.check()
				w.checkGroups()
			}
			w.finish()
			w.check()
		})
	}
}

// finish does all remaining work, after which every summary comes from its file.
func (w *summaryWorld) finish() {
	w.t.Helper()
	for {
		more, err := w.s.Summarise(w.t.Context(), crashDay0+worldDays*belfry.Day)
		if err != nil {
			w.t.Fatal(err)
		}
		if !more {
			break
		}
	}
	if n := w.s.SummariesBehind(); n != 0 {
		w.t.Errorf("%d hours are not up to date in the end", n)
	}
	for _, st := range w.states() {
		if st.Stale > 0 || !st.Current {
			w.t.Errorf("the day %s is not up to date in the end", st.From)
		}
	}
}

func (w *summaryWorld) states() []summary.State {
	w.t.Helper()
	q, err := w.s.engine.Connect()
	if err != nil {
		w.t.Fatal(err)
	}
	defer q.Close()
	d := w.s.trackers["objectdata"]
	used, err := w.s.files.acquire(w.t.Context(), d.Raw, 0, folder.EndOfTime)
	if err != nil {
		w.t.Fatal(err)
	}
	defer w.s.files.release(used)
	states, err := w.s.states(w.t.Context(), q, d, used)
	if err != nil {
		w.t.Fatal(err)
	}
	return states
}

// TestSummariesOutliveRows drops all rows and then, a month at a time, their summaries.
func TestSummariesOutliveRows(t *testing.T) {
	w := newWorld(t, 99)
	for range 5 {
		w.send()
	}
	c := w.s.cfg.Catalog.Collection("objectdata")
	if err := w.s.DropSummaries(t.Context(), c, catalog.Hour, crashDay0+400*belfry.Day); err != nil {
		t.Fatal(err)
	}
	w.check() // the rows are there, so nothing was lost
	if err := w.s.Drop(t.Context(), c, crashDay0+worldDays*belfry.Day); err != nil {
		t.Fatal(err)
	}
	w.check()
	w.reopen(true)
	w.check()
	w.checkDroppedGroups()
	for _, period := range []string{catalog.Hour, catalog.Day} {
		if err := w.s.DropSummaries(t.Context(), c, period, crashDay0+400*belfry.Day); err != nil {
			t.Fatal(err)
		}
	}
	clear(w.rows)
	w.check()
	w.reopen(false)
	w.check()
	if err := w.s.DropSummaries(t.Context(), w.s.cfg.Catalog.Collection("syslog"), catalog.Hour, 1); err == nil {
		t.Error("summaries of syslog were dropped, which has none")
	}
}

// TestSummariseAndAppend runs both concurrently.
func TestSummariseAndAppend(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	w := newWorld(t, 7)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := w.s.Summarise(ctx, folder.EndOfTime); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 10 {
		w.send()
		w.check()
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.finish()
	w.check()
}

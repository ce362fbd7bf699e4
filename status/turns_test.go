package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"belfry"
	"belfry/query"
	"belfry/store"
)

// during is a context that calls f whenever a query checks whether it has ended, which is in the middle of its evaluation.
type during struct {
	context.Context
	f func() error
}

func (d during) Err() error { return d.f() }

// noRows is an empty store.
type noRows struct{ store.Store }

func (noRows) Select(context.Context, *query.Plan) (query.Rows, error) { return noRows{}, nil }
func (noRows) Columns() []query.Output                                 { return nil }
func (noRows) Next() ([]belfry.Value, error)                           { return nil, io.EOF }
func (noRows) Close() error                                            { return nil }

// disks returns a tree with objects named disk 0 and so on.
func disks(t testing.TB, count int) (e *testTree, objects []belfry.ID) {
	e = newTestTree(t)
	web := e.add(belfry.KindResource, "web", 1, 0, "custom")
	for n := range count {
		objects = append(objects, e.add(belfry.KindObject, fmt.Sprintf("disk %d", n), web, web, "disk"))
	}
	e.apply()
	return e, objects
}

// likes are conditions that nothing matches.
func likes(count int) string {
	return strings.TrimSuffix(strings.Repeat("name LIKE '%d%i%s%k%x0' OR ", count), " OR ")
}

// TestRecordsDuringQuery: records are applied in the middle of a query, whatever its conditions cost.
func TestRecordsDuringQuery(t *testing.T) {
	e, objects := disks(t, 2100)
	past := &Past{Tree: e.tree, Catalog: e.cat, Rows: store.NewMover(noRows{}, store.MoverOptions{}), Oldest: func(string) belfry.Time { return 0 }}
	for text, asOf := range map[string]belfry.Time{
		"SELECT COUNT(*) AS n FROM objectstatus WHERE " + likes(20):              0,
		"SELECT name FROM objectstatus WHERE name LIKE 'd%' LIMIT 5":             0,
		"SELECT name FROM objectstatus WHERE name LIKE 'd%' LIMIT 5 OFFSET 1500": 0,
		"SELECT name FROM objectstatus WHERE name LIKE 'd%' LIMIT 6":             5,
	} {
		applied := 0
		ctx := during{t.Context(), func() error {
			if e.pos < 1000 { // waits for ever if the query holds the lock
				e.set(objects[applied%len(objects)], belfry.Critical)
				e.apply()
				applied++
			}
			return nil
		}}
		p := e.plan(text)
		p.AsOf = asOf
		if _, err := (Source{Tree: e.tree, Past: past}).Select(ctx, p); err != nil {
			t.Fatal(err)
		}
		if applied < 2 {
			t.Errorf("%s: %d records were applied during the query", text, applied)
		}
	}
}

// TestQueryEndsWithinRow: a query whose time is over ends, even in the middle of a row.
func TestQueryEndsWithinRow(t *testing.T) {
	e, _ := disks(t, 1)
	for _, text := range []string{
		"SELECT COUNT(*) AS n FROM objectstatus WHERE kind='object' AND (" + likes(5000) + ")",
		"SELECT COUNT(*) AS n FROM objectstatus WHERE kind='object' AND NOT (" + likes(5000) + ")",
		"SELECT name FROM objectstatus WHERE kind='object' AND (" + likes(5000) + ") LIMIT 5 OFFSET 2000",
	} {
		asked := 0
		ctx := during{t.Context(), func() error {
			if asked++; asked == 3 {
				return context.DeadlineExceeded
			}
			return nil
		}}
		_, err := (Source{Tree: e.tree}).Select(ctx, e.plan(text))
		if asked != 3 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%.60s: asked %d times whether the time is over, and got %v", text, asked, err)
		}
	}
}

// TestTurns: queries of one customer are evaluated one at a time, but for the begin of each; those of another do not wait for them.
func TestTurns(t *testing.T) {
	var turns Turns
	other := turns.Begin(t.Context(), 2)
	if err := other.Pause(); err != nil { // holds its turn all the time
		t.Fatal(err)
	}
	var running, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			turn := turns.Begin(t.Context(), 1)
			defer turn.End()
			for range 100 {
				if err := turn.Pause(); err != nil {
					t.Error(err)
				}
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				running.Add(-1)
			}
		})
	}
	all.Wait()
	turns.Begin(t.Context(), 2).End() // does not wait
	other.End()
	if most.Load() != 1 || len(turns.by) != 0 {
		t.Errorf("%d at once, %d customers left", most.Load(), len(turns.by))
	}
}

// TestQueriesBesideRecords is for the race detector: queries read nothing that records change.
func TestQueriesBesideRecords(t *testing.T) {
	e, objects := disks(t, 300)
	values := func(n int) {
		id := objects[n%len(objects)]
		e.rec.Batches = []*belfry.Batch{{
			Customer: 1, Collection: belfry.ObjectData, FirstID: belfry.RowID(n + 1), Times: []belfry.Time{belfry.Time(n + 1)},
			Columns: []belfry.Column{
				{Name: belfry.ItemColumn, Ints: []int64{int64(id)}},
				{Name: belfry.IndicatorColumn(1), Numbers: []float64{float64(n)}},
			},
		}}
		e.set(id, belfry.Status(n%4))
		e.rec.Items = []belfry.Item{{ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "web", Parent: 1, Resource: 2, Class: "custom", Created: 1, Details: &belfry.Details{IP: fmt.Sprint(n)}}}
		e.apply()
	}
	plans := []*query.Plan{
		e.plan("SELECT * FROM objectstatus ORDER BY name LIMIT 400"),
		e.plan("SELECT * FROM objectstatus WHERE unmanagenote IS NULL AND info IS NULL LIMIT 400", "web"),
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(done)
		for n := range 500 {
			values(n)
		}
	})
	for _, p := range plans {
		all.Go(func() {
			for more := true; more; {
				select {
				case <-done:
					more = false
				default:
				}
				rows, err := (Source{Tree: e.tree}).Select(t.Context(), p)
				if got := strings.Count(lines(t, rows, err), "\n"); got != 301 && got != 302 {
					t.Errorf("%d rows", got)
				}
			}
		})
	}
	all.Wait()
}

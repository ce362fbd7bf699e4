// Package storetest tests what every row store must do. The tests of this package run the suites on the engine that
// BELFRY_TEST_STORE names in the table of app/open.go, by default duck.
//
// The suites use only the interface of a store: rows go in as batches and come out through queries.
package storetest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store"

	"github.com/google/go-cmp/cmp"
)

// Open opens the store in a folder, which may have been used by an earlier one. It must not register a Close.
type Open func(t *testing.T, dir string) store.Store

// Run tests the stores that open opens.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*fixture)
	}{
		{"Order", testOrder},
		{"Types", testTypes},
		{"Absent", testAbsent},
		{"ManyIndicators", testManyIndicators},
		{"Texts", testTexts},
		{"RepeatedPositions", testRepeatedPositions},
		{"RegroupedPositions", testRegroupedPositions},
		{"SeveralBatchesOfAPosition", testSeveralBatches},
		{"LateData", testLateData},
		{"ConcurrentReaders", testConcurrentReaders},
		{"Reopen", testReopen},
		{"Drop", testDrop},
		{"DropIsForGood", testDropIsForGood},
		{"Watermark", testWatermark},
		{"Reached", testReached},
		{"Erase", testErase},
		{"RemovedNames", testRemovedNames},
		{"Copy", testCopy},
		{"Merge", testMerge},
		{"Summaries", testSummaries},
		{"Key", testKey},
		{"SchemaChange", testSchemaChange},
		{"Customers", testCustomers},
		{"Items", testItems},
		{"Means", testMeans},
		{"LimitsAndSpans", testLimitsAndSpans},
		{"Cancelled", testCancelled},
		{"LargeBatches", testLargeBatches},
	} {
		t.Run(test.name, func(t *testing.T) {
			cat, err := catalog.Load()
			if err != nil {
				t.Fatal(err)
			}
			f := &fixture{T: t, dir: t.TempDir(), open: open, catalog: cat}
			f.store = open(t, f.dir)
			t.Cleanup(func() { f.close() })
			test.run(f)
		})
	}
}

// day0 is the start time of test rows.
var day0 = belfry.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))

const (
	second = belfry.Time(time.Second / time.Microsecond)
	hour   = 3600 * second
	day    = 24 * hour
)

// fixture is a store under test.
type fixture struct {
	*testing.T
	dir     string
	open    Open
	store   store.Store
	catalog *catalog.Catalog
}

func (f *fixture) close() {
	f.Helper()
	if f.store == nil {
		return
	}
	if err := f.store.Close(); err != nil {
		f.Error(err)
	}
	f.store = nil
}

func (f *fixture) reopen() {
	f.Helper()
	f.close()
	f.store = f.open(f.T, f.dir)
}

func (f *fixture) append(b ...*belfry.Batch) {
	f.Helper()
	if err := store.AppendAll(context.Background(), f.store, b...); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) drop(collection string, t belfry.Time) {
	f.Helper()
	if err := f.store.Drop(context.Background(), f.catalog.Collection(collection), t); err != nil {
		f.Fatal(err)
	}
}

// plan makes the plan of a query of customer 1.
func (f *fixture) plan(text string) *query.Plan { return f.planOf(1, text) }

func (f *fixture) planOf(customer belfry.CustomerID, text string) *query.Plan {
	f.Helper()
	tree, err := query.Parse(text)
	if err != nil {
		f.Fatal(err)
	}
	p, err := query.Check(tree, f.catalog, query.Options{Customer: customer, Now: day0 + day})
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// rows runs a plan and returns each row as text, its values separated by blanks; an absent value is a dot.
func (f *fixture) rows(p *query.Plan) []string {
	f.Helper()
	list, err := read(f.store, p)
	if err != nil {
		f.Fatal(err)
	}
	return list
}

func read(s store.Store, p *query.Plan) ([]string, error) {
	r, err := s.Select(context.Background(), p)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	list := []string{}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return list[:min(len(list), p.Limit)], nil // one more than the limit means that there are more
		}
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = v.String()
			if v.Type == belfry.AbsentValue {
				texts[i] = "."
			}
		}
		list = append(list, strings.Join(texts, " "))
	}
}

// want checks the answer to a query of customer 1.
func (f *fixture) want(text string, rows ...string) {
	f.Helper()
	f.wantOf(1, text, rows...)
}

func (f *fixture) wantOf(customer belfry.CustomerID, text string, rows ...string) {
	f.Helper()
	if rows == nil {
		rows = []string{}
	}
	if d := cmp.Diff(rows, f.rows(f.planOf(customer, text))); d != "" {
		f.Errorf("%s (-want +got):\n%s", text, d)
	}
}

// all is the span of everything the tests store.
const all = "timestamp >= '2020-01-01T00:00:00Z'"

// batch makes a batch of customer 1. Its times start at t, a second apart.
func batch(collection string, pos belfry.Position, first belfry.RowID, t belfry.Time, rows int, cols ...belfry.Column) *belfry.Batch {
	b := &belfry.Batch{Collection: collection, Customer: 1, Pos: pos, FirstID: first, Columns: cols}
	for i := range rows {
		b.Times = append(b.Times, t+belfry.Time(i)*second)
	}
	return b
}

func numbers(name string, v ...float64) belfry.Column { return belfry.Column{Name: name, Numbers: v} }
func ints(name string, v ...int64) belfry.Column      { return belfry.Column{Name: name, Ints: v} }
func texts(name string, v ...string) belfry.Column    { return belfry.Column{Name: name, Texts: v} }

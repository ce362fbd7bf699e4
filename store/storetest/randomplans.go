package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

// RandomPlans compares a store with query.Eval on random plans. A seed always gives the same plan, and every
// setSize of them use their own rows.
type RandomPlans struct {
	Plans int
	Chunk int    // number of seeds that are counted and logged together
	Log   string // file to which each finished chunk adds a line, and from which the next run resumes; empty: none
	Code  string // version of the code, for the log
}

// setSize is how many plans use the same rows: making rows costs as much as some hundred plans.
const setSize = 500

// maxShown is how many differences are shown before the test ends.
const maxShown = 5

// planCounts counts the outcomes of a number of plans.
type planCounts struct {
	plans, rows, empty, refused int
	differences                 []string
}

func (t *planCounts) add(o planCounts) {
	t.plans, t.rows, t.empty, t.refused = t.plans+o.plans, t.rows+o.rows, t.empty+o.empty, t.refused+o.refused
	t.differences = append(t.differences, o.differences...)
}

// Run runs the seeds in order and fails at the first chunk in which an answer differs.
func (d RandomPlans) Run(t *testing.T, open func(dir string) (store.Store, error)) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var zones []*time.Location
	for i := range uint64(5) {
		zones = append(zones, zone(t, i))
	}
	log, next, err := openPlanLog(d.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	var all planCounts
	for next < d.Plans {
		end := min(next+d.Chunk, d.Plans)
		start := time.Now()
		chunk, err := planRunner{cat, zones, open}.runSeeds(next, end)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range chunk.differences[:min(maxShown, len(chunk.differences))] {
			t.Error(text)
		}
		if n := len(chunk.differences); n > 0 {
			t.Fatalf("seeds %d to %d: %d of %d answers differ", next, end-1, n, chunk.plans)
		}
		if err := log.line(next, end-1, chunk, time.Since(start), d.Code); err != nil {
			t.Fatal(err)
		}
		all.add(chunk)
		next = end
	}
	if all.plans == 0 {
		t.Logf("%s has all %d plans; remove it to run them again", d.Log, d.Plans)
		return
	}
	t.Logf("%d plans: %d with rows, %d without, %d refused", all.plans, all.rows, all.empty, all.refused)
	if all.rows < all.plans/4 || all.refused > all.plans/4 {
		t.Error("most plans say nothing; the rows or the queries are wrong")
	}
}

// planRunner runs plans against stores.
type planRunner struct {
	catalog *catalog.Catalog
	zones   []*time.Location
	open    func(dir string) (store.Store, error)
}

// runSeeds runs the plans from first up to but not including end, by data set and in parallel on all processors.
func (g planRunner) runSeeds(first, end int) (planCounts, error) {
	var (
		mu     sync.Mutex
		all    planCounts
		failed error
		wg     sync.WaitGroup
		free   = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for set := first / setSize; set*setSize < end; set++ {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			some, err := g.runSet(max(first, set*setSize), min(end, (set+1)*setSize))
			mu.Lock()
			defer mu.Unlock()
			all.add(some)
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	return all, failed
}

// runSet runs the plans of one data set.
func (g planRunner) runSet(from, to int) (all planCounts, err error) {
	dir, err := os.MkdirTemp("", "plans")
	if err != nil {
		return all, err
	}
	defer os.RemoveAll(dir)
	s, err := g.open(dir)
	if err != nil {
		return all, err
	}
	defer s.Close()
	f := dataSet{planRunner: g, store: s, parts: querytest.RandomData(rand.New(rand.NewPCG(uint64(from/setSize), 20)), g.catalog)}
	for i, p := range f.parts {
		batches := f.names.Batches(g.catalog, p.Customer, p.Rows)
		for _, b := range batches {
			b.Pos = belfry.Position(i + 1)
		}
		if err := store.AppendAll(context.Background(), s, batches...); err != nil {
			return all, err
		}
	}
	for seed := from; seed < to; seed++ {
		all.add(f.runSeed(seed))
	}
	return all, nil
}

// dataSet is a store with random rows, and the same rows as values.
type dataSet struct {
	planRunner
	store store.Store
	parts []querytest.Part
	names querytest.Items
}

// runSeed runs the plan of one seed. One in sixteen is run as the other customer, on the same files.
func (f *dataSet) runSeed(seed int) (t planCounts) {
	r := rand.New(rand.NewPCG(uint64(seed), 21))
	q := question{customer: querytest.Customer, resolve: r.IntN(2) == 0, zone: f.zones[r.IntN(len(f.zones))]}
	if r.IntN(16) == 0 {
		q.customer++
	}
	if r.IntN(2) == 0 {
		q.text = querytest.Random(r)
	} else {
		q.text = querytest.RandomOf(r, f.catalog, querytest.RowsOf(f.parts, q.customer))
	}
	if r.IntN(4) == 0 {
		q.views = [][]string{{"web01"}, {"web02", "Größe"}, {"web%1", "WEB01", "gone"}}[r.IntN(3)]
	}
	if r.IntN(4) == 0 {
		q.rows = 1 + r.IntN(20)
	}
	t.plans = 1
	o := f.compare(q)
	switch {
	case o.refused:
		t.refused = 1
	case o.differs != "":
		t.differences = []string{fmt.Sprintf("seed %d: %s", seed, f.explain(q, o))}
	case o.rows:
		t.rows = 1
	default:
		t.empty = 1
	}
	return t
}

type question struct {
	text     string
	customer belfry.CustomerID
	views    []string // that the user is limited to
	resolve  bool     // names are resolved first
	zone     *time.Location
	rows     int // parameter rows; 0: not given
}

type outcome struct {
	refused bool
	rows    bool
	differs string // how; empty: both answers agree
	plan    *query.Plan
}

func (f *dataSet) compare(q question) outcome {
	c := querytest.Case{Query: q.text, Options: query.Options{Customer: q.customer, Views: q.views, Now: querytest.Now, Location: q.zone, Rows: q.rows}}
	p, err := c.Plan(f.catalog)
	switch code := belfry.CodeOf(err); {
	case err != nil && (code == belfry.BadQuery || code == belfry.TimeSpanRequired):
		return outcome{refused: true}
	case err != nil:
		return outcome{differs: "the error is not one for clients: " + err.Error()}
	}
	if p.Within != nil { // before that, nothing is in scope
		p.Resolve(context.Background(), f.names)
	}
	want, err := evaluate(p, querytest.RowsOf(f.parts, q.customer)[p.Collection.Name])
	if err != nil {
		return outcome{plan: p, differs: "Eval: " + err.Error()}
	}
	var names query.ItemNames
	if q.resolve { // as the service does
		p.Resolve(context.Background(), f.names)
		names = f.names
	}
	got, err := selected(f.store, names, p)
	if err != nil {
		return outcome{plan: p, differs: "the store: " + err.Error()}
	}
	if !sameAnswer(p, got, want) {
		return outcome{plan: p, differs: "the store answers\n" + got.text + "and Eval\n" + want.text}
	}
	return outcome{plan: p, rows: want.hasRows()}
}

// explain describes a difference, with a shorter query that also shows one.
func (f *dataSet) explain(q question, o outcome) string {
	text := q.text + "\n" + o.differs
	if o.plan != nil {
		text += "plan\n" + o.plan.String() + "\n"
	}
	short := shorten(q.text, func(text string) bool {
		try := q
		try.text = text
		return f.compare(try).differs != ""
	})
	if short != q.text {
		q.text = short
		text += "shorter: " + short + "\n" + f.compare(q).differs
	}
	return text
}

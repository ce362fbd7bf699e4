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

// Duel compares the answers of a store and query.Eval to random plans. Each seed always results in the same plan, and
// every setSize of them have their own rows.
type Duel struct {
	Plans int
	Chunk int    // number of seeds that are counted and logged together
	Log   string // file with a line for each finished chunk, after which the next run continues; empty: none
	Code  string // version of the code under test, written to the log
}

// setSize is how many plans run on the same rows: generating rows costs as much as a few hundred plans.
const setSize = 500

// maxShown is how many differences are shown before the comparison ends.
const maxShown = 5

// tally is the result of a number of plans.
type tally struct {
	plans, rows, empty, refused int
	differences                 []string
}

func (t *tally) add(o tally) {
	t.plans, t.rows, t.empty, t.refused = t.plans+o.plans, t.rows+o.rows, t.empty+o.empty, t.refused+o.refused
	t.differences = append(t.differences, o.differences...)
}

// Run runs the seeds in order and fails at the first chunk in which an answer differs.
func (d Duel) Run(t *testing.T, open func(dir string) (store.Store, error)) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var zones []*time.Location
	for i := range uint64(5) {
		zones = append(zones, zone(t, i))
	}
	log, next, err := openDuelLog(d.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	var all tally
	for next < d.Plans {
		end := min(next+d.Chunk, d.Plans)
		start := time.Now()
		chunk, err := chunkRunner{cat, zones, open}.seeds(next, end)
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
		t.Logf("%s has all %d plans; remove it to ask them anew", d.Log, d.Plans)
		return
	}
	t.Logf("%d plans: %d with rows, %d without, %d refused", all.plans, all.rows, all.empty, all.refused)
	if all.rows < all.plans/4 || all.refused > all.plans/4 {
		t.Error("most plans say nothing; the rows or the queries have gone astray")
	}
}

// chunkRunner runs a chunk of seeds.
type chunkRunner struct {
	catalog *catalog.Catalog
	zones   []*time.Location
	open    func(dir string) (store.Store, error)
}

// seeds runs the plans from first to before end, one data set at a time and as many at once as there are processors.
func (g chunkRunner) seeds(first, end int) (tally, error) {
	var (
		mu     sync.Mutex
		all    tally
		failed error
		wg     sync.WaitGroup
		free   = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for set := first / setSize; set*setSize < end; set++ {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			some, err := g.set(max(first, set*setSize), min(end, (set+1)*setSize))
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

// set runs plans on one data set.
func (g chunkRunner) set(from, to int) (all tally, err error) {
	dir, err := os.MkdirTemp("", "duel")
	if err != nil {
		return all, err
	}
	defer os.RemoveAll(dir)
	s, err := g.open(dir)
	if err != nil {
		return all, err
	}
	defer s.Close()
	f := comparison{chunkRunner: g, store: s, parts: querytest.RandomData(rand.New(rand.NewPCG(uint64(from/setSize), 20)), g.catalog)}
	for i, p := range f.parts {
		batches := f.names.Batches(g.catalog, p.Customer, p.Rows)
		for _, b := range batches {
			b.Pos = belfry.Position(i + 1)
		}
		if err := s.Append(context.Background(), batches...); err != nil {
			return all, err
		}
	}
	for seed := from; seed < to; seed++ {
		all.add(f.seed(seed))
	}
	return all, nil
}

// comparison is a store with a data set, and the same rows in memory.
type comparison struct {
	chunkRunner
	store store.Store
	parts []querytest.Part
	names querytest.Items
}

// seed runs the plan of one seed. One in sixteen is of the other customer, on the same files.
func (f *comparison) seed(seed int) (t tally) {
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
	o := f.ask(q)
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
	views    []string // scope
	resolve  bool     // names are looked up first
	zone     *time.Location
	rows     int // the parameter; 0: not given
}

// outcome is the result of a question.
type outcome struct {
	refused bool
	rows    bool
	differs string // the difference; empty if both answers agree
	plan    *query.Plan
}

func (f *comparison) ask(q question) outcome {
	c := querytest.Case{Query: q.text, Options: query.Options{Customer: q.customer, Views: q.views, Now: querytest.Now, Location: q.zone, Rows: q.rows}}
	p, err := c.Plan(f.catalog)
	switch code := belfry.CodeOf(err); {
	case err != nil && (code == belfry.BadQuery || code == belfry.TimeSpanRequired):
		return outcome{refused: true}
	case err != nil:
		return outcome{differs: "the error is not one for clients: " + err.Error()}
	}
	if p.Within != nil { // before it is resolved nothing is inside
		p.Resolve(context.Background(), f.names)
	}
	want, err := evaluate(p, querytest.RowsOf(f.parts, q.customer)[p.Collection.Name])
	if err != nil {
		return outcome{plan: p, differs: "Eval: " + err.Error()}
	}
	var source query.Source = f.store
	if q.resolve { // as the service does
		p.Resolve(context.Background(), f.names)
		source = query.WithNames{Source: f.store, Labels: f.names}
	}
	got, err := selected(source, p)
	if err != nil {
		return outcome{plan: p, differs: "the store: " + err.Error()}
	}
	if !sameAnswer(p, got, want) {
		return outcome{plan: p, differs: "the store answers\n" + got.text + "and Eval\n" + want.text}
	}
	return outcome{plan: p, rows: want.hasRows()}
}

// explain describes a difference, with a shorter query that shows one as well.
func (f *comparison) explain(q question, o outcome) string {
	text := q.text + "\n" + o.differs
	if o.plan != nil {
		text += "plan\n" + o.plan.String() + "\n"
	}
	short := shrink(q.text, func(text string) bool {
		try := q
		try.text = text
		return f.ask(try).differs != ""
	})
	if short != q.text {
		q.text = short
		text += "shorter: " + short + "\n" + f.ask(q).differs
	}
	return text
}

package storetest

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the zones, where the machine has none

	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

// Queries asks the golden queries of the query package, and as many random ones as given, and compares the answers with
// those of query.Eval, the judge. testdata is the folder of the golden queries.
func Queries(t *testing.T, open Open, testdata fs.FS, random int) {
	j := newJudge(t, open, testdata)
	files, err := fs.Glob(testdata, "*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	golden := 0
	for _, file := range files {
		if file == "data.txtar" { // the rows
			continue
		}
		text, err := fs.ReadFile(testdata, file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := querytest.Cases(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			golden += j.golden(t, c)
		}
	}
	if golden == 0 {
		t.Fatal("no golden query was asked")
	}
	for seed := range uint64(random) {
		j.random(t, seed)
	}
}

// judge holds a store and the same rows in plain sight.
type judge struct {
	catalog *catalog.Catalog
	store   store.Store
	data    map[string][]querytest.Row
	names   query.Names
}

func newJudge(t *testing.T, open Open, testdata fs.FS) *judge {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{catalog: cat, store: open(t, t.TempDir())}
	t.Cleanup(func() { j.store.Close() })
	if j.data, err = querytest.Data(testdata, cat); err != nil {
		t.Fatal(err)
	}
	batches, names := querytest.Batches(cat, j.data)
	for i, b := range batches {
		b.Pos = uint64(i + 1)
	}
	if err := j.store.Append(context.Background(), batches...); err != nil {
		t.Fatal(err)
	}
	j.names = names
	return j
}

// golden asks a golden query with and without resolved names, and as another customer, who must see nothing.
func (j *judge) golden(t *testing.T, c *querytest.Case) int {
	p, err := c.Plan(j.catalog)
	if err != nil || !p.Collection.Historical {
		return 0
	}
	j.ask(t, c.Name, p, c.Parts["rows"])
	p.Resolve(j.names)
	j.ask(t, c.Name+" by id", p, c.Parts["rows"])
	c.Options.Customer = querytest.Customer + 1
	if p, err = c.Plan(j.catalog); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	j.ask(t, c.Name+" of another customer", p, j.eval(t, p, nil))
	return 1
}

func (j *judge) random(t *testing.T, seed uint64) {
	c := querytest.Case{
		Query:   querytest.Random(rand.New(rand.NewPCG(seed, 11))),
		Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Location: zone(t, seed)},
	}
	p, err := c.Plan(j.catalog)
	if err != nil {
		t.Fatalf("%s: %v", c.Query, err)
	}
	if seed%2 == 0 {
		p.Resolve(j.names)
	}
	j.ask(t, c.Query, p, j.eval(t, p, j.data[p.Collection.Name]))
}

// zone is one of several, most of which change their clocks.
func zone(t *testing.T, seed uint64) *time.Location {
	t.Helper()
	names := []string{"UTC", "Europe/Paris", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe"}
	z, err := time.LoadLocation(names[seed%uint64(len(names))])
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func (j *judge) eval(t *testing.T, p *query.Plan, rows []querytest.Row) string {
	t.Helper()
	answer, err := query.Eval(p, func(yield func(query.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := querytest.Format(p, answer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (j *judge) ask(t *testing.T, name string, p *query.Plan, want string) {
	t.Helper()
	rows, err := j.store.Select(context.Background(), p)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got, err := querytest.Format(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !querytest.Same(got, want) {
		t.Errorf("%s:\ngot\n%swant\n%s", name, got, want)
	}
}

package storetest

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // in case the machine has no time zones

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store"
)

// Queries runs the golden queries of package query and a number of random ones, and compares the answers with those of
// query.Eval, the reference. testdata is the folder of the golden queries.
func Queries(t *testing.T, open Open, testdata fs.FS, random int) {
	j := newComparison(t, open, testdata)
	all, err := querytest.All(testdata)
	if err != nil {
		t.Fatal(err)
	}
	var golden []*querytest.Case
	for _, c := range all {
		if j.golden(t, c) {
			golden = append(golden, c)
		}
	}
	if len(golden) < 150 {
		t.Fatalf("%d golden queries were run", len(golden))
	}
	for i, c := range golden {
		if testing.Short() && i%5 != 0 {
			continue // the rest is part of make soak
		}
		j.otherCustomer(t, c)
	}
	for seed := range uint64(random) {
		j.random(t, seed)
	}
	scoped(t, open)
}

// comparison has a store and the same rows as values.
type comparison struct {
	catalog *catalog.Catalog
	store   store.Store
	data    map[string][]querytest.Row
	names   querytest.Items
}

func newComparison(t *testing.T, open Open, testdata fs.FS) *comparison {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	j := &comparison{catalog: cat, store: open(t, t.TempDir())}
	t.Cleanup(func() { j.store.Close() })
	if j.data, err = querytest.Data(testdata, cat); err != nil {
		t.Fatal(err)
	}
	batches, names := querytest.Batches(cat, j.data)
	for i, b := range batches {
		b.Pos = belfry.Position(i + 1)
	}
	if err := store.AppendAll(context.Background(), j.store, batches...); err != nil {
		t.Fatal(err)
	}
	j.names = names
	return j
}

// golden runs a golden query of a historical collection with and without resolved names.
func (j *comparison) golden(t *testing.T, c *querytest.Case) bool {
	p, err := c.Plan(j.catalog)
	if err != nil || !p.Collection.Historical {
		return false
	}
	if p.Within != nil { // before that, nothing is in scope
		p.Resolve(t.Context(), j.names)
	}
	want := j.eval(t, p, j.data[p.Collection.Name])
	if want.text != c.Parts["rows"] {
		t.Errorf("%s: Eval gives\n%swant\n%s", c.Name, want.text, c.Parts["rows"])
	}
	j.compare(t, c.Name, p, want)
	p.Resolve(t.Context(), j.names)
	j.compare(t, c.Name+" by id", p, want)
	return true
}

// otherCustomer runs a golden query as another customer: there are no rows or, if all rows are aggregated into one, the
// one for no rows. The same holds if the plan has item ids of the first customer.
func (j *comparison) otherCustomer(t *testing.T, c *querytest.Case) {
	t.Helper()
	options := c.Options
	options.Customer++
	p, err := (&querytest.Case{Query: c.Query, Options: options}).Plan(j.catalog)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	nothing := j.eval(t, p, nil)
	if single := p.Grouping != nil && len(p.Grouping.Keys) == 0; !single && nothing.hasRows() {
		t.Errorf("%s: rows are made of nothing:\n%s", c.Name, nothing.text)
	}
	j.compare(t, c.Name+" of another customer", p, nothing)
	p.Resolve(t.Context(), j.names)
	j.compare(t, c.Name+" of another customer by id", p, nothing)
	p.Resolve(t.Context(), anyCustomer{j.names})
	j.compare(t, c.Name+" of another customer by ids that are not his", p, nothing)
}

// anyCustomer finds items of querytest.Customer for every customer, which a real tree never does.
type anyCustomer struct{ query.ItemNames }

func (a anyCustomer) Items(ctx context.Context, s belfry.Scope, m query.ItemMatch) ([]belfry.ID, bool, error) {
	s.Customer = querytest.Customer
	return a.ItemNames.Items(ctx, s, m)
}

func (a anyCustomer) Places(s belfry.Scope) (places, tops []belfry.ID) {
	s.Customer = querytest.Customer
	return a.ItemNames.Places(s)
}

func (j *comparison) random(t *testing.T, seed uint64) {
	c := querytest.Case{
		Query:   querytest.Random(rand.New(rand.NewPCG(seed, 11))),
		Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Location: zone(t, seed)},
	}
	if seed%3 == 0 {
		c.Options.Views = []string{"web01", "no such resource"}
	}
	p, err := c.Plan(j.catalog)
	if err != nil {
		t.Fatalf("%s: %v", c.Query, err)
	}
	if seed%2 == 0 || p.Within != nil {
		p.Resolve(t.Context(), j.names)
	}
	j.compare(t, c.Query, p, j.eval(t, p, j.data[p.Collection.Name]))
}

// zone returns one of several time zones, most of which have daylight saving time.
func zone(t *testing.T, seed uint64) *time.Location {
	t.Helper()
	names := []string{"UTC", "Europe/Paris", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe"}
	z, err := time.LoadLocation(names[seed%uint64(len(names))])
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func (j *comparison) eval(t *testing.T, p *query.Plan, rows []querytest.Row) *answer {
	t.Helper()
	a, err := evaluate(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (j *comparison) compare(t *testing.T, name string, p *query.Plan, want *answer) {
	t.Helper()
	for _, names := range []query.ItemNames{nil, j.names} {
		got, err := selected(j.store, names, p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !sameAnswer(p, got, want) {
			t.Errorf("%s, names by the store %v:\ngot\n%swant\n%s", name, names == nil, got.text, want.text)
		}
	}
}

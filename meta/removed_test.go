package meta

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"belfry"
	"belfry/meta/sqlite"
	"belfry/query"
)

func itemsOf(t *testing.T, tree *Tree, s belfry.Scope, m query.ItemMatch) []belfry.ID {
	t.Helper()
	ids, known, err := tree.History().Items(t.Context(), s, m)
	if err != nil || !known {
		t.Fatalf("items are not known: %v", err)
	}
	slices.Sort(ids)
	return ids
}

func apart(t *testing.T, tree *Tree, c belfry.CustomerID, fields []string, items []belfry.ID) bool {
	t.Helper()
	ok, err := tree.History().NamesUnique(t.Context(), c, fields, items)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func everOf(t *testing.T, tree *Tree, c belfry.CustomerID) (nodes []*Node) {
	t.Helper()
	for list, err := range tree.History().ItemsAt(t.Context(), c, 0) {
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, list...)
	}
	return nodes
}

// churn is a database with a customer and one resource, into which objects come and from which they go again.
type churn struct {
	*testing.T
	path  string
	added []*belfry.Record // to the mover, since the tree was loaded or everything written
	db    *sqlite.DB
	tree  *Tree
	mover *sqlite.Mover
	pos   belfry.Position
	id    belfry.ID
}

func newChurn(t *testing.T) *churn {
	c := &churn{T: t, path: filepath.Join(t.TempDir(), "meta.db")}
	c.db = openFile(t, c.path)
	c.load()
	c.apply(&belfry.Record{
		Customer: 1,
		Docs:     []belfry.Doc{{Kind: belfry.DocCustomer, Customer: 1, Name: "default", Body: []byte(`{"id":1,"name":"default"}`)}},
		Items: []belfry.Item{
			{ID: 1, Customer: 1, Kind: belfry.KindView, Name: belfry.Main, Class: "generic"},
			{ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "web01", Class: "custom", Parent: 1, Resource: 2},
		},
	})
	c.id = 2
	return c
}

// load reads the tree as a start does.
func (c *churn) load() {
	c.Helper()
	c.added = nil
	var err error
	if c.tree, err = LoadTree(c.Context(), c.db, loadCatalog(c.T)); err != nil {
		c.Fatal(err)
	}
	c.mover = sqlite.NewMover(c.db, sqlite.MoverOptions{States: c.tree.States, Removed: c.tree.History().Archived, Log: slog.New(slog.DiscardHandler)})
}

// apply does what a commit does.
func (c *churn) apply(r *belfry.Record) {
	c.Helper()
	c.pos++
	r.SetPos(c.pos)
	if err := c.tree.Apply(r); err != nil {
		c.Fatal(err)
	}
	c.added = append(c.added, r)
	c.mover.Add(r)
}

func (c *churn) object(id belfry.ID, name string, removed belfry.Time) belfry.Item {
	return belfry.Item{
		ID: id, Customer: 1, Kind: belfry.KindObject, Name: name, Class: "cpu", Parent: 2, Resource: 2,
		Created: belfry.Time(id), Removed: removed, Details: &belfry.Details{IP: "10.0.0.1"},
	}
}

// make creates n objects and removes them again, one record each.
func (c *churn) make(n int, at belfry.Time) {
	c.Helper()
	made, gone := &belfry.Record{Customer: 1}, &belfry.Record{Customer: 1}
	for range n {
		c.id++
		name := fmt.Sprintf("container-%08d", c.id)
		made.Items, gone.Items = append(made.Items, c.object(c.id, name, 0)), append(gone.Items, c.object(c.id, name, at))
		made.States = append(made.States, belfry.StateChange{Item: c.id, State: belfry.State{Status: belfry.OK, Since: at}})
	}
	c.apply(made)
	c.apply(gone)
}

func (c *churn) drain() {
	c.Helper()
	c.added = nil
	if err := c.mover.Drain(c.Context()); err != nil {
		c.Fatal(err)
	}
	if err := c.db.MarkRows(c.Context(), c.pos); err != nil {
		c.Fatal(err)
	}
	if err := c.tree.Apply(&belfry.Record{Pos: c.pos, Customer: 1}); err != nil { // forgets what is written
		c.Fatal(err)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A removed item takes no memory once the database has it.
func TestRemovedItemsTakeNoMemory(t *testing.T) {
	c := newChurn(t)
	c.make(2000, 100)
	c.drain()
	before := heap()
	const n = 20_000
	for range 10 {
		c.make(n/10, 100)
		c.drain()
	}
	each := float64(heap()-before) / n
	t.Logf("%.1f bytes for each removed item", each)
	if each >= 100 {
		t.Errorf("%.1f bytes of heap for each removed item", each)
	}
	if left := c.tree.nodes.Len(); left != 2 {
		t.Errorf("%d items are in memory", left)
	}
	runtime.KeepAlive(c)
}

// A start reads nothing of removed items, and does not give their ids again.
func TestStartReadsNoRemovedItems(t *testing.T) {
	c := newChurn(t)
	c.make(500, 100)
	c.drain()
	read := 0
	if err := c.db.Load(t.Context(), sqlite.Visitor{Item: func(belfry.Item) { read++ }, State: func(belfry.ID, *belfry.ItemState) { read++ }}); err != nil {
		t.Fatal(err)
	}
	if read > 4 { // MAIN and the resource, and their states
		t.Errorf("a start reads %d rows", read)
	}
	c.load()
	if last := c.tree.LastID(); last != c.id {
		t.Errorf("the last id is %d, want %d", last, c.id)
	}
}

// A list of names lacks some if an item was removed after it, and neither a replay brings the name nor is the item purged or a graphical element.
func TestRemovedAfter(t *testing.T) {
	c := newChurn(t)
	f := func(what string, pos belfry.Position, want bool) {
		t.Helper()
		if got, err := c.db.RemovedAfter(t.Context(), pos); err != nil || got != want {
			t.Errorf("%s: removed after %d: %t, %v; want %t", what, pos, got, err, want)
		}
	}
	c.drain()
	f("nothing removed", 0, false)
	c.make(3, 100)
	removed := c.pos
	if err := c.mover.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	f("the row store is behind", 0, false)
	c.drain()
	f("arrived", removed-1, true)
	f("arrived", removed, false)
	var batches []belfry.Position
	err := c.tree.History().RemovedDimensions(t.Context(), func(b *belfry.Batch) error {
		batches = append(batches, b.Pos)
		return nil
	})
	if err != nil || !slices.Equal(batches, []belfry.Position{removed}) {
		t.Errorf("names at %d, %v; want %d", batches, err, removed)
	}
	drawn := belfry.Item{ID: c.id + 1, Customer: 1, Kind: belfry.KindElement, Name: "logo", Package: "label", Parent: 1, Created: 100}
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{drawn}})
	drawn.Removed = 101
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{drawn}})
	c.drain()
	f("a graphical element", removed, false)
	if _, err := c.db.Purge(t.Context(), 1000, func([]belfry.ID) error { return nil }); err != nil {
		t.Fatal(err)
	}
	f("purged", 0, false)
}

// Removed items are found by name and by id, also when the name was given again, before and after the database has them.
func TestHistoryOfRemovedItems(t *testing.T) {
	c := newChurn(t)
	web, cpu, class := "web01", "cpu 1", "cpu"
	check := func(when string, want ...belfry.ID) {
		t.Helper()
		whole := belfry.Whole(1)
		if got := itemsOf(t, c.tree, whole, query.ItemMatch{Object: &cpu}); !slices.Equal(got, want) {
			t.Errorf("%s: the name finds %d, want %d", when, got, want)
		}
		if got := itemsOf(t, c.tree, whole, query.ItemMatch{Object: &cpu, Resource: &web, View: &web, Class: &class}); !slices.Equal(got, want) {
			t.Errorf("%s: all names find %d, want %d", when, got, want)
		}
		if got := itemsOf(t, c.tree, whole, query.ItemMatch{Resource: &web}); !slices.Equal(got, append([]belfry.ID{2}, want...)) {
			t.Errorf("%s: the resource has %d, want %d", when, got, want)
		}
		if got := itemsOf(t, c.tree, belfry.Scope{Customer: 1, Views: []string{web}}, query.ItemMatch{Object: &cpu}); !slices.Equal(got, want) {
			t.Errorf("%s: inside the resource are %d, want %d", when, got, want)
		}
		if got := itemsOf(t, c.tree, belfry.Whole(2), query.ItemMatch{Object: &cpu}); len(got) > 0 {
			t.Errorf("%s: another customer finds %d", when, got)
		}
		for _, id := range want {
			l, err := c.tree.History().Label(t.Context(), 1, id)
			if want := (query.Label{Resource: web, View: web, Object: cpu, Class: class, IP: "10.0.0.1"}); err != nil || l != want {
				t.Errorf("%s: label of %d is %+v, %v", when, id, l, err)
			}
			if other, err := c.tree.History().Label(t.Context(), 2, id); err != nil || other != (query.Label{}) {
				t.Errorf("%s: another customer sees %+v, %v", when, other, err)
			}
		}
		names := make([]string, len(want))
		if err := c.tree.History().Names(t.Context(), 1, "object", want, names); err != nil || slices.ContainsFunc(names, func(s string) bool { return s != cpu }) {
			t.Errorf("%s: names are %q, %v", when, names, err)
		}
		if len(want) > 1 && apart(t, c.tree, 1, []string{"object"}, want) {
			t.Errorf("%s: items of one name are taken for apart", when)
		}
		if !apart(t, c.tree, 1, []string{"object"}, want[:1]) {
			t.Errorf("%s: one item is not apart", when)
		}
	}
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(3, cpu, 0)}})
	check("created", 3)
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(3, cpu, 50)}})
	check("removed", 3)
	c.drain()
	check("in the database", 3)
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(4, cpu, 0)}})
	check("created again", 3, 4)
	c.drain()
	c.load()
	check("after a restart", 3, 4)
	for at, want := range map[belfry.Time][]belfry.ID{20: {1, 2, 3, 4}, 50: {1, 2, 4}} {
		var got []belfry.ID
		for list, err := range c.tree.History().ItemsAt(t.Context(), 1, at) {
			if err != nil {
				t.Fatal(err)
			}
			for n := range c.tree.EachWithRemoved(list) {
				if n.Removed != 0 && n.Removed <= at {
					continue
				}
				if got = append(got, n.ID); n.ID == 3 && (n.Parent == nil || n.Parent.Name != web || n.Resource != n.Parent) {
					t.Errorf("item 3 stood in %v of %v", n.Parent, n.Resource)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("at %d there were %d, want %d", at, got, want)
		}
	}
	if n, err := c.db.Purge(t.Context(), 51, func([]belfry.ID) error { return nil }); err != nil || n != 1 {
		t.Fatalf("purged %d, %v", n, err)
	}
	if err := c.tree.History().Purged(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("purged", 4)
	if c.tree.customers[1].hasRemoved {
		t.Error("the customer still counts as one with removed items")
	}
}

// A crash may lose the position but not what was written: records that are met again change nothing, though the name
// of a removed item belongs to another one by now.
func TestReplayMeetsRemovedItems(t *testing.T) {
	c := newChurn(t)
	c.drain()
	records := []*belfry.Record{
		{Customer: 1, Items: []belfry.Item{c.object(3, "cpu 1", 0)}},
		{Customer: 1, Items: []belfry.Item{c.object(3, "cpu 1", 50)}},
		{Customer: 1, Items: []belfry.Item{c.object(4, "cpu 1", 0)}},
	}
	position := c.pos
	write := func(records []*belfry.Record) { // configuration, without the position
		t.Helper()
		if err := c.db.Apply(t.Context(), records, nil); err != nil {
			t.Fatal(err)
		}
		c.db.Close()
		setPosition(t, c.path, position)
		c.db = openFile(t, c.path)
	}
	for _, r := range records {
		c.apply(r)
	}
	write(records)
	for met := range len(records) + 1 { // another crash comes in the middle of the replay
		c.load()
		for _, r := range records[:met] {
			if err := c.tree.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		write(records[:met])
		c.load()
		for _, r := range records {
			if err := c.tree.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		c.tree.Recovery().End()
		checkIndexes(t, c.tree)
		if n, several := c.tree.Tenant(1).Object("cpu 1"); n == nil || n.ID != 4 || several {
			t.Fatalf("after %d records the name belongs to %v", met, n)
		}
	}
}

// TestNumbersStay: an item has the same number after a start, whatever was removed before it, and a number is not given again.
func TestNumbersStay(t *testing.T) {
	c := newChurn(t)
	c.make(3, 100)
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(10, "stays", 0)}})
	c.make(2, 100) // the last numbers are those of removed items
	const want = 6
	f := func(when string, next uint32) {
		t.Helper()
		if got := c.tree.Node(10).Number; got != want {
			t.Errorf("%s: number %d, want %d", when, got, want)
		}
		it := c.object(c.tree.LastID()+1, fmt.Sprint("next ", next), 0)
		c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{it}})
		if got := c.tree.Node(it.ID).Number; got != next {
			t.Errorf("%s: the next number is %d, want %d", when, got, next)
		}
	}
	f("before", 9)
	c.drain()
	for _, n := range everOf(t, c.tree, 1) {
		if n.Number == 0 || n.Name == "container-00000005" && n.Number != 5 {
			t.Errorf("%s has number %d", n.Name, n.Number)
		}
	}
	c.load()
	f("after a start", 10)
	c.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{c.object(c.tree.LastID(), "next 10", 100)}})
	c.drain()
	if _, err := c.db.Purge(t.Context(), 1000, func([]belfry.ID) error { return nil }); err != nil {
		t.Fatal(err)
	}
	c.load()
	f("after a purge", 11)
}

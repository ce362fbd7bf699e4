package meta

import (
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
	"belfry/query"

	"github.com/google/go-cmp/cmp"
)

var loadOnce = sync.OnceValues(catalog.Load)

func loadCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// history makes records of one customer at random: items created, moved, removed and made again, states and data.
type history struct {
	rnd     *rand.Rand
	records []*belfry.Record
	items   map[belfry.ID]belfry.Item // as they are now
	lastID  belfry.ID
	nextRow belfry.RowID
}

func newHistory(seed uint64, records int) *history {
	h := &history{rnd: rand.New(rand.NewPCG(seed, 1)), items: map[belfry.ID]belfry.Item{}, nextRow: 1}
	body, _ := json.Marshal(belfry.Customer{ID: 1, Name: "c"})
	first := h.record()
	first.Docs = []belfry.Doc{{Kind: belfry.DocCustomer, Name: "c", Body: body}}
	h.put(first, belfry.Item{Kind: belfry.KindView, Name: belfry.Main, Class: "generic"})
	h.put(first, belfry.Item{Kind: belfry.KindResource, Name: "r1", Class: "custom", Parent: 1})
	h.put(first, belfry.Item{Kind: belfry.KindResource, Name: "r2", Class: "custom", Parent: 1})
	for range records {
		r := h.record()
		for range 1 + h.rnd.IntN(5) {
			h.step(r)
		}
	}
	return h
}

func (h *history) record() *belfry.Record {
	r := &belfry.Record{Time: belfry.Time(len(h.records) + 1), Customer: 1}
	h.records = append(h.records, r)
	return r
}

// put adds an item to a record, giving it an id when it is new.
func (h *history) put(r *belfry.Record, it belfry.Item) {
	if it.ID == 0 {
		h.lastID++
		it.ID, it.Customer, it.Created = h.lastID, 1, r.Time
		if it.Kind == belfry.KindResource {
			it.Resource = it.ID
		}
	}
	h.items[it.ID] = it
	r.Items = append(r.Items, it)
}

// pick gives an existing item that ok agrees to.
func (h *history) pick(ok func(belfry.Item) bool) (it belfry.Item, found bool) {
	var ids []belfry.ID
	for id, it := range h.items {
		if it.Removed == 0 && ok(it) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return it, false
	}
	slices.Sort(ids)
	return h.items[ids[h.rnd.IntN(len(ids))]], true
}

func isObject(it belfry.Item) bool { return it.Kind == belfry.KindObject }
func inside(it belfry.Item) bool   { return it.Kind != belfry.KindObject && it.Resource != 0 }

func (h *history) step(r *belfry.Record) {
	switch h.rnd.IntN(10) {
	case 0, 1, 2: // a new object, of a name that may have been used before
		parent, _ := h.pick(inside)
		name := fmt.Sprintf("o%d", h.rnd.IntN(8))
		if _, taken := h.pick(func(it belfry.Item) bool { return isObject(it) && it.Name == name && it.Resource == parent.Resource }); !taken {
			h.put(r, belfry.Item{Kind: belfry.KindObject, Name: name, Class: "k", Parent: parent.ID, Resource: parent.Resource})
		}
	case 3: // a new view
		parent, _ := h.pick(inside)
		h.put(r, belfry.Item{Kind: belfry.KindView, Name: fmt.Sprintf("v%d", h.lastID), Class: "generic", Parent: parent.ID, Resource: parent.Resource})
	case 4: // an object moves
		if it, ok := h.pick(isObject); ok {
			to, _ := h.pick(func(p belfry.Item) bool { return inside(p) && p.Resource == it.Resource })
			it.Parent = to.ID
			h.put(r, it)
		}
	case 5: // an object goes
		if it, ok := h.pick(isObject); ok {
			it.Removed = r.Time
			h.put(r, it)
		}
	case 6: // a status changes
		if it, ok := h.pick(func(belfry.Item) bool { return true }); ok {
			s := belfry.State{Status: belfry.Status(h.rnd.IntN(belfry.Statuses)), Since: r.Time}
			if n := h.rnd.IntN(4); n > 0 {
				s.Operator = &belfry.OperatorState{Note: "n", Windows: make([]belfry.Window, n-1)}
			}
			r.States = append(r.States, belfry.StateChange{Item: it.ID, State: s})
		}
	default:
		h.data(r)
	}
}

func (h *history) data(r *belfry.Record) {
	b := &belfry.Batch{Collection: belfry.ObjectData, Customer: 1, FirstID: h.nextRow}
	var ids []int64
	var i1, i3 []float64
	var s2 []string
	for range 1 + h.rnd.IntN(4) {
		it, ok := h.pick(isObject)
		if !ok {
			return
		}
		ids = append(ids, int64(it.ID))
		b.Times = append(b.Times, r.Time-belfry.Time(h.rnd.IntN(5))) // some are late
		i1 = append(i1, h.rnd.Float64())
		i3 = append(i3, []float64{math.NaN(), h.rnd.Float64()}[h.rnd.IntN(2)])
		s2 = append(s2, []string{"", "up", "down"}[h.rnd.IntN(3)])
	}
	h.nextRow += belfry.RowID(len(ids))
	b.Columns = []belfry.Column{{Name: "item", Ints: ids}, {Name: "i1", Numbers: i1}, {Name: "i3", Numbers: i3}, {Name: "s2", Texts: s2}}
	r.Batches = append(r.Batches, b)
}

// apply applies the records from the given one on.
func (h *history) apply(t *testing.T, tree *Tree, from int) {
	t.Helper()
	for i, r := range h.records[from:] {
		r.SetPos(belfry.Position(from + i + 1))
		if err := tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
}

// visible is all that can be seen of a tree.
func visible(tree *Tree) map[belfry.ID]any {
	all := map[belfry.ID]any{}
	for _, n := range tree.nodes.From(0) {
		if n == nil {
			continue
		}
		it := n.Item()
		s := n.State
		s.Numbers, s.Texts = slices.Clone(s.Numbers), slices.Clone(s.Texts)
		counts := n.Counts()
		if n.Removed != 0 {
			s = belfry.ItemState{} // nobody sees it any more
		}
		care, _ := json.Marshal(s.Operator)
		s.Operator = nil
		all[it.ID] = fmt.Sprintf("%+v %+v %s %v", it, s, care, counts)
	}
	return all
}

// checkIndexes compares every index with what a look at all nodes gives.
func checkIndexes(t *testing.T, tree *Tree) {
	t.Helper()
	e := tree.customers[1]
	alive, memory := 0, int64(0)
	for _, n := range tree.nodes.From(0) {
		if n == nil {
			continue
		}
		if n.Removed == 0 {
			memory += ItemSize(n.Kind, n.Name, n.Package) + stateSize(&n.State)
			if n.Kind == belfry.KindObject {
				memory += int64(min(Thresholds(n.Class.Def)+e.sets[n.Class.Name], mostMarks)) * markSize
			}
		}
		found := false
		e.ByStatus(n.State.Status, func(m *Node) bool { found = found || m == n; return true })
		inClass := false
		e.ByClass(n.Class.Name, func(m *Node) bool { inClass = inClass || m == n; return true })
		named := false
		switch {
		case n.Kind == belfry.KindObject:
			named = n.Resource.Object(n.Name) == n
			found := slices.Contains(slices.Collect(e.ObjectsNamed(n.Name)), n)
			if found != named {
				t.Errorf("object %q: found by resource %v, in the customer %v", n.Name, named, found)
			}
		case n.Resource != nil && n.Kind == belfry.KindView:
			named = n.Resource.View(n.Name) == n
		default:
			named = e.Place(n.Name) == n
		}
		checkLists(t, e, n)
		if want := n.Removed == 0; found != want || inClass != want || named != want {
			t.Errorf("%s %q: exists %v, by status %v, by class %v, by name %v", n.Kind, n.Name, want, found, inClass, named)
		}
		if want := n.Removed == 0 && n.State.Operator.HasWindows(); e.windowed.At(uint64(n.Number)) != want {
			t.Errorf("%s %q: has windows %v, and is among those items %v", n.Kind, n.Name, want, !want)
		}
		if n.Removed == 0 {
			alive++
		}
		var counts [belfry.Statuses]int32
		n.Children(func(c *Node) bool { counts[c.State.Status]++; return c.Parent == n && c.Removed == 0 })
		if counts != n.Counts() {
			t.Errorf("%s %q counts %v, its content is %v", n.Kind, n.Name, n.Counts(), counts)
		}
	}
	if o, r, v := tree.Size(); o+r+v != alive {
		t.Errorf("size says %d, %d items exist", o+r+v, alive)
	}
	if e.ItemMemory() != memory || tree.ItemMemory() != memory {
		t.Errorf("items count for %d bytes, in all for %d; they take %d", e.ItemMemory(), tree.ItemMemory(), memory)
	}
}

// checkLists sees whether the lists have the node once when it exists, and not at all otherwise.
func checkLists(t *testing.T, e *Tenant, n *Node) {
	t.Helper()
	d := n.label()
	f := func(what string, list iter.Seq[*Node], want bool) {
		t.Helper()
		times := 0
		for m := range list {
			if m == n {
				times++
			}
		}
		if (times == 1) != want || times > 1 {
			t.Errorf("%s %q, removed at %d, stands %d times in the list %s", n.Kind, n.Name, n.Removed, times, what)
		}
	}
	exists := n.Removed == 0
	f("of its kind", e.ByKind(n.Kind), exists)
	f("of its name", e.Named(n.Name), exists)
	f("of its view", e.InView(d.View), exists && d.View != "")
	f("of its resource", e.InResource(d.Resource), exists && d.Resource != "")
	f("of objects of its name", e.ObjectsNamed(n.Name), exists && n.Kind == belfry.KindObject)
	f("of what is inside", func(yield func(*Node) bool) {
		object, view := e.ObjectAndView(d.Resource, n.Name)
		_ = yield(object) && yield(view)
	}, exists && n.insideResource())
	if e.Numbered(uint64(n.Number)) != n {
		t.Errorf("%s %q is not found by its number", n.Kind, n.Name)
	}
}

func TestTreeIndexes(t *testing.T) {
	for seed := range uint64(30) {
		h := newHistory(seed, 150)
		tree := NewTree(loadCatalog(t))
		h.apply(t, tree, 0)
		checkIndexes(t, tree)
	}
}

// A restart meets states that are newer than the position from which records come again.
func TestTreeReplayOverNewerStates(t *testing.T) {
	for seed := range uint64(30) {
		h := newHistory(seed, 100)
		want := NewTree(loadCatalog(t))
		h.apply(t, want, 0)

		rnd := rand.New(rand.NewPCG(seed, 2))
		from := 1 + rnd.IntN(len(h.records)-1)
		got := NewTree(loadCatalog(t))
		h.records, h = h.records[:from], &history{records: h.records}
		(&history{records: h.records[:from]}).apply(t, got, 0)
		// Some states are taken from the future, as the database may have them.
		for _, n := range got.nodes.From(0) {
			if n == nil || n.Removed != 0 || rnd.IntN(2) == 0 {
				continue
			}
			if now := want.Node(n.ID); now.Removed == 0 {
				(&builder{tree: got}).state(n.ID, &want.States([]belfry.ID{n.ID})[0].State)
			}
		}
		h.apply(t, got, from)
		if d := cmp.Diff(visible(want), visible(got)); d != "" {
			t.Fatalf("seed %d from %d:\n%s", seed, from, d)
		}
		checkIndexes(t, got)
		h.apply(t, got, 0) // all of it once more does no harm either
		if d := cmp.Diff(visible(want), visible(got)); d != "" {
			t.Fatalf("seed %d applied twice:\n%s", seed, d)
		}
	}
}

// What stood in something whose record was lost is still there.
func TestTreeWithoutARecord(t *testing.T) {
	for seed := range uint64(30) {
		h := newHistory(seed, 60)
		for lost := 1; lost < len(h.records); lost++ {
			tree := NewTree(loadCatalog(t))
			for i, r := range h.records {
				r.SetPos(belfry.Position(i + 1))
				if i == lost {
					continue
				}
				if err := tree.Apply(r); err != nil {
					t.Fatalf("seed %d without record %d: %v", seed, lost, err)
				}
			}
		}
		tree := NewTree(loadCatalog(t))
		r := &belfry.Record{Customer: 1, Docs: h.records[0].Docs, Items: h.records[0].Items[:1]} // MAIN alone: the resources are lost
		for i, r := range append([]*belfry.Record{r}, h.records[1:]...) {
			r.SetPos(belfry.Position(i + 1))
			if err := tree.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		checkIndexes(t, tree)
		if tree.customers[1].Resource("recovered 2") == nil {
			t.Fatal("no resource stands in for the lost one")
		}
	}
}

func TestItemsByName(t *testing.T) {
	h := newHistory(7, 200)
	tree := NewTree(loadCatalog(t))
	h.apply(t, tree, 0)
	text := func(s string) *string { return &s }
	for _, m := range []query.ItemMatch{
		{},
		{Object: text("o1")},
		{Resource: text("r1")},
		{Resource: text("r2"), Object: text("o3")},
		{Class: text("k")},
		{View: text("r1")},
		{Object: text("nobody")},
		{Resource: text("r1"), View: text("r1"), Class: text("k")},
	} {
		var want []belfry.ID
		for _, n := range tree.nodes.From(0) {
			if w := tree.Visibility(belfry.Whole(1)); n != nil && w.matches(n, m) {
				want = append(want, n.ID)
			}
		}
		got := itemsOf(t, tree, belfry.Whole(1), m)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v: %s", m, d)
		}
		if other := itemsOf(t, tree, belfry.Whole(2), m); len(other) != 0 {
			t.Errorf("another customer sees %v", other)
		}
	}
}

// The tree built from the database is the tree that was there.
func TestLoadTree(t *testing.T) {
	h := newHistory(3, 120)
	want := NewTree(loadCatalog(t))
	h.apply(t, want, 0)
	db, err := sqlite.Open(t.Context(), t.TempDir()+"/meta.db", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ids []belfry.ID
	for _, n := range want.nodes.From(0) {
		if n != nil {
			ids = append(ids, n.ID)
		}
	}
	if err := db.Apply(t.Context(), h.records, want.States(ids)); err != nil {
		t.Fatal(err)
	}
	got, err := LoadTree(t.Context(), db, loadCatalog(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(visible(want), visible(got)); d != "" {
		t.Fatal(d)
	}
	checkIndexes(t, got)
	if got.customers[1].NextRow != want.customers[1].NextRow {
		t.Errorf("next row is %d, want %d", got.customers[1].NextRow, want.customers[1].NextRow)
	}
}

package meta

import (
	"slices"
	"testing"

	"belfry"
)

// checkApart compares what a tree says of its objects with a look at the names of each, and tells what it said. It may
// say no where they differ, but never yes where two are the same.
func checkApart(t *testing.T, tree *Tree, fields ...string) bool {
	t.Helper()
	var objects []belfry.ID
	seen, differ := map[[2]string]bool{}, true
	for _, n := range tree.nodes.From(0) {
		if n == nil || n.Kind != belfry.KindObject {
			continue
		}
		key := [2]string{n.Name}
		if slices.Contains(fields, "resource") {
			key[1] = n.Resource.Name
		}
		objects, differ = append(objects, n.ID), differ && !seen[key]
		seen[key] = true
	}
	says := apart(t, tree, 1, fields, objects)
	switch {
	case says && !differ:
		t.Fatalf("two of %d objects have the same %v", len(objects), fields)
	case says && !apart(t, tree, 1, fields, nil):
		t.Fatal("without objects it says that it would not know")
	case apart(t, tree, 2, fields, objects):
		t.Fatal("another customer sees the objects")
	case apart(t, tree, 1, fields, append(objects, 1)): // MAIN, which has no such name
		t.Fatal("a view counts as an object")
	case apart(t, tree, 1, fields, append(objects, 1<<40)):
		t.Fatal("what does not exist counts as an object")
	case says && !slices.Contains(fields, "resource") && !tree.customers[1].hasRemoved:
		checkFirst(t, tree, 5)
	}
	return says
}

// Objects that are known to differ do, while they come, go and come again, and after a restart.
func TestApart(t *testing.T) {
	said := map[bool]int{}
	for seed := range uint64(50) {
		h := newHistory(seed, 30)
		tree := NewTree(loadCatalog(t))
		for i, r := range h.records {
			r.SetPos(belfry.Position(i + 1))
			if err := tree.Apply(r); err != nil {
				t.Fatal(err)
			}
			said[checkApart(t, tree, "object")]++
			said[checkApart(t, tree, "class", "object", "resource")]++
			if apart(t, tree, 1, []string{"resource"}, nil) || apart(t, tree, 1, []string{"view", "class"}, nil) {
				t.Fatal("resources and views have several objects")
			}
			read := NewTree(loadCatalog(t))
			all := &belfry.Record{Customer: 1, Docs: h.records[0].Docs}
			for _, n := range tree.nodes.From(0) {
				if n != nil {
					all.Items = append(all.Items, n.Item())
				}
			}
			all.SetPos(1)
			if err := read.Apply(all); err != nil {
				t.Fatal(err)
			}
			if checkApart(t, read, "object") != checkApart(t, tree, "object") || checkApart(t, read, "object", "resource") != checkApart(t, tree, "object", "resource") {
				t.Fatalf("seed %d: after a restart it is not known what was known before", seed)
			}
		}
	}
	if said[true] == 0 || said[false] == 0 {
		t.Fatalf("it always said the same: %v", said)
	}
}

func TestNamesOfItems(t *testing.T) {
	h := newHistory(5, 100)
	tree := NewTree(loadCatalog(t))
	h.apply(t, tree, 0)
	ids := []belfry.ID{0, 1 << 40, 1<<64 - 1}
	for id := range tree.nodes.From(0) {
		ids = append(ids, belfry.ID(id))
	}
	names := make([]string, len(ids))
	for _, field := range []string{"resource", "view", "object", "class", "ip", "host"} {
		for customer := range belfry.CustomerID(3) {
			if err := tree.History().Names(t.Context(), customer, field, ids, names); err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				l, err := tree.History().Label(t.Context(), customer, id)
				if err != nil {
					t.Fatal(err)
				}
				if want := l.Of(field); names[i] != want {
					t.Errorf("%s of %d for customer %d: got %q, want %q", field, id, customer, names[i], want)
				}
			}
		}
	}
}

package meta

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"belfry"
)

// checkFirst compares the objects with the first names with a look at all of them.
func checkFirst(t *testing.T, tree *Tree, n int) {
	t.Helper()
	var objects []*Node
	for _, n := range tree.customers[1].numbered.From(0) {
		objects = append(objects, n)
	}
	objects = slices.DeleteFunc(objects, func(n *Node) bool { return n.Kind != belfry.KindObject })
	slices.SortFunc(objects, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	var want []belfry.ID
	for _, n := range objects[:min(n, len(objects))] {
		want = append(want, n.ID)
	}
	if got := tree.History().FirstByName(1, n); !slices.Equal(got, want) {
		t.Fatalf("the first of %d objects are %d, want %d", len(objects), got, want)
	}
	if len(tree.History().FirstByName(2, n)) > 0 {
		t.Fatal("another customer sees the objects")
	}
}

// Of many objects the first names are known while others come in, whatever their order.
func TestFirst(t *testing.T) {
	f := func(name func(i int) int) {
		t.Helper()
		tree, e := NewTree(loadCatalog(t)), NewTenant(belfry.Customer{ID: 1})
		tree.customers[1] = e
		for i := range 7 * maxFirst {
			n := &Node{ID: belfry.ID(i + 10), Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprintf("%07d", name(i))}
			if i%10 == 0 {
				n.Kind, n.Name = belfry.KindView, "0"
			}
			e.highest++
			e.numbered.Set(uint64(e.highest), n)
			if i%4999 == 0 {
				checkFirst(t, tree, 40)
			}
		}
		checkFirst(t, tree, maxFirst)
		if len(tree.History().FirstByName(1, maxFirst+1)) > 0 {
			t.Error("more than are kept")
		}
		e.Namesakes++
		if len(tree.History().FirstByName(1, 5)) > 0 {
			t.Error("names that are not their own")
		}
	}
	f(func(i int) int { return i })
	f(func(i int) int { return 1_000_000 - i })
	f(func(i int) int { return i * 7919 % 1_000_003 })
}

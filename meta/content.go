package meta

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

// Place finds a view or a resource by name for somebody who asks for what stands in it. Without a resource the name is
// that of a view at customer level or of a resource, else of a view inside a resource, which must be the only one of that
// name; an empty name is MAIN, or the resource itself. What is outside the scope is not there, and MAIN is that of the
// scope. The error says what would be right.
func (t *Tree) Place(s belfry.Scope, resource, view string) (n *Node, err error) {
	var namesakes []*Node
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Within(s)
		switch {
		case e == nil:
		case resource != "":
			n = w.only(e.placeInside(resource, view))
		case view == "" || view == belfry.Main:
			n = w.Main()
		default:
			if n = w.only(e.Place(view)); n == nil {
				e.ViewsNamed(view, func(v *Node) { namesakes = append(namesakes, v) })
				namesakes = w.Filter(namesakes)
			}
		}
	})
	switch {
	case n != nil:
		return n, nil
	case len(namesakes) == 1:
		return namesakes[0], nil
	case len(namesakes) > 1:
		return nil, belfry.Errorf(belfry.AmbiguousName, "%s; give resource", Namesakes(namesakes))
	}
	return nil, t.unknownPlace(s, resource, view)
}

// only gives the item if it is inside.
func (w *Within) only(n *Node) *Node {
	if w.Has(n) {
		return n
	}
	return nil
}

func (e *Tenant) placeInside(resource, view string) *Node {
	r := e.Resource(resource)
	if r == nil || view == "" {
		return r
	}
	return r.View(view)
}

// unknownPlace names what there is that is nearest to what was asked for.
func (t *Tree) unknownPlace(s belfry.Scope, resource, view string) error {
	var list []*Node
	what, where, wanted := "view", "", view
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Within(s)
		switch {
		case e == nil:
		case resource != "" && w.only(e.Resource(resource)) == nil:
			what, wanted = "resource", resource
			list = w.firstOf(e.boxes[belfry.KindResource])
		case resource != "":
			where = fmt.Sprintf(" in %q", resource)
			list = e.Resource(resource).box.someViews()
		default:
			list = append(w.firstOf(e.boxes[belfry.KindView]), w.firstOf(e.boxes[belfry.KindResource])...)
		}
	})
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.Name
	}
	if runes := []rune(wanted); len(runes) > 100 {
		wanted = string(runes[:100]) + "…"
	}
	if near := catalog.Nearest(wanted, names); near != "" {
		return belfry.Errorf(belfry.UnknownItem, "there is no %s %q%s; nearest is %q", what, wanted, where, near)
	}
	return belfry.Errorf(belfry.UnknownItem, "there is no %s %q%s; start at %s, which has everything in it", what, wanted, where, belfry.Main)
}

// mostCompared is with how many names a wrong one is compared: each takes its time.
const mostCompared = 5000

// firstOf gives some of the items that are inside.
func (w *Within) firstOf(nodes []*Node) (list []*Node) {
	for _, n := range nodes {
		if w.Has(n) {
			list = append(list, n)
		}
		if len(list) == mostCompared {
			break
		}
	}
	return list
}

// someViews lists views of a resource; of one with very many objects perhaps not all.
func (b *box) someViews() (list []*Node) {
	looks := 4 * mostCompared
	for _, n := range b.items {
		if n.Kind == belfry.KindView {
			list = append(list, n)
		}
		if looks--; looks == 0 || len(list) == mostCompared {
			break
		}
	}
	return list
}

// Content lists what stands directly in a view or resource, graphical elements included, in no order. The list is the
// caller's own, so that it can be sorted while the tree goes on.
func (t *Tree) Content(s belfry.Scope, n *Node) (list []*Node) {
	t.Read(s.Customer, func(e *Tenant) {
		if n.box != nil {
			w := e.Within(s)
			list = w.Filter(slices.Concat(n.box.children, n.box.elements))
		}
	})
	return list
}

// Below lists what stands in a view or resource at any depth, without graphical elements. Each item comes after the one in
// which it stands. The tree is locked for one view at a time, so that what moves meanwhile may be missing, or stand there twice.
func (t *Tree) Below(n *Node) (list []*Node) {
	add := func(b *box) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		list = append(list, b.children...)
	}
	if n.box != nil {
		add(n.box)
	}
	for i := 0; i < len(list); i++ {
		if b := list[i].box; b != nil {
			add(b)
		}
	}
	return list
}

// EachID calls f with the item of each number, removed ones included, and nil where there is none. The tree is locked for
// reading meanwhile, a stretch of the list at a time.
func (t *Tree) EachID(ids []belfry.ID, f func(i int, n *Node)) {
	const stretch = 1024
	for from := 0; from < len(ids); from += stretch {
		nodes := t.nodesOf(ids[from:min(from+stretch, len(ids))])
		t.mu.RLock()
		for i, n := range nodes {
			f(from+i, n)
		}
		t.mu.RUnlock()
	}
}

// nodesOf finds items, first here and then in the database. What it cannot read there is missing: this is for the live
// stream, to which most items are told before they are forgotten here.
func (t *Tree) nodesOf(ids []belfry.ID) []*Node {
	nodes := make([]*Node, len(ids))
	missing := map[belfry.ID]bool{}
	t.mu.RLock()
	for i, id := range ids {
		if nodes[i] = t.Node(id); nodes[i] == nil && id != 0 {
			missing[id] = true
		}
	}
	t.mu.RUnlock()
	if len(missing) == 0 || t.archive == nil {
		return nodes
	}
	found, err := t.archive.RemovedByID(context.Background(), 0, slices.Collect(maps.Keys(missing)))
	if err != nil {
		return nodes
	}
	removed := map[belfry.ID]*Node{}
	for c, list := range byCustomer(found) {
		raised, _ := t.raise(context.Background(), c, list)
		for _, n := range raised {
			removed[n.ID] = n
		}
	}
	for i, id := range ids {
		if nodes[i] == nil {
			nodes[i] = removed[id]
		}
	}
	return nodes
}

func byCustomer(items []sqlite.RemovedItem) map[belfry.CustomerID][]sqlite.RemovedItem {
	lists := map[belfry.CustomerID][]sqlite.RemovedItem{}
	for _, it := range items {
		lists[it.Customer] = append(lists[it.Customer], it)
	}
	return lists
}

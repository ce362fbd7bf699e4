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

// Container finds the view or resource whose content is to be listed. Without a resource, view names a customer-level view
// or a resource, else the only view of that name inside a resource. An empty view is MAIN or the resource itself. Items
// outside the scope are not found, and MAIN is that of the scope. The error suggests the nearest name.
func (t *Tree) Container(s belfry.Scope, resource, view string) (n *Node, err error) {
	var namesakes []*Node
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Visibility(s)
		switch {
		case e == nil:
		case resource != "":
			n = w.orNil(e.placeInside(resource, view))
		case view == "" || view == belfry.Main:
			n = w.Main()
		default:
			if n = w.orNil(e.Place(view)); n == nil {
				namesakes = w.Filter(slices.Collect(e.ViewsNamed(view)))
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

// orNil returns n if it is visible, else nil.
func (w *Visibility) orNil(n *Node) *Node {
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

// unknownPlace is the error for a name that is not found; it suggests the nearest one.
func (t *Tree) unknownPlace(s belfry.Scope, resource, view string) error {
	var list []*Node
	what, where, wanted := "view", "", view
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Visibility(s)
		switch {
		case e == nil:
		case resource != "" && w.orNil(e.Resource(resource)) == nil:
			what, wanted = "resource", resource
			list = w.firstOf(e.boxes[belfry.KindResource])
		case resource != "":
			where = fmt.Sprintf(" in %q", resource)
			list = e.Resource(resource).content.someViews()
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

// mostCompared limits with how many names a wrong one is compared.
const mostCompared = 5000

// firstOf returns the first mostCompared items that are inside.
func (w *Visibility) firstOf(nodes []*Node) (list []*Node) {
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

// someViews lists views of a resource, perhaps not all if it has very many objects.
func (b *content) someViews() (list []*Node) {
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

// Content lists the items directly in a view or resource, graphical elements included, in no order. The caller owns the list.
func (t *Tree) Content(s belfry.Scope, n *Node) (list []*Node) {
	t.Read(s.Customer, func(e *Tenant) {
		if n.content != nil {
			w := e.Visibility(s)
			list = w.Filter(slices.Concat(n.content.children, n.content.elements))
		}
	})
	return list
}

// Below lists the items in a view or resource at any depth, parents first, without graphical elements. It locks the tree for
// one view at a time, so an item that is moved during the listing may be missing or listed twice.
func (t *Tree) Below(n *Node) (list []*Node) {
	add := func(b *content) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		list = append(list, b.children...)
	}
	if n.content != nil {
		add(n.content)
	}
	for i := 0; i < len(list); i++ {
		if b := list[i].content; b != nil {
			add(b)
		}
	}
	return list
}

// EachByID calls f with the item of each id, removed ones included, and with nil for an unknown id. It read-locks the tree
// for 1,024 ids at a time.
func (h *History) EachByID(ids []belfry.ID, f func(i int, n *Node)) {
	const stretch = 1024
	for from := 0; from < len(ids); from += stretch {
		nodes := h.nodesOf(ids[from:min(from+stretch, len(ids))])
		func() {
			h.tree.mu.RLock()
			defer h.tree.mu.RUnlock() // also if f panics
			for i, n := range nodes {
				f(from+i, n)
			}
		}()
	}
}

// nodesOf finds items in memory and then in the database. It leaves out what it cannot read there: the live stream, its only use,
// sees most items before they leave memory.
func (h *History) nodesOf(ids []belfry.ID) []*Node {
	nodes := make([]*Node, len(ids))
	missing := map[belfry.ID]bool{}
	h.tree.mu.RLock()
	for i, id := range ids {
		if nodes[i] = h.tree.Node(id); nodes[i] == nil && id != 0 {
			missing[id] = true
		}
	}
	h.tree.mu.RUnlock()
	if len(missing) == 0 || h.archive == nil {
		return nodes
	}
	found, err := h.archive.RemovedByID(context.Background(), 0, slices.Collect(maps.Keys(missing)))
	if err != nil {
		return nodes
	}
	removed := map[belfry.ID]*Node{}
	for c, list := range byCustomer(found) {
		raised, _ := h.nodesOfRemoved(context.Background(), c, list)
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

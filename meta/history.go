package meta

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"belfry"
	"belfry/meta/sqlite"
	"belfry/query"
)

// History is asked by name, and a name may have stood for several items over time. Items that exist, or have just been
// removed, are found in memory, the others in the database. The memory is always asked first: an item leaves it only
// after the database has it, so none is missed, and one that is found in both counts once.
type History struct {
	tree    *Tree
	archive *sqlite.DB // has removed items; nil: they stay in memory

	archived struct {
		mu  sync.Mutex
		ids []belfry.ID // removed items that the database has, until the goroutine that applies records deletes them from memory
	}
}

// labelOfRemoved returns the label that the item had in the tree.
func labelOfRemoved(it *sqlite.RemovedItem) (l query.Label) {
	l.Class, l.Resource, l.View = it.Class, it.ResourceName, it.ViewName
	switch it.Kind {
	case belfry.KindView:
		l.View = it.Name
	case belfry.KindObject:
		l.Object = it.Name
	}
	if it.Details != nil {
		l.IP, l.Host = it.Details.IP, it.Details.Host
	}
	return l
}

// hasRemoved reports whether the database may have removed items of the customer.
func (h *History) hasRemoved(c belfry.CustomerID) bool {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	e := h.tree.customers[c]
	return h.archive != nil && e != nil && e.hasRemoved
}

// mostFound is how many removed items of a name are listed; of more than that an engine finds the rows by itself.
const mostFound = 100_000

// Items implements query.ItemNames.
func (h *History) Items(ctx context.Context, s belfry.Scope, m query.ItemMatch) (ids []belfry.ID, known bool, err error) {
	past := h.hasRemoved(s.Customer)
	if past && m.Object == nil && m.Resource == nil {
		return nil, false, nil
	}
	ids = h.itemsInMemory(s, m)
	if !past {
		return ids, true, nil
	}
	var found []sqlite.RemovedItem
	if m.Object != nil {
		found, err = h.archive.RemovedObjects(ctx, s.Customer, *m.Object, mostFound+1)
	} else {
		found, err = h.archive.RemovedInResource(ctx, s.Customer, *m.Resource, h.resourceNamed(s.Customer, *m.Resource), mostFound+1)
	}
	if err != nil || len(found) > mostFound {
		return nil, false, err
	}
	found = slices.DeleteFunc(found, func(it sqlite.RemovedItem) bool {
		l := labelOfRemoved(&it)
		return it.Kind == belfry.KindElement || !is(m.Resource, l.Resource) || !is(m.View, l.View) || !is(m.Object, l.Object) || !is(m.Class, l.Class)
	})
	for _, it := range h.inside(s, found) {
		ids = append(ids, it.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), true, nil
}

func (h *History) resourceNamed(c belfry.CustomerID, name string) (id belfry.ID) {
	h.tree.Read(c, func(e *Tenant) {
		if e != nil {
			if r := e.Resource(name); r != nil {
				id = r.ID
			}
		}
	})
	return id
}

// inside keeps the removed items that are inside a scope, which they are as long as their resource is.
func (h *History) inside(s belfry.Scope, list []sqlite.RemovedItem) []sqlite.RemovedItem {
	if !s.Limited() {
		return list
	}
	h.tree.Read(s.Customer, func(e *Tenant) {
		w := e.Visibility(s)
		list = slices.DeleteFunc(list, func(it sqlite.RemovedItem) bool {
			r := h.tree.Node(it.Resource)
			return r == nil || r.Removed != 0 || !w.Has(r)
		})
	})
	return list
}

// itemsInMemory finds items that exist or have just been removed.
func (h *History) itemsInMemory(s belfry.Scope, m query.ItemMatch) (ids []belfry.ID) {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	e := h.tree.customers[s.Customer]
	if e == nil {
		return nil
	}
	w := e.Visibility(s)
	e.candidates(m, func(n *Node) {
		if w.matches(n, m) && w.Has(n) {
			ids = append(ids, n.ID)
		}
	})
	return ids
}

// candidates narrows a match to the shortest list at hand.
func (e *Tenant) candidates(m query.ItemMatch, f func(*Node)) {
	switch {
	case m.Object != nil:
		for n := range e.ObjectsNamed(*m.Object) {
			f(n)
		}
		for _, n := range e.removed[*m.Object] {
			f(n)
		}
	case m.Resource != nil:
		for n := range e.InResource(*m.Resource) {
			f(n)
		}
		for _, list := range e.removed {
			for _, n := range list {
				f(n)
			}
		}
	default:
		for _, n := range e.numbered.From(0) {
			f(n)
		}
	}
}

func (w *Visibility) matches(n *Node, m query.ItemMatch) bool {
	l := n.label()
	if w.isRoot(n) && n.Kind == belfry.KindResource {
		l.View = belfry.Main
	}
	return is(m.Resource, l.Resource) && is(m.View, l.View) && is(m.Object, l.Object) && is(m.Class, l.Class)
}

func is(want *string, have string) bool { return want == nil || *want == have && have != "" }

// Nodes finds items of a customer by their ids, removed ones included.
func (h *History) Nodes(ctx context.Context, c belfry.CustomerID, ids []belfry.ID) (nodes []*Node, err error) {
	missing := h.inMemory(c, ids, func(_ int, n *Node) { nodes = append(nodes, n) })
	if len(missing) == 0 || !h.hasRemoved(c) {
		return nodes, nil
	}
	found, err := h.archive.RemovedByID(ctx, c, pick(ids, missing))
	if err != nil {
		return nil, err
	}
	raised, err := h.nodesOfRemoved(ctx, c, found)
	return append(nodes, raised...), err
}

// inMemory calls f for those of the items that are in memory, and returns the places of the others.
func (h *History) inMemory(c belfry.CustomerID, ids []belfry.ID, f func(i int, n *Node)) (missing []int) {
	const stretch = 1024
	for from := 0; from < len(ids); from += stretch {
		h.tree.mu.RLock()
		for i := from; i < min(from+stretch, len(ids)); i++ {
			if n := h.tree.node(c, ids[i]); n != nil {
				f(i, n)
			} else {
				missing = append(missing, i)
			}
		}
		h.tree.mu.RUnlock()
	}
	return missing
}

func pick(ids []belfry.ID, places []int) []belfry.ID {
	out := make([]belfry.ID, len(places))
	for i, at := range places {
		out[i] = ids[at]
	}
	return out
}

// node finds an item of the customer that is in memory. The lock is held.
func (t *Tree) node(c belfry.CustomerID, id belfry.ID) *Node {
	if n := t.Node(id); n != nil && n.Customer == c {
		return n
	}
	return nil
}

// nodesOfRemoved makes nodes of removed items and of the removed items they were in. The nodes are not part of the tree.
func (h *History) nodesOfRemoved(ctx context.Context, c belfry.CustomerID, items []sqlite.RemovedItem) (nodes []*Node, err error) {
	all, known := items, map[belfry.ID]*Node{}
	for level := items; len(level) > 0; {
		missing := h.nodesOfLevel(c, level, known)
		if level, err = h.archive.RemovedByID(ctx, c, missing); err != nil {
			return nil, err
		}
		all = append(all[:len(all):len(all)], level...)
	}
	for i := range all {
		n := known[all[i].ID]
		n.Parent = known[all[i].Parent]
		if n.Kind != belfry.KindResource && n.Kind != belfry.KindElement {
			n.Resource = known[all[i].Resource]
		}
	}
	for i := range items {
		nodes = append(nodes, known[items[i].ID])
	}
	return nodes, nil
}

// nodesOfLevel makes nodes of items and adds their parents and resources that are in memory to known. It returns the ids of
// the others.
func (h *History) nodesOfLevel(c belfry.CustomerID, items []sqlite.RemovedItem, known map[belfry.ID]*Node) (missing []belfry.ID) {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	e := h.tree.customers[c]
	for i := range items {
		it := &items[i].Item
		class := &Class{Name: it.Class}
		if e != nil && e.Class(it.Class) != nil {
			class = e.Class(it.Class)
		}
		n := NewNode(it, nil, nil, class)
		n.Removed = it.Removed
		known[it.ID] = n
	}
	for i := range items {
		for _, id := range [...]belfry.ID{items[i].Parent, items[i].Resource} {
			if _, ok := known[id]; ok || id == 0 {
				continue
			}
			n := h.tree.node(c, id)
			if known[id] = n; n == nil {
				missing = append(missing, id)
			}
		}
	}
	return missing
}

// ItemsAt yields lists of all items of a customer that existed at a time, and perhaps others. The caller filters those
// inside EachWithRemoved, the only place where the time of a removal can be read.
func (h *History) ItemsAt(ctx context.Context, c belfry.CustomerID, at belfry.Time) iter.Seq2[[]*Node, error] {
	return func(yield func([]*Node, error) bool) {
		var nodes []*Node
		h.tree.Read(c, func(e *Tenant) {
			if e != nil {
				nodes = make([]*Node, 0, e.numbered.Len())
				for _, n := range e.numbered.From(0) {
					nodes = append(nodes, n)
				}
			}
		})
		if !yield(nodes, nil) || !h.hasRemoved(c) {
			return
		}
		byID := func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) }
		if !slices.IsSortedFunc(nodes, byID) {
			slices.SortFunc(nodes, byID)
		}
		err := h.removedSince(ctx, c, at, func(raised []*Node) bool {
			return yield(slices.DeleteFunc(raised, func(n *Node) bool {
				_, seen := slices.BinarySearchFunc(nodes, n, byID)
				return seen || n.Kind == belfry.KindElement
			}), nil)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// removedSince calls f with the items of the database that were removed after a time, some at once.
func (h *History) removedSince(ctx context.Context, c belfry.CustomerID, at belfry.Time, f func([]*Node) bool) error {
	const most = 2000
	last, id := at+1, belfry.ID(0)
	for {
		found, err := h.archive.RemovedSince(ctx, c, last, id, most)
		if err != nil {
			return err
		}
		nodes, err := h.nodesOfRemoved(ctx, c, found)
		if err != nil {
			return err
		}
		if !f(nodes) || len(found) < most {
			return nil
		}
		last, id = found[most-1].Removed, found[most-1].ID
	}
}

// RemovedDimensions calls f with the names of all removed items in the database, in batches, for a store that has lost them.
// The position of a batch is that of the last removal in it.
func (h *History) RemovedDimensions(ctx context.Context, f func(*belfry.Batch) error) error {
	if h.archive == nil {
		return nil
	}
	const most = 10_000
	for last := belfry.ID(0); ; {
		found, err := h.archive.RemovedAfterID(ctx, last, most)
		if err != nil {
			return err
		}
		for at := 0; at < len(found); {
			b := newDimension(found[at].Customer, len(found))
			for ; at < len(found) && found[at].Customer == b.batch.Customer; at++ {
				if it := &found[at]; it.Kind != belfry.KindElement {
					place := it.Resource
					if place == 0 {
						place = it.ID
					}
					b.addItem(it.ID, it.Kind, place, it.Created, it.Removed, labelOfRemoved(it))
					b.batch.Pos = max(b.batch.Pos, it.Pos)
				}
			}
			if len(b.ids) > 0 {
				if err := f(b.done()); err != nil {
					return err
				}
			}
		}
		if len(found) < most {
			return nil
		}
		last = found[most-1].ID
	}
}

package meta

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/query"
)

// History is asked by name, and a name may have stood for several items over time. Items that exist, or have just been
// removed, are found in memory, the others in the database. The memory is always asked first: an item leaves it only
// after the database has it, so none is missed, and one that is found in both counts once.

// removedItem is a removed item with the names of what it was in.
type removedItem struct {
	belfry.Item
	view, resource string
	pos            belfry.Position // of the record that removed it
}

const removedText = `SELECT i.id, i.customer, i.kind, i.name, i.parent, i.resource, i.class, i.package, i.created, i.removed, i.details, i.number,
	COALESCE(rp.name, lp.name, ''), COALESCE(rr.name, lr.name, ''), i.pos FROM removed i
	LEFT JOIN removed rp ON rp.id = i.parent LEFT JOIN item lp ON lp.id = i.parent
	LEFT JOIN removed rr ON rr.id = i.resource LEFT JOIN item lr ON lr.id = i.resource WHERE `

// findRemoved reads removed items.
func (db *DB) findRemoved(ctx context.Context, where string, args ...any) (list []removedItem, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	rows, err := db.read.QueryContext(ctx, removedText+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read removed items: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var it removedItem
		if it.Item, err = scanItem(rows, &it.view, &it.resource, &it.pos); err != nil {
			return nil, fmt.Errorf("read removed items: %w", err)
		}
		list = append(list, it)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read removed items: %w", err)
	}
	return list, nil
}

// removedByID reads removed items by id, of one customer, or of any when that is 0.
func (db *DB) removedByID(ctx context.Context, c belfry.CustomerID, ids []belfry.ID) (list []removedItem, err error) {
	for part := range slices.Chunk(ids, 1000) {
		var text strings.Builder
		text.WriteString("i.id IN (")
		for i, id := range part {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatUint(uint64(id), 10))
		}
		text.WriteString(") AND ($1 = 0 OR i.customer = $1)")
		found, err := db.findRemoved(ctx, text.String(), int64(c))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// label is the same as that of a node.
func (it *removedItem) label() (l query.Label) {
	l.Class, l.Resource, l.View = it.Class, it.resource, it.view
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

// hasPast reports whether the database may have removed items of the customer.
func (t *Tree) hasPast(c belfry.CustomerID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[c]
	return t.archive != nil && e != nil && e.past
}

// mostFound is how many removed items of a name are listed; of more than that an engine finds the rows by itself.
const mostFound = 100_000

// Items implements query.Names.
func (t *Tree) Items(ctx context.Context, s belfry.Scope, m query.ItemMatch) (ids []belfry.ID, known bool, err error) {
	past := t.hasPast(s.Customer)
	if past && m.Object == nil && m.Resource == nil {
		return nil, false, nil
	}
	ids = t.itemsInMemory(s, m)
	if !past {
		return ids, true, nil
	}
	where, args := `i.customer = $1 AND i.name = $2 AND i.kind = $3`, []any{int64(s.Customer), "", int64(belfry.KindObject)}
	if m.Object != nil {
		args[1] = *m.Object
	} else {
		where = `+i.customer = $1 AND i.resource IN (SELECT id FROM removed WHERE customer = $1 AND name = $2 AND kind = $3 UNION ALL SELECT $4)`
		args = []any{int64(s.Customer), *m.Resource, int64(belfry.KindResource), int64(t.resourceNamed(s.Customer, *m.Resource))}
	}
	found, err := t.archive.findRemoved(ctx, where+` LIMIT `+strconv.Itoa(mostFound+1), args...)
	if err != nil || len(found) > mostFound {
		return nil, false, err
	}
	found = slices.DeleteFunc(found, func(it removedItem) bool {
		l := it.label()
		return it.Kind == belfry.KindElement || !is(m.Resource, l.Resource) || !is(m.View, l.View) || !is(m.Object, l.Object) || !is(m.Class, l.Class)
	})
	for _, it := range t.inside(s, found) {
		ids = append(ids, it.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), true, nil
}

func (t *Tree) resourceNamed(c belfry.CustomerID, name string) (id belfry.ID) {
	t.Read(c, func(e *Tenant) {
		if e != nil {
			if r := e.Resource(name); r != nil {
				id = r.ID
			}
		}
	})
	return id
}

// inside keeps those of some removed items that are inside a scope: as long as their resource is.
func (t *Tree) inside(s belfry.Scope, list []removedItem) []removedItem {
	if !s.Limited() {
		return list
	}
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Within(s)
		list = slices.DeleteFunc(list, func(it removedItem) bool {
			r := t.Node(it.Resource)
			return r == nil || r.Removed != 0 || !w.Has(r)
		})
	})
	return list
}

// itemsInMemory finds items that exist or have just been removed.
func (t *Tree) itemsInMemory(s belfry.Scope, m query.ItemMatch) (ids []belfry.ID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[s.Customer]
	if e == nil {
		return nil
	}
	w := e.Within(s)
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
		e.ObjectsNamed(*m.Object, f)
		for _, n := range e.gone[*m.Object] {
			f(n)
		}
	case m.Resource != nil:
		for n := range e.InResource(*m.Resource) {
			f(n)
		}
		for _, list := range e.gone {
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

func (w *Within) matches(n *Node, m query.ItemMatch) bool {
	l := n.label()
	if w.Root(n) && n.Kind == belfry.KindResource {
		l.View = belfry.Main
	}
	return is(m.Resource, l.Resource) && is(m.View, l.View) && is(m.Object, l.Object) && is(m.Class, l.Class)
}

func is(want *string, have string) bool { return want == nil || *want == have && have != "" }

// Nodes finds items of a customer by their ids, removed ones included.
func (t *Tree) Nodes(ctx context.Context, c belfry.CustomerID, ids []belfry.ID) (nodes []*Node, err error) {
	missing := t.inMemory(c, ids, func(_ int, n *Node) { nodes = append(nodes, n) })
	if len(missing) == 0 || !t.hasPast(c) {
		return nodes, nil
	}
	found, err := t.archive.removedByID(ctx, c, pick(ids, missing))
	if err != nil {
		return nil, err
	}
	raised, err := t.raise(ctx, c, found)
	return append(nodes, raised...), err
}

// inMemory calls f for those of the items that are in memory, and returns the places of the others.
func (t *Tree) inMemory(c belfry.CustomerID, ids []belfry.ID, f func(i int, n *Node)) (missing []int) {
	const stretch = 1024
	for from := 0; from < len(ids); from += stretch {
		t.mu.RLock()
		for i := from; i < min(from+stretch, len(ids)); i++ {
			if n := t.node(c, ids[i]); n != nil {
				f(i, n)
			} else {
				missing = append(missing, i)
			}
		}
		t.mu.RUnlock()
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

// raise makes nodes of removed items, and of the removed ones that they were in. They stand outside the tree.
func (t *Tree) raise(ctx context.Context, c belfry.CustomerID, items []removedItem) (nodes []*Node, err error) {
	all, known := items, map[belfry.ID]*Node{}
	for level := items; len(level) > 0; {
		missing := t.raiseLevel(c, level, known)
		if level, err = t.archive.removedByID(ctx, c, missing); err != nil {
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

// raiseLevel makes nodes of items, and finds what these were in as far as it is in memory. It returns the ids of the rest.
func (t *Tree) raiseLevel(c belfry.CustomerID, items []removedItem, known map[belfry.ID]*Node) (missing []belfry.ID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[c]
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
			n := t.node(c, id)
			if known[id] = n; n == nil {
				missing = append(missing, id)
			}
		}
	}
	return missing
}

// Then yields lists of all items of a customer that had not been removed at a moment, and perhaps of others, which the
// caller leaves out: when an item was removed can be read inside EachEver alone.
func (t *Tree) Then(ctx context.Context, c belfry.CustomerID, at belfry.Time) iter.Seq2[[]*Node, error] {
	return func(yield func([]*Node, error) bool) {
		var nodes []*Node
		t.Read(c, func(e *Tenant) {
			if e != nil {
				nodes = make([]*Node, 0, e.numbered.Len())
				for _, n := range e.numbered.From(0) {
					nodes = append(nodes, n)
				}
			}
		})
		if !yield(nodes, nil) || !t.hasPast(c) {
			return
		}
		byID := func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) }
		if !slices.IsSortedFunc(nodes, byID) {
			slices.SortFunc(nodes, byID)
		}
		err := t.removedSince(ctx, c, at, func(raised []*Node) bool {
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

// removedSince gives the items of the database that were removed after a moment, some at a time.
func (t *Tree) removedSince(ctx context.Context, c belfry.CustomerID, at belfry.Time, f func([]*Node) bool) error {
	const most = 2000
	last, id := at+1, belfry.ID(0)
	for {
		found, err := t.archive.findRemoved(ctx, `i.customer = $1 AND (i.removed, i.id) > ($2, $3) ORDER BY i.removed, i.id LIMIT $4`,
			int64(c), int64(last), int64(id), most)
		if err != nil {
			return err
		}
		nodes, err := t.raise(ctx, c, found)
		if err != nil {
			return err
		}
		if !f(nodes) || len(found) < most {
			return nil
		}
		last, id = found[most-1].Removed, found[most-1].ID
	}
}

// RemovedDimensions gives the names of all removed items in the database, in batches, for a store that has lost them. The position of a
// batch is that of the last removal in it.
func (t *Tree) RemovedDimensions(ctx context.Context, f func(*belfry.Batch) error) error {
	if t.archive == nil {
		return nil
	}
	const most = 10_000
	for last := belfry.ID(0); ; {
		found, err := t.archive.findRemoved(ctx, `i.id > $1 ORDER BY i.id LIMIT $2`, int64(last), most)
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
					b.addItem(it.ID, it.Kind, place, it.Created, it.Removed, it.label())
					b.batch.Pos = max(b.batch.Pos, it.pos)
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

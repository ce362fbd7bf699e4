package meta

import (
	"context"
	"fmt"
	"slices"

	"belfry"
)

// A record that removes items may be lost with a part of the journal. What follows from the removal is then found elsewhere,
// and a start acts on it:
//
//	the database or the row store has the item as removed   it is removed; older records do not bring it back
//	another item got its name later                         it is removed: a name is given once at a time
//	what it stood in is removed                             it goes with that
//
// In the same way a change that the database has, as that of the view in which an item stands, is not undone by an older record.
// Removals that are found in this way become part of the record in which they are found. So they reach the tree, the
// database and the row store like any other, before the position moves past that record, and each start finds the same.

// Missed is a removal that the row store knows. Its name tells the item from another one that got the same id.
type Missed struct {
	ID       belfry.ID
	Customer belfry.CustomerID
	Kind     belfry.Kind
	Name     string
}

// Replay is Apply for a record that a start finds in the journal. It takes out of r what is outdated, and adds the removals
// that follow from it. Removed items stay in memory until the replay is over: they must be known when an older record names
// them again.
func (t *Tree) Replay(r *belfry.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	items := r.Items
	listed := func() map[belfry.ID]bool {
		ids := make(map[belfry.ID]bool, len(items))
		for i := range items {
			ids[items[i].ID] = true
		}
		return ids
	}
	if err := t.applyDocs(r); err != nil {
		return err
	}
	var settled []belfry.Item
	differs := false // from what the record says
	for i := range items {
		removals, outdated := t.settle(&items[i], r.Pos, r.Time, listed)
		if !differs && (outdated || len(removals) > 0) {
			differs, settled = true, slices.Clone(items[:i])
		}
		for j := range removals {
			if err := t.applyItem(&removals[j], r.Pos, nil); err != nil {
				return err
			}
		}
		settled = append(settled, removals...)
		if outdated {
			continue
		}
		if err := t.applyItem(&items[i], r.Pos, nil); err != nil {
			return err
		}
		if differs {
			settled = append(settled, items[i])
		}
	}
	if differs {
		r.Items = settled
	}
	t.applyRest(r)
	return nil
}

// settle compares an item of a record with what is known. It returns the removals that have to come before it, and whether
// the item itself is outdated. An item that is removed already when it comes is marked as such.
func (t *Tree) settle(it *belfry.Item, pos belfry.Position, now belfry.Time, listed func() map[belfry.ID]bool) (removals []belfry.Item, outdated bool) {
	if t.isRemoved(it.Customer) {
		return nil, false
	}
	n := t.Node(it.ID)
	switch {
	case it.Removed != 0:
		if n != nil && n.box != nil && len(n.box.children)+len(n.box.elements) > 0 {
			removals = n.removalsInside(nil, it.Removed, listed())
		}
		t.settled += len(removals)
		return removals, false
	case n != nil:
		return nil, n.Removed != 0 || t.ahead[n.ID] > pos
	}
	if m, ok := t.missed[it.ID]; ok && m.is(it) {
		it.Removed = max(now, it.Created)
	} else if r := t.Node(it.Resource); r != nil && r.Removed != 0 {
		it.Removed = max(r.Removed, it.Created)
	} else {
		removals = t.oust(it, max(now, it.Created), listed)
	}
	if it.Removed != 0 {
		t.settled++
	}
	t.settled += len(removals)
	return removals, false
}

// oust makes room for the name of a new item. Of two items with one name the one with the lower id is older, and must have
// been removed.
func (t *Tree) oust(it *belfry.Item, at belfry.Time, listed func() map[belfry.ID]bool) []belfry.Item {
	old := t.holder(it)
	if old == nil || old.ID == it.ID {
		return nil
	}
	if old.ID > it.ID || old.Parent == nil && old.Name == belfry.Main {
		it.Removed = max(old.Created, it.Created, 1)
		return nil
	}
	var among map[belfry.ID]bool
	if old.box != nil {
		among = listed()
		among[old.ID] = true
	}
	return append(old.removalsInside(nil, at, among), old.removal(at))
}

// holder finds the existing item that has the name of it, where names are unique.
func (t *Tree) holder(it *belfry.Item) *Node {
	e := t.customers[it.Customer]
	switch {
	case e == nil:
		return nil
	case it.Kind == belfry.KindElement:
		return e.drawn[drawn{it.Package, it.Name}]
	case it.Resource == 0 || it.Kind == belfry.KindResource:
		return e.places[it.Name]
	}
	r := t.Node(it.Resource)
	if r == nil || r.box == nil {
		return nil
	}
	if it.Kind == belfry.KindView {
		return r.box.items[viewSlot(it.Name)]
	}
	return r.box.items[it.Name]
}

func (n *Node) removal(at belfry.Time) belfry.Item {
	it := n.Item()
	it.Removed = at
	return it
}

// removalsInside lists the removals of what stands in n, the innermost first, without the items in done and what stands in those.
func (n *Node) removalsInside(list []belfry.Item, at belfry.Time, done map[belfry.ID]bool) []belfry.Item {
	if n.box == nil {
		return list
	}
	for _, c := range slices.Concat(n.box.children, n.box.elements) {
		if done[c.ID] {
			continue
		}
		done[c.ID] = true // a lost move may have left a circle
		list = append(c.removalsInside(list, at, done), c.removal(at))
	}
	return list
}

func (m *Missed) is(it *belfry.Item) bool {
	return m.Customer == it.Customer && m.Kind == it.Kind && m.Name == it.Name
}

// MayExist reports whether an item may exist after the replay: the tree has it, or its id is higher than any the tree knows.
func (t *Tree) MayExist(id belfry.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.Node(id)
	return n != nil && n.Removed == 0 || id > t.lastID
}

// RemoveMissed removes items of which the row store knows that they were removed, with what stands in them. Those that the
// tree does not know are removed when the replay brings them. The database has it when this returns.
func (t *Tree) RemoveMissed(ctx context.Context, list []Missed, at belfry.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var removals []belfry.Item
	done := map[belfry.ID]bool{}
	t.missed = make(map[belfry.ID]Missed, len(list))
	for _, m := range list {
		t.missed[m.ID] = m
		n := t.Node(m.ID)
		if n == nil || n.Removed != 0 || done[n.ID] {
			continue
		}
		if it := n.removal(max(at, n.Created)); m.is(&it) && n.Parent != nil {
			done[n.ID] = true
			removals = append(n.removalsInside(removals, it.Removed, done), it)
		}
	}
	return t.removeNow(ctx, removals)
}

// removeNow removes items in the tree and in the database, apart from any record. It is for the start.
func (t *Tree) removeNow(ctx context.Context, removals []belfry.Item) error {
	if len(removals) == 0 {
		return nil
	}
	ended := make([]belfry.Time, len(removals))
	for i := range removals {
		it := &removals[i]
		if n := t.Node(it.ID); n != nil {
			ended[i] = max(n.State.LastData, n.State.LastSeen, n.State.Since)
		}
		if err := t.applyItem(it, t.archive.Stored(), nil); err != nil {
			return err
		}
		t.loaded = append(t.loaded, it.ID)
	}
	t.settled += len(removals)
	if err := t.archive.Remove(ctx, removals, ended); err != nil {
		return fmt.Errorf("remove items whose removal was lost: %w", err)
	}
	return nil
}

// removeOrphans removes the content of resources that the database has as removed: nobody else knows them any more.
func (t *Tree) removeOrphans(ctx context.Context, ousted []belfry.Item) error {
	found, err := t.archive.RemovedByID(ctx, 0, t.standIns)
	if err != nil {
		return err
	}
	for i := range found {
		n := t.Node(found[i].ID)
		if n == nil || n.Removed != 0 {
			continue
		}
		ousted = n.removalsInside(ousted, found[i].Removed, map[belfry.ID]bool{n.ID: true})
	}
	t.standIns = nil
	if err := t.removeNow(ctx, ousted); err != nil {
		return err
	}
	for i := range found {
		if err := t.applyItem(&found[i].Item, 0, nil); err != nil {
			return err
		}
		t.loaded = append(t.loaded, found[i].ID)
	}
	return nil
}

// Settled tells how many items this start has removed because the records of their removal were lost.
func (t *Tree) Settled() int { return t.settled }

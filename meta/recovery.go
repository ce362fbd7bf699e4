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
// In the same way a change that the database has, such as another parent view, is not undone by an older record.
// Removals that are found in this way become part of the record in which they are found. So they reach the tree, the
// database and the row store like any other, before the position moves past that record, and each start finds the same.

// Recovery brings the tree up to date at a start. It is used by one goroutine, until End.
type Recovery struct {
	tree         *Tree
	loaded       []belfry.ID                   // removed items that were read for the replay
	newerInDB    map[belfry.ID]belfry.Position // of items that the database has from records above its position: the record
	lostRemovals map[belfry.ID]LostRemoval     // not applied yet
	placeholders []belfry.ID                   // resources whose records were lost
	removed      int
}

// LostRemoval is a removal that only the row store knows. The name distinguishes the item from another one that got the same
// id.
type LostRemoval struct {
	ID       belfry.ID
	Customer belfry.CustomerID
	Kind     belfry.Kind
	Name     string
}

// Replay is Tree.Apply for a record that a start finds in the journal. It drops outdated items from r and adds the removals
// that follow from it. Removed items stay in memory until End, because an older record may name them again.
func (rec *Recovery) Replay(r *belfry.Record) error {
	rec.tree.mu.Lock()
	defer rec.tree.mu.Unlock()
	items := r.Items
	listed := func() map[belfry.ID]bool {
		ids := make(map[belfry.ID]bool, len(items))
		for i := range items {
			ids[items[i].ID] = true
		}
		return ids
	}
	if err := rec.tree.applyDocs(r); err != nil {
		return err
	}
	var settled []belfry.Item
	differs := false // from what the record says
	for i := range items {
		removals, outdated := rec.reconcile(&items[i], r.Pos, r.Time, listed)
		if !differs && (outdated || len(removals) > 0) {
			differs, settled = true, slices.Clone(items[:i])
		}
		for j := range removals {
			if err := rec.tree.applyItem(&removals[j], r.Pos, nil); err != nil {
				return err
			}
		}
		settled = append(settled, removals...)
		if outdated {
			continue
		}
		if err := rec.tree.applyItem(&items[i], r.Pos, nil); err != nil {
			return err
		}
		if differs {
			settled = append(settled, items[i])
		}
	}
	if differs {
		r.Items = settled
	}
	rec.tree.applyRest(r)
	return nil
}

// reconcile compares an item of a record with what is known. It returns the removals that must come before it, and whether
// the item itself is outdated. It marks an item that is already removed as such.
func (rec *Recovery) reconcile(it *belfry.Item, pos belfry.Position, now belfry.Time, listed func() map[belfry.ID]bool) (removals []belfry.Item, outdated bool) {
	if rec.tree.access.isRemoved(it.Customer) {
		return nil, false
	}
	n := rec.tree.Node(it.ID)
	switch {
	case it.Removed != 0:
		if n != nil && n.content != nil && len(n.content.children)+len(n.content.elements) > 0 {
			removals = n.removalsInside(nil, it.Removed, listed())
		}
		rec.removed += len(removals)
		return removals, false
	case n != nil:
		return nil, n.Removed != 0 || rec.newerInDB[n.ID] > pos
	}
	if m, ok := rec.lostRemovals[it.ID]; ok && m.is(it) {
		it.Removed = max(now, it.Created)
	} else if r := rec.tree.Node(it.Resource); r != nil && r.Removed != 0 {
		it.Removed = max(r.Removed, it.Created)
	} else {
		removals = rec.evict(it, max(now, it.Created), listed)
	}
	if it.Removed != 0 {
		rec.removed++
	}
	rec.removed += len(removals)
	return removals, false
}

// evict frees the name of a new item. Of two items with one name the one with the lower id is older and must have been
// removed.
func (rec *Recovery) evict(it *belfry.Item, at belfry.Time, listed func() map[belfry.ID]bool) []belfry.Item {
	old := rec.tree.nameHolder(it)
	if old == nil || old.ID == it.ID {
		return nil
	}
	if old.ID > it.ID || old.Parent == nil && old.Name == belfry.Main {
		it.Removed = max(old.Created, it.Created, 1)
		return nil
	}
	var among map[belfry.ID]bool
	if old.content != nil {
		among = listed()
		among[old.ID] = true
	}
	return append(old.removalsInside(nil, at, among), old.removal(at))
}

// nameHolder finds the existing item that has the name of it, among the items that may not share a name.
func (t *Tree) nameHolder(it *belfry.Item) *Node {
	e := t.customers[it.Customer]
	switch {
	case e == nil:
		return nil
	case it.Kind == belfry.KindElement:
		return e.elements[elementKey{it.Package, it.Name}]
	case it.Resource == 0 || it.Kind == belfry.KindResource:
		return e.places[it.Name]
	}
	r := t.Node(it.Resource)
	if r == nil || r.content == nil {
		return nil
	}
	if it.Kind == belfry.KindView {
		return r.content.items[viewSlot(it.Name)]
	}
	return r.content.items[it.Name]
}

func (n *Node) removal(at belfry.Time) belfry.Item {
	it := n.Item()
	it.Removed = at
	return it
}

// removalsInside lists the removals of the content of n, the innermost first, without the items in done and their content.
func (n *Node) removalsInside(list []belfry.Item, at belfry.Time, done map[belfry.ID]bool) []belfry.Item {
	if n.content == nil {
		return list
	}
	for _, c := range slices.Concat(n.content.children, n.content.elements) {
		if done[c.ID] {
			continue
		}
		done[c.ID] = true // a lost move may have left a circle
		list = append(c.removalsInside(list, at, done), c.removal(at))
	}
	return list
}

func (m *LostRemoval) is(it *belfry.Item) bool {
	return m.Customer == it.Customer && m.Kind == it.Kind && m.Name == it.Name
}

// MayExist reports whether an item may exist after the replay: the tree has it, or its id is above all known ones.
func (rec *Recovery) MayExist(id belfry.ID) bool {
	rec.tree.mu.RLock()
	defer rec.tree.mu.RUnlock()
	n := rec.tree.Node(id)
	return n != nil && n.Removed == 0 || id > rec.tree.lastID
}

// ApplyLostRemovals removes items that the row store knows as removed, with everything in them. Items that the tree does not
// have yet are removed when the replay reaches them. The database has the removals when this returns.
func (rec *Recovery) ApplyLostRemovals(ctx context.Context, list []LostRemoval, at belfry.Time) error {
	rec.tree.mu.Lock()
	defer rec.tree.mu.Unlock()
	var removals []belfry.Item
	done := map[belfry.ID]bool{}
	rec.lostRemovals = make(map[belfry.ID]LostRemoval, len(list))
	for _, m := range list {
		rec.lostRemovals[m.ID] = m
		n := rec.tree.Node(m.ID)
		if n == nil || n.Removed != 0 || done[n.ID] {
			continue
		}
		if it := n.removal(max(at, n.Created)); m.is(&it) && n.Parent != nil {
			done[n.ID] = true
			removals = append(n.removalsInside(removals, it.Removed, done), it)
		}
	}
	return rec.removeNow(ctx, removals)
}

// removeNow removes items from the tree and the database, outside any record.
func (rec *Recovery) removeNow(ctx context.Context, removals []belfry.Item) error {
	if len(removals) == 0 {
		return nil
	}
	ended := make([]belfry.Time, len(removals))
	for i := range removals {
		it := &removals[i]
		if n := rec.tree.Node(it.ID); n != nil {
			ended[i] = max(n.State.LastData, n.State.LastSeen, n.State.Since)
		}
		if err := rec.tree.applyItem(it, rec.tree.history.archive.Stored(), nil); err != nil {
			return err
		}
		rec.loaded = append(rec.loaded, it.ID)
	}
	rec.removed += len(removals)
	if err := rec.tree.history.archive.Remove(ctx, removals, ended); err != nil {
		return fmt.Errorf("remove items whose removal was lost: %w", err)
	}
	return nil
}

// removeOrphans removes the content of resources that the database has as removed.
func (rec *Recovery) removeOrphans(ctx context.Context, ousted []belfry.Item) error {
	found, err := rec.tree.history.archive.RemovedByID(ctx, 0, rec.placeholders)
	if err != nil {
		return err
	}
	for i := range found {
		n := rec.tree.Node(found[i].ID)
		if n == nil || n.Removed != 0 {
			continue
		}
		ousted = n.removalsInside(ousted, found[i].Removed, map[belfry.ID]bool{n.ID: true})
	}
	rec.placeholders = nil
	if err := rec.removeNow(ctx, ousted); err != nil {
		return err
	}
	for i := range found {
		if err := rec.tree.applyItem(&found[i].Item, 0, nil); err != nil {
			return err
		}
		rec.loaded = append(rec.loaded, found[i].ID)
	}
	return nil
}

// Removed returns how many items this start has removed because the records of their removal were lost.
func (rec *Recovery) Removed() int { return rec.removed }

// End deletes from memory the removed items that were read for the replay. It is for the goroutine that applies records.
func (rec *Recovery) End() {
	ids := rec.loaded
	rec.loaded, rec.newerInDB, rec.lostRemovals, rec.placeholders = nil, nil, nil, nil
	rec.tree.history.Archived(ids)
	rec.tree.mu.Lock()
	defer rec.tree.mu.Unlock()
	rec.tree.history.releaseArchived()
}

// SkipIDs skips n item ids and returns the next one. It is for a start where ids may be in use that the tree does not know.
func (rec *Recovery) SkipIDs(n belfry.ID) belfry.ID {
	rec.tree.mu.Lock()
	defer rec.tree.mu.Unlock()
	rec.tree.lastID += n
	return rec.tree.lastID + 1
}

// SkipRows skips n row ids of each customer and returns the next ones; see SkipIDs.
func (rec *Recovery) SkipRows(n belfry.RowID) map[belfry.CustomerID]belfry.RowID {
	rec.tree.mu.Lock()
	defer rec.tree.mu.Unlock()
	next := map[belfry.CustomerID]belfry.RowID{}
	for id, e := range rec.tree.customers {
		e.NextRow += n
		next[id] = e.NextRow
	}
	return next
}

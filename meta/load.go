package meta

import (
	"context"
	"fmt"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

// LoadTree builds the tree from what the database holds.
func LoadTree(ctx context.Context, db *sqlite.DB, c *catalog.Catalog) (*Tree, error) {
	l := builder{tree: NewTree(c)}
	err := db.Load(ctx, sqlite.Visitor{
		Kinds: loadedKinds(), Doc: l.doc, Item: l.item, Ahead: l.newerInDB, HasRemoved: l.hasRemoved, State: l.state, Counter: l.counter, Highest: l.highest, NextID: l.nextID,
	})
	l.tree.documents.rebuildCatalog()
	if err == nil {
		err = l.err
	}
	if err != nil {
		return nil, fmt.Errorf("load metadata: %w", err)
	}
	l.tree.history.archive = db
	if err := l.tree.recovery.removeOrphans(ctx, l.evicted); err != nil {
		return nil, fmt.Errorf("load metadata: %w", err)
	}
	return l.tree, nil
}

// builder takes what the database reads out: documents, items (parents first), states, counters.
type builder struct {
	tree    *Tree
	err     error
	evicted []belfry.Item // removals that are not in the database yet
}

func (l *builder) note(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *builder) doc(d belfry.Doc) { l.note(l.tree.applyDoc(&d)) }

func (l *builder) item(it belfry.Item) {
	l.tree.documents.rebuildCatalog() // all documents have been read
	if it.Removed == 0 {
		l.reconcile(&it)
	}
	l.note(l.tree.applyItem(&it, 0, nil))
	if it.Removed != 0 {
		l.tree.recovery.loaded = append(l.tree.recovery.loaded, it.ID)
	}
}

// reconcile removes an item whose resource is removed, and the older of two items with the same name.
func (l *builder) reconcile(it *belfry.Item) {
	if r := l.tree.Node(it.Resource); r != nil && r.Removed != 0 {
		it.Removed = max(r.Removed, it.Created)
		l.evicted = append(l.evicted, *it)
		return
	}
	if l.tree.nameHolder(it) == nil { // nearly always
		return
	}
	removals := l.tree.recovery.evict(it, max(it.Created, 1), func() map[belfry.ID]bool { return map[belfry.ID]bool{} })
	for i := range removals {
		l.note(l.tree.applyItem(&removals[i], 0, nil))
	}
	l.evicted = append(l.evicted, removals...)
	if it.Removed != 0 {
		l.evicted = append(l.evicted, *it)
	}
}

func (l *builder) newerInDB(id belfry.ID, pos belfry.Position) {
	if l.tree.recovery.newerInDB == nil {
		l.tree.recovery.newerInDB = map[belfry.ID]belfry.Position{}
	}
	l.tree.recovery.newerInDB[id] = pos
}

func (l *builder) highest(c belfry.CustomerID, number uint32) {
	if e := l.tree.customers[c]; e != nil {
		e.highest = max(e.highest, number)
	}
}

func (l *builder) hasRemoved(c belfry.CustomerID) {
	if e := l.tree.customers[c]; e != nil {
		e.hasRemoved = true
	}
}

func (l *builder) state(id belfry.ID, s *belfry.ItemState) {
	if n := l.tree.Node(id); n != nil {
		l.tree.setStatus(n, s.Status)
		l.tree.setOperatorState(n, s.Operator)
		if e := l.tree.customers[n.Customer]; e != nil && n.Removed == 0 {
			l.tree.addMemory(e, stateSize(s)-stateSize(&n.State))
		}
		n.State = *s
	}
}

func (l *builder) counter(c belfry.CustomerID, next belfry.RowID) {
	if e := l.tree.customers[c]; e != nil {
		e.NextRow = max(e.NextRow, next)
	} else {
		l.tree.nextRows[c] = next // the record that makes the customer is still in the journal
	}
}

// nextID makes sure that an id whose item has been purged is not given again.
func (l *builder) nextID(id belfry.ID) {
	l.tree.reserve(id - 1)
}

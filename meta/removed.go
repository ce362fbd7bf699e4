package meta

import (
	"context"
	"sync"

	"belfry"
	"belfry/meta/sqlite"
)

// A removed item is needed as long as there are rows about it: history is asked by name. It lives in the database alone,
// where queries look it up (see history.go):
//
//	tree ── removal ──► Inventory.gone ── mover has written it ──► table removed ── its last row goes ──► purged
//
// So memory holds those that the mover has not written yet, and a start reads those that a replay may meet again.

// written is a list of removed items that the database has, until the goroutine that applies records lets go of them: it
// reads the tree without a lock, so nobody else may change it.
type written struct {
	mu  sync.Mutex
	ids []belfry.ID
}

// Forget says that the database has removed items. The next record that is applied lets go of them.
func (t *Tree) Forget(ids []belfry.ID) {
	if t.archive == nil {
		return
	}
	t.written.mu.Lock()
	defer t.written.mu.Unlock()
	t.written.ids = append(t.written.ids, ids...)
}

// forgetWritten lets go of removed items that are in the database. The tree is locked.
func (t *Tree) forgetWritten() {
	t.written.mu.Lock()
	ids := t.written.ids
	t.written.ids = nil
	t.written.mu.Unlock()
	for _, id := range ids {
		n := t.Node(id)
		if n == nil || n.Removed == 0 {
			continue
		}
		t.nodes.Set(uint64(id), nil)
		if e := t.customers[n.Customer]; e != nil && n.Kind != belfry.KindElement {
			e.numbered.Set(uint64(n.Number), nil)
			e.exhume(n)
		}
	}
}

// exhume takes a node out of the removed ones of its name.
func (e *Tenant) exhume(n *Node) {
	list := e.gone[n.Name]
	for i, m := range list {
		if m == n {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			list = list[:len(list)-1]
			break
		}
	}
	if len(list) == 0 {
		delete(e.gone, n.Name)
	} else {
		e.gone[n.Name] = list
	}
}

// forgetAll lets go of all items of a customer; their ids stay used.
func (t *Tree) forgetAll(e *Tenant) {
	var ids []uint64
	for id, n := range t.nodes.From(0) {
		if n.Customer == e.ID {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		t.nodes.Set(id, nil)
	}
}

// ForgetLoaded lets go of the removed items that were read at the start for the sake of the replay, when that is over. It is for
// the goroutine that applies records.
func (t *Tree) ForgetLoaded() {
	ids := t.loaded
	t.loaded, t.ahead, t.missed, t.standIns = nil, nil, nil, nil
	t.Forget(ids)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetWritten()
}

// Purged finds out again which customers have removed items, after a purge.
func (t *Tree) Purged(ctx context.Context) error {
	has, buried := map[belfry.CustomerID]bool{}, map[belfry.CustomerID]int{}
	t.mu.RLock()
	for c, e := range t.customers {
		buried[c] = e.buried
	}
	t.mu.RUnlock()
	if err := t.archive.Load(ctx, sqlite.Visitor{Past: func(c belfry.CustomerID) { has[c] = true }}); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for c, e := range t.customers {
		e.past = has[c] || len(e.gone) > 0 || e.buried != buried[c]
	}
	return nil
}

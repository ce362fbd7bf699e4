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
//	tree ── removal ──► Tenant.gone ── mover has written it ──► table removed ── its last row goes ──► purged
//
// So memory holds those that the mover has not written yet, and a start reads those that a replay may meet again.

// written lists removed items that are in the database, until the goroutine that applies records deletes them from memory. It
// reads the tree without a lock, so no other goroutine may change the tree.
type written struct {
	mu  sync.Mutex
	ids []belfry.ID
}

// Forget reports removed items that are in the database now. They leave memory with the next record that is applied.
func (t *Tree) Forget(ids []belfry.ID) {
	if t.archive == nil {
		return
	}
	t.written.mu.Lock()
	defer t.written.mu.Unlock()
	t.written.ids = append(t.written.ids, ids...)
}

// forgetWritten deletes from memory the removed items that are in the database. The tree is locked.
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
			e.deleteGone(n)
		}
	}
}

// deleteGone deletes a node from the removed ones of its name.
func (e *Tenant) deleteGone(n *Node) {
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

// forgetAll deletes all items of a customer from memory; their ids stay used.
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

// ForgetLoaded deletes from memory the removed items that a start read for the replay, once it is over. It is for the goroutine
// that applies records.
func (t *Tree) ForgetLoaded() {
	ids := t.loaded
	t.loaded, t.ahead, t.missed, t.standIns = nil, nil, nil, nil
	t.Forget(ids)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetWritten()
}

// Purged updates which customers have removed items, after a purge.
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

package meta

import (
	"context"

	"belfry"
	"belfry/meta/sqlite"
)

// A removed item is needed as long as there are rows about it: history is asked by name. It lives in the database alone,
// where queries look it up (see history.go):
//
//	tree ── removal ──► Tenant.removed ── mover has written it ──► table removed ── its last row goes ──► purged
//
// So memory holds those that the mover has not written yet, and a start reads those that a replay may meet again.

// Archived reports removed items that the database has now. The next record applied deletes them from memory.
func (h *History) Archived(ids []belfry.ID) {
	if h.archive == nil {
		return
	}
	h.archived.mu.Lock()
	defer h.archived.mu.Unlock()
	h.archived.ids = append(h.archived.ids, ids...)
}

// releaseArchived deletes from memory the removed items that are in the database. The tree is locked.
func (h *History) releaseArchived() {
	h.archived.mu.Lock()
	ids := h.archived.ids
	h.archived.ids = nil
	h.archived.mu.Unlock()
	for _, id := range ids {
		n := h.tree.Node(id)
		if n == nil || n.Removed == 0 {
			continue
		}
		h.tree.nodes.Set(uint64(id), nil)
		if e := h.tree.customers[n.Customer]; e != nil && n.Kind != belfry.KindElement {
			e.numbered.Set(uint64(n.Number), nil)
			e.deleteRemoved(n)
		}
	}
}

// deleteRemoved deletes a removed item from the list of its name.
func (e *Tenant) deleteRemoved(n *Node) {
	list := e.removed[n.Name]
	for i, m := range list {
		if m == n {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			list = list[:len(list)-1]
			break
		}
	}
	if len(list) == 0 {
		delete(e.removed, n.Name)
	} else {
		e.removed[n.Name] = list
	}
}

// Purged updates which customers have removed items, after a purge.
func (h *History) Purged(ctx context.Context) error {
	has, buried := map[belfry.CustomerID]bool{}, map[belfry.CustomerID]int{}
	h.tree.mu.RLock()
	for c, e := range h.tree.customers {
		buried[c] = e.removals
	}
	h.tree.mu.RUnlock()
	if err := h.archive.Load(ctx, sqlite.Visitor{HasRemoved: func(c belfry.CustomerID) { has[c] = true }}); err != nil {
		return err
	}
	h.tree.mu.Lock()
	defer h.tree.mu.Unlock()
	for c, e := range h.tree.customers {
		e.hasRemoved = has[c] || len(e.removed) > 0 || e.removals != buried[c]
	}
	return nil
}

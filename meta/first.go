package meta

import (
	"slices"
	"strings"
	"sync"

	"belfry"
)

// maxFirst is how many of the first object names are cached.
const maxFirst = 4096

// firstNames are the objects of a customer whose names come first, as long as none of all items has been removed. They are
// computed when needed; then only items that are new since have to be looked at, as names never change.
type firstNames struct {
	mu   sync.Mutex
	list []*Node // in order
	seen uint64  // Numbers up to it have been looked at
	gone int     // how many items had been removed then
}

// FirstByName implements query.ItemNames. Where names are not unique it knows none.
func (h *History) FirstByName(c belfry.CustomerID, n int) []belfry.ID {
	h.tree.mu.RLock()
	e := h.tree.customers[c]
	known := e != nil && !e.hasRemoved && e.Namesakes == 0 && n <= maxFirst
	buried := 0
	if known {
		buried = e.removals
	}
	h.tree.mu.RUnlock()
	if !known {
		return nil
	}
	f := &e.first
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone != buried { // those that were removed have been purged since
		f.list, f.seen, f.gone = nil, 0, buried
	}
	for h.scanNew(e, f) {
	}
	ids := make([]belfry.ID, min(n, len(f.list)))
	for i := range ids {
		ids[i] = f.list[i].ID
	}
	return ids
}

// lookFor takes in some items that are new; false when there are none. It does so in portions, so that a long list does
// not hold up what arrives.
func (h *History) scanNew(e *Tenant, f *firstNames) bool {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	full := len(f.list) == maxFirst
	n, looked := len(f.list), 0
	for number, m := range e.numbered.From(f.seen + 1) {
		f.seen = number
		if m.Kind == belfry.KindObject && (!full || m.Name < f.list[n-1].Name) {
			f.list = append(f.list, m)
		}
		if looked++; looked == 2*maxFirst {
			break
		}
	}
	if len(f.list) > n {
		slices.SortFunc(f.list, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
		f.list = slices.Delete(f.list, min(maxFirst, len(f.list)), len(f.list))
	}
	return looked > 0
}

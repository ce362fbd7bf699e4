package meta

import (
	"context"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Label implements query.ItemNames.
func (h *History) Label(ctx context.Context, c belfry.CustomerID, id belfry.ID) (l query.Label, err error) {
	missing := h.inMemory(c, []belfry.ID{id}, func(_ int, n *Node) { l = n.label() })
	if len(missing) == 0 || !h.hasRemoved(c) {
		return l, nil
	}
	found, err := h.archive.RemovedByID(ctx, c, []belfry.ID{id})
	if err == nil && len(found) > 0 {
		l = labelOfRemoved(&found[0])
	}
	return l, err
}

// Names implements query.ItemNames.
func (h *History) Names(ctx context.Context, c belfry.CustomerID, field string, items []belfry.ID, names []string) error {
	clear(names)
	missing := h.inMemory(c, items, func(i int, n *Node) { names[i] = n.name(field) })
	if len(missing) == 0 || !h.hasRemoved(c) {
		return nil
	}
	found, err := h.archive.RemovedByID(ctx, c, pick(items, missing))
	if err != nil {
		return err
	}
	byID := make(map[belfry.ID]string, len(found))
	for i := range found {
		l := labelOfRemoved(&found[i])
		byID[found[i].ID] = l.Of(field)
	}
	for _, at := range missing {
		names[at] = byID[items[at]]
	}
	return nil
}

// name is a field of the label.
func (n *Node) name(field string) string {
	if field == "object" { // most ask for it, and there is no need to look at what is around the object
		if n.Kind == belfry.KindObject {
			return n.Name
		}
		return ""
	}
	l := n.label()
	return l.Of(field)
}

// NamesUnique implements query.ItemNames. Names of existing objects are counted as they come and go; only if some of the items
// were removed have names to be compared.
func (h *History) NamesUnique(ctx context.Context, c belfry.CustomerID, fields []string, items []belfry.ID) (bool, error) {
	if !h.objectNamesUnique(c, fields) {
		return false, nil
	}
	objects, gone := true, false
	missing := h.inMemory(c, items, func(_ int, n *Node) {
		objects, gone = objects && n.Kind == belfry.KindObject, gone || n.Removed != 0
	})
	if !objects || len(missing) > mostCompared || len(missing) > 0 && !h.hasRemoved(c) {
		return false, nil
	}
	if len(missing) == 0 && !gone {
		return true, nil
	}
	return h.compareNames(ctx, c, fields, items)
}

// compareNames reports whether all the items are objects and no two have the same names in the fields.
func (h *History) compareNames(ctx context.Context, c belfry.CustomerID, fields []string, items []belfry.ID) (bool, error) {
	keys, names := make([]string, len(items)), make([]string, len(items))
	for _, field := range fields {
		if err := h.Names(ctx, c, field, items, names); err != nil {
			return false, err
		}
		for i := range keys {
			if field == "object" && names[i] == "" {
				return false, nil
			}
			keys[i] += names[i] + "\x00"
		}
	}
	seen := make(map[string]struct{}, len(keys))
	for _, k := range keys {
		if _, twice := seen[k]; twice {
			return false, nil
		}
		seen[k] = struct{}{}
	}
	return true, nil
}

// AllNamesUnique implements query.ItemNames.
func (h *History) AllNamesUnique(c belfry.CustomerID, of *catalog.Collection, fields []string) bool {
	h.tree.mu.RLock()
	e := h.tree.customers[c]
	past := e == nil || e.hasRemoved
	h.tree.mu.RUnlock()
	return of.Objects && !past && h.objectNamesUnique(c, fields)
}

// objectNamesUnique reports whether no two existing objects have the same names in the fields.
func (h *History) objectNamesUnique(c belfry.CustomerID, fields []string) bool {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	e := h.tree.customers[c]
	return e != nil && slices.Contains(fields, "object") && (e.Namesakes == 0 || slices.Contains(fields, "resource"))
}

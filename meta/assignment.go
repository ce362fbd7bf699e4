package meta

import (
	"maps"

	"belfry"
)

// Assignment is what the collector of a resource has to know.
type Assignment struct {
	Customer belfry.CustomerID
	Name     string
	Package  string
	Mode     belfry.Mode
	Answers  map[string]string // as they were given: without defaults, with secrets
}

// Assignment gives that of a resource; false when there is no such resource, or none any more.
func (t *Tree) Assignment(id belfry.ID) (a Assignment, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.Node(id)
	if n == nil || n.Kind != belfry.KindResource || n.Removed != 0 {
		return a, false
	}
	a = Assignment{Customer: n.Customer, Name: n.Name, Package: n.Package, Mode: n.State.Mode}
	if n.Details != nil {
		a.Answers = maps.Clone(n.Details.Answers)
	}
	return a, true
}

// Resources lists the resources of all customers.
func (t *Tree) Resources() (ids []belfry.ID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, n := range t.nodes.From(0) {
		if n.Kind == belfry.KindResource && n.Removed == 0 {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

package meta

import (
	"maps"

	"belfry"
)

// Assignment is what the collector of a resource needs to run.
type Assignment struct {
	Customer belfry.CustomerID
	Name     string
	Package  string
	Mode     belfry.Mode
	Answers  map[string]string // as they were given: without defaults, with secrets, which are open here
	Author   *belfry.Author    // of the script among them, if that may not write everywhere
}

// Assignment returns the assignment of a resource. It returns false if the resource does not exist, or if one of its secrets
// cannot be opened: the collector must not run with another one.
func (t *Tree) Assignment(id belfry.ID) (a Assignment, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.Node(id)
	if n == nil || n.Kind != belfry.KindResource || n.Removed != 0 {
		return a, false
	}
	a = Assignment{Customer: n.Customer, Name: n.Name, Package: n.Package, Mode: n.State.Mode}
	if n.Details != nil {
		a.Answers, a.Author = maps.Clone(n.Details.Answers), n.Details.Author
	}
	for column, text := range a.Answers {
		if !Sealed(text) {
			continue
		}
		var err error
		if a.Answers[column], err = t.secrets.Open(SecretRef{n.Customer, n.Name, column}, text); err != nil {
			return Assignment{}, false
		}
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

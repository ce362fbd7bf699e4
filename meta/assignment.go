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
	Answers  map[string]string // as they were given: without defaults, with secrets, which are open here
	Author   *belfry.Author    // of the script among them, if that may not write everywhere
}

// Assignment gives that of a resource; false when there is no such resource, or none any more, or when a secret of it cannot
// be opened: its collector must not run with another one.
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
		if a.Answers[column], err = t.secrets.Open(SecretPlace{n.Customer, n.Name, column}, text); err != nil {
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

// MayListen tells whether a customer may listen on HOST:PORT.
func (t *Tree) MayListen(c belfry.CustomerID, listen string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[c]
	return e != nil && e.Customer.MayListen(listen)
}

// ScopeOf returns what a script may write to: the present scope of its author, or the last one if the user has been removed. The
// user takes precedence over the copy in a, because a running receiver gets changed limits a little later.
func (t *Tree) ScopeOf(c belfry.CustomerID, a *belfry.Author) belfry.Scope {
	if a == nil {
		return belfry.Whole(c)
	}
	if u, ok := t.User(c, a.User); ok && u.Created == a.Created {
		return belfry.Scope{Customer: c, Views: u.Views}
	}
	return belfry.Scope{Customer: c, Views: a.Views}
}

package engine

import (
	"slices"

	"belfry/meta"
)

// A command of a user who is limited to sub-trees sees only these: look-ups find only items inside, and only items inside are
// created, moved or removed. The roots of the sub-trees themselves cannot be moved or removed.

// limit restricts the transaction to sub-trees, whose names are resolved as of the round.
func (t *Tx) limit(views []string) {
	if t.Limited = len(views) > 0; !t.Limited {
		return
	}
	for _, name := range views {
		if n := t.anyPlace(name); n != nil && n != t.Tenant.Main {
			t.roots = append(t.roots, n)
		}
	}
}

// Sees reports whether an item is inside the scope.
func (t *Tx) Sees(n *meta.Node) bool {
	if !t.Limited {
		return true
	}
	at := n
	if n.Resource != nil { // an item never leaves its resource
		at = n.Resource
	}
	for ; at != nil; at = t.Parent(at) {
		if t.s.gone[at.ID] {
			return false
		}
		if slices.Contains(t.roots, at) {
			return true
		}
	}
	return false
}

// only returns an item if it is inside the scope, else nil.
func (t *Tx) only(n *meta.Node) *meta.Node {
	if n == nil || !t.Sees(n) {
		return nil
	}
	return n
}

// root reports whether an item is the root of a sub-tree of the scope.
func (t *Tx) root(n *meta.Node) bool {
	p := t.Parent(n)
	return t.Limited && p != nil && !t.Sees(p)
}

// requireInScope panics before a change outside the scope, in case an earlier check is missing.
func (t *Tx) requireInScope(n *meta.Node) {
	if n != nil && !t.Sees(n) {
		panic("engine: a command would change what is outside its scope")
	}
}

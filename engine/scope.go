package engine

import (
	"slices"

	"belfry/meta"
)

// A command of somebody who is limited to sub-trees meets a customer that has nothing else: every look-up of the tx
// gives what is inside, and nothing is made, moved or removed that is not. The roots of the sub-trees were put where they
// are by others, and stay there.

// limit keeps the tx to sub-trees. Their names mean what the round has made of them so far.
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

// Sees tells whether an item is inside.
func (t *Tx) Sees(n *meta.Node) bool {
	if !t.Limited {
		return true
	}
	at := n
	if n.Resource != nil { // which it never leaves
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

// only gives an item if it is inside.
func (t *Tx) only(n *meta.Node) *meta.Node {
	if n == nil || !t.Sees(n) {
		return nil
	}
	return n
}

// root tells whether an item is inside and what it stands in is not.
func (t *Tx) root(n *meta.Node) bool {
	p := t.Parent(n)
	return t.Limited && p != nil && !t.Sees(p)
}

// keepInside is the last of the guards: whatever let a command get here, it changes nothing outside.
func (t *Tx) keepInside(n *meta.Node) {
	if n != nil && !t.Sees(n) {
		panic("engine: a command would change what is outside its scope")
	}
}

package engine

import (
	"slices"

	"belfry"
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

// ViewsNamed lists the views of that name inside resources.
func (t *Tx) ViewsNamed(name string) (list []*meta.Node) {
	t.Tenant.ViewsNamed(name, func(n *meta.Node) {
		if !t.s.gone[n.ID] && t.Sees(n) {
			list = append(list, n)
		}
	})
	return list
}

// root tells whether an item is inside and what it stands in is not.
func (t *Tx) root(n *meta.Node) bool {
	p := t.Parent(n)
	return t.Limited && p != nil && !t.Sees(p)
}

// StandsIn names what an item stands in; all that is outside is MAIN.
func (t *Tx) StandsIn(n *meta.Node) string {
	if t.root(n) {
		return belfry.Main
	}
	return t.Parent(n).Name
}

// keepInside is the last of the guards: whatever let a command get here, it changes nothing outside.
func (t *Tx) keepInside(n *meta.Node) {
	if n != nil && !t.Sees(n) {
		panic("engine: a command would change what is outside its scope")
	}
}

// AtMain refuses what a limited user wants done directly in MAIN.
func (t *Tx) AtMain(column string) *belfry.RowError {
	if !t.Limited {
		return nil
	}
	return belfry.Rejectf(column, belfry.NotAllowed, "you are limited to some views, and %s is outside them; name a view of yours", belfry.Main)
}

// Rooted refuses to move or remove a root.
func (t *Tx) Rooted(column string, n *meta.Node) *belfry.RowError {
	if !t.root(n) {
		return nil
	}
	return belfry.Rejectf(column, belfry.NotAllowed, "%q is where what you may see begins, and stays where it stands; ask an administrator who is not limited to it", n.Name)
}

// Taken refuses a name at customer level that somebody has whom a limited user does not see. It says nothing more.
func (t *Tx) Taken(name string) *belfry.RowError {
	if n := t.anyPlace(name); n != nil && !t.Sees(n) {
		return errTaken(name)
	}
	return nil
}

// TakenElement is the same for an element.
func (t *Tx) TakenElement(pkg, name string) *belfry.RowError {
	if n := t.anyElement(pkg, name); n != nil && !t.Sees(n) {
		return errTaken(name)
	}
	return nil
}

func errTaken(name string) *belfry.RowError {
	return belfry.Rejectf("name", belfry.NameInUse, "the name %q is taken; choose another", belfry.Clip(name))
}

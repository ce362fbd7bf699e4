package engine

import (
	"belfry"
	"belfry/meta"
)

// MaxDepth is how deep views may be nested: a change of status is rolled up through all of them.
const MaxDepth = 100

// Check holds the rules that a row may violate.
type Check struct{ t *Tx }

// Check returns the checks of the transaction.
func (t *Tx) Check() Check { return Check{t} }

// Depth rejects a new view in parent if that is MaxDepth views deep.
func (c Check) Depth(column string, parent *meta.Node) *belfry.RowError {
	depth := 0
	for v := parent; v != nil; v = c.t.Parent(v) {
		depth++
	}
	if depth > MaxDepth {
		return belfry.Rejectf(column, belfry.LimitReached, "%q is nested %d views deep, the maximum; choose a view further up", parent.Name, MaxDepth)
	}
	return nil
}

// Move rejects moving a view into itself or into a view inside it.
func (c Check) Move(column string, n, to *meta.Node) *belfry.RowError {
	if bad := c.Depth(column, to); bad != nil {
		return bad
	}
	for v := to; v != nil; v = c.t.Parent(v) {
		if v == n {
			return belfry.Rejectf(column, belfry.Cycle, "%q cannot be moved into %q, which is inside it", n.Name, to.Name)
		}
	}
	return nil
}

// MayUseMain rejects a change directly in MAIN if the command is limited to views.
func (c Check) MayUseMain(column string) *belfry.RowError {
	if !c.t.Limited {
		return nil
	}
	return belfry.Rejectf(column, belfry.NotAllowed, "you are limited to some views, and %s is outside them; choose a view that you may see", belfry.Main)
}

// NotRoot rejects moving or removing a view that the command is limited to.
func (c Check) NotRoot(column string, n *meta.Node) *belfry.RowError {
	if !c.t.root(n) {
		return nil
	}
	return belfry.Rejectf(column, belfry.NotAllowed, "you are limited to %q, so you cannot move it; ask an administrator who is not limited to views", n.Name)
}

// NameFree rejects a name at customer level that an item outside the scope has. The error does not say which item.
func (c Check) NameFree(name string) *belfry.RowError {
	if n := c.t.anyPlace(name); n != nil && !c.t.Sees(n) {
		return errTaken(name)
	}
	return nil
}

// ElementNameFree is NameFree for a graphical element.
func (c Check) ElementNameFree(pkg, name string) *belfry.RowError {
	if n := c.t.anyElement(pkg, name); n != nil && !c.t.Sees(n) {
		return errTaken(name)
	}
	return nil
}

func errTaken(name string) *belfry.RowError {
	return belfry.Rejectf("name", belfry.NameInUse, "the name %q is taken; choose another", belfry.Clip(name))
}

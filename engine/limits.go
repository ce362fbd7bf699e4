package engine

import (
	"belfry"
	"belfry/meta"
)

// MaxDepth is how deep views may be nested: a change of status rises through all of them.
const MaxDepth = 100

// CheckDepth refuses to nest views any deeper.
func (t *Tx) CheckDepth(column string, parent *meta.Node) *belfry.RowError {
	depth := 0
	for v := parent; v != nil; v = t.Parent(v) {
		depth++
	}
	if depth > MaxDepth {
		return belfry.Rejectf(column, belfry.LimitReached, "%q stands %d views deep already, as deep as they may be nested; choose a view further up", parent.Name, MaxDepth)
	}
	return nil
}

// CheckMove refuses to put a view into itself, however deep.
func (t *Tx) CheckMove(column string, n, to *meta.Node) *belfry.RowError {
	if bad := t.CheckDepth(column, to); bad != nil {
		return bad
	}
	for v := to; v != nil; v = t.Parent(v) {
		if v == n {
			return belfry.Rejectf(column, belfry.Cycle, "%q cannot stand in %q, which stands in %q itself; move that one out first", n.Name, to.Name, n.Name)
		}
	}
	return nil
}

// RoomForObjects tells whether the customer may have so many objects more.
func (t *Tx) RoomForObjects(objects int) *belfry.RowError {
	most := t.seq.cfg.Limits().Objects
	if objects == 0 || t.Tenant.Count(belfry.KindObject)+t.s.objectN[t.Tenant.ID]+objects <= most {
		return nil
	}
	if t.Limited { // how many there are is not for them to know
		return belfry.Rejectf("name", belfry.LimitReached, "there are as many objects as are allowed; remove some, or ask an administrator for more")
	}
	return belfry.Rejectf("name", belfry.LimitReached, "there are %d objects already, and %d are allowed; remove some or raise limits.objects",
		t.Tenant.Count(belfry.KindObject)+t.s.objectN[t.Tenant.ID], most)
}

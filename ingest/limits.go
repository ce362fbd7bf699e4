package ingest

import (
	"belfry"
	"belfry/meta"
)

// maxDepth is how deep views may be nested: a change of status rises through all of them.
const maxDepth = 100

// checkDepth refuses to nest views any deeper.
func (t *Tx) checkDepth(column string, parent *meta.Node) *belfry.RowError {
	depth := 0
	for v := parent; v != nil; v = t.parent(v) {
		depth++
	}
	if depth > maxDepth {
		return rejectf(column, belfry.LimitReached, "%q stands %d views deep already, as deep as they may be nested; choose a view further up", parent.Name, maxDepth)
	}
	return nil
}

// checkMove refuses to put a view into itself, however deep.
func (t *Tx) checkMove(column string, n, to *meta.Node) *belfry.RowError {
	if bad := t.checkDepth(column, to); bad != nil {
		return bad
	}
	for v := to; v != nil; v = t.parent(v) {
		if v == n {
			return rejectf(column, belfry.Cycle, "%q cannot stand in %q, which stands in %q itself; move that one out first", n.Name, to.Name, n.Name)
		}
	}
	return nil
}

// roomFor tells whether the customer may have so many objects more.
func (t *Tx) roomFor(objects int) *belfry.RowError {
	most := t.seq.cfg.Limits().Objects
	if objects == 0 || t.Tenant.Count(belfry.KindObject)+t.s.objectN[t.Tenant.ID]+objects <= most {
		return nil
	}
	if t.Limited { // how many there are is not for them to know
		return rejectf("name", belfry.LimitReached, "there are as many objects as are allowed; remove some, or ask an administrator for more")
	}
	return rejectf("name", belfry.LimitReached, "there are %d objects already, and %d are allowed; remove some or raise limits.objects",
		t.Tenant.Count(belfry.KindObject)+t.s.objectN[t.Tenant.ID], most)
}

package intake

import (
	"belfry"
	"belfry/engine"
	"belfry/meta"
)

// tooMuch is for a body that must be one record and would take too long.
func tooMuch() error {
	return belfry.Errorf(belfry.BodyTooLarge, "the rows of this body change the status of views and resources more than %d times, which is too much for a request "+
		"that is atomic, a dry run, or has an Idempotency-Key; send it in parts, or without", engine.WholeEvents)
}

// mayOverrun reports whether the rows of a body may change views and resources more often than a record may. Such a body has its
// round to itself, so that it can be refused without harm to others.
func (in *Intake) mayOverrun(customer belfry.CustomerID, c *chunk) bool {
	const above = 2 * engine.MaxDepth // views of a resource in views of the customer
	if c.rows*above <= engine.WholeEvents {
		return false
	}
	left := engine.WholeEvents - above*c.open.len()
	in.tree.Read(customer, func(*meta.Tenant) {
		for _, n := range c.data.nodes {
			for ; n != nil && left > 0; n = n.Parent {
				left--
			}
		}
	})
	return left <= 0
}

package belfry

// Scope is whose items somebody may see and touch, and which of them. It stands wherever a customer alone would say too
// much: in a request, a query, a look-up of names, a command.
//
// Views are names of views of the customer, or of resources: what stands in them, at any depth, is inside. They are looked
// up whenever the scope is used, so a name that is gone stands for nothing, and never for everything.
type Scope struct {
	Customer CustomerID
	Views    []string // none: the whole customer
}

// Whole is the scope of somebody who may see everything of a customer.
func Whole(c CustomerID) Scope { return Scope{Customer: c} }

// Limited tells whether a part of the customer is outside.
func (s Scope) Limited() bool { return len(s.Views) > 0 }

// PlaceColumn is where the names of items say to which place an item belongs: the number of its resource, or of the view
// itself for one of the customer. An item never leaves its resource, so a scope is a list of places, however many objects
// they hold. No query can name the column.
const PlaceColumn = "place"

// RemovedColumn is where the names of items say when an item was removed; 0 while it exists.
const RemovedColumn = "removed"

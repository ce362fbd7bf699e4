package belfry

// Scope is the part of a customer's items that a user or key may see and change. It is used wherever the customer alone
// would allow too much: in a request, a query, a look-up of names, a command.
//
// Views are names of views of the customer, or of resources: their content, at any depth, is inside. They are looked
// up whenever the scope is used, so a name that no longer exists means nothing, and never everything.
type Scope struct {
	Customer CustomerID
	Views    []string // none: the whole customer
}

// Whole is the scope without limits inside a customer.
func Whole(c CustomerID) Scope { return Scope{Customer: c} }

// Limited reports whether a part of the customer is outside.
func (s Scope) Limited() bool { return len(s.Views) > 0 }

// PlaceColumn is where the names of items say to which place an item belongs: the number of its resource, or of the view
// itself for one of the customer. An item never leaves its resource, so a scope is a list of places, however many objects
// they hold. No query can name the column.
const PlaceColumn = "place"

// RemovedColumn is where the names of items say when an item was removed; 0 while it exists.
const RemovedColumn = "removed"

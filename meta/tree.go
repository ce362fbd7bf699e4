// Package meta holds what exists: customers, their views, resources and objects, the state of each, and the configuration
// around them. Tree has it in memory and answers every request; package sqlite below it keeps the same on disk.
//
// Both apply records that have been committed to the journal. Only a start decides something here: if records are lost or the
// database is ahead, Recovery.Replay removes items and corrects the records; see recovery.go.
//
//	         journal ──► Record
//	                       ├──► Tree.Apply             at once, before the answer
//	                       └──► sqlite.Mover ──► DB    some time later
//	start:   DB ──► Tree, then the records above DB's position again
//
// An item's State has the position of the last record that changed it. The database may hold a state that is newer than its
// own position. A record older than the state is skipped, so both end up the same.
package meta

import (
	"iter"
	"sync"
	"sync/atomic"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

// Tree is what exists, in memory. One goroutine applies records; any number may read.
type Tree struct {
	catalog atomic.Pointer[catalog.Catalog]

	mu        sync.RWMutex
	nodes     SparseArray[*Node] // by ID; removed ones until the database has them
	lastID    belfry.ID          // the highest ever assigned
	customers map[belfry.CustomerID]*Tenant
	nextRows  map[belfry.CustomerID]belfry.RowID // of customers that the database does not have yet
	texts     atomic.Int64                       // see TextMemory
	memory    atomic.Int64                       // see ItemMemory
	secrets   *Secrets

	access    *Access
	documents *Documents
	history   *History
	recovery  *Recovery
}

// NewTree makes an empty tree.
func NewTree(c *catalog.Catalog) *Tree {
	t := &Tree{customers: map[belfry.CustomerID]*Tenant{}, nextRows: map[belfry.CustomerID]belfry.RowID{}, access: newAccess()}
	t.documents, t.history, t.recovery = newDocuments(t), &History{tree: t}, &Recovery{tree: t}
	t.catalog.Store(c)
	return t
}

// Access returns the customers, users, keys and sessions.
func (t *Tree) Access() *Access { return t.access }

// Documents returns what has been defined beside items.
func (t *Tree) Documents() *Documents { return t.documents }

// History returns the lookup of items by name and id, removed ones included.
func (t *Tree) History() *History { return t.history }

// Recovery returns what a start uses to bring the tree up to date.
func (t *Tree) Recovery() *Recovery { return t.recovery }

// Catalog returns the current classes, packages and collections. A catalog never changes, so a caller that needs a consistent
// view keeps the one it got.
func (t *Tree) Catalog() *catalog.Catalog { return t.catalog.Load() }

// Node is an item in the tree. ID, Customer, Kind, Name, Resource, Class and Package never change and may be read by
// anyone who holds the node; the rest is guarded by the tree's lock and read inside Tree.Read, or by the one goroutine
// that applies records.
type Node struct {
	ID       belfry.ID
	Resource *Node  // a resource is its own; nil for views at customer level
	Class    *Class // that of a view may change, and is guarded like the rest
	Name     string
	Package  string

	Parent  *Node // nil for MAIN
	Details *belfry.Details
	State   belfry.ItemState
	Created belfry.Time
	Removed belfry.Time

	content      *content // what is in it; nil for objects
	nextNamesake *Node    // the next object, or view inside a resource, of the same name in the customer

	Customer belfry.CustomerID
	Number   uint32 // counts the customer's items in the order of their creation
	classPos int32  // its index in the lists of its class, its status and its parent
	stateAt  int32
	childPos int32
	Kind     belfry.Kind
}

// Info is the reason for an item's status, if its data give one. A resource with a single object shows that object's
// reason, such as that a receiver cannot listen.
func (n *Node) Info() string {
	if only := n.OnlyItem(); only != nil && n.State.Info == "" && n.State.Status == only.State.Status {
		return only.State.Info
	}
	return n.State.Info
}

// OnlyItem returns the single item in a resource, or nil if there are several or none.
func (n *Node) OnlyItem() *Node {
	if n.Kind != belfry.KindResource || n.content == nil || len(n.content.children) != 1 {
		return nil
	}
	return n.content.children[0]
}

// WithoutContent returns a copy of the node without the items in it.
func (n *Node) WithoutContent() Node {
	c := *n
	c.content = nil
	return c
}

// box is the content of a view or resource.
type content struct {
	children []*Node
	elements []*Node                // graphical elements
	counts   [belfry.Statuses]int32 // of children by status
	items    map[string]*Node       // views and objects of a resource, by slot
	kindAt   int32                  // its index in Tenant.boxes
}

// Class is an object or view class as a customer knows it, with the items that have it.
type Class struct {
	Name  string
	Def   *catalog.Class // nil for view classes
	Own   bool           // Def is the customer's own, or inferred from its rows; else it is the catalog's
	nodes []*Node
	count int // of objects among nodes
	marks int // how many thresholds one of them can meet at most, see Tree.recountThresholds
}

// Children calls f for each item directly in n until f returns false.
func (n *Node) Children(f func(*Node) bool) {
	if n.content == nil {
		return
	}
	for _, c := range n.content.children {
		if !f(c) {
			return
		}
	}
}

// Elements calls f for each graphical element directly in n.
func (n *Node) Elements(f func(*Node)) {
	if n.content == nil {
		return
	}
	for _, c := range n.content.elements {
		f(c)
	}
}

// Counts returns how many items directly in n have each status.
func (n *Node) Counts() (counts [belfry.Statuses]int32) {
	if n.content != nil {
		counts = n.content.counts
	}
	return counts
}

// Item converts the node to the form that records carry.
func (n *Node) Item() belfry.Item {
	it := belfry.Item{
		ID: n.ID, Customer: n.Customer, Kind: n.Kind, Name: n.Name, Class: n.Class.Name, Package: n.Package,
		Created: n.Created, Removed: n.Removed, Details: n.Details,
	}
	if n.Parent != nil {
		it.Parent = n.Parent.ID
	}
	if n.Resource != nil {
		it.Resource = n.Resource.ID
	}
	return it
}

// Read calls f with the tree of a customer, nil if there is none. It holds the read lock, so f should be brief.
func (t *Tree) Read(c belfry.CustomerID, f func(*Tenant)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	f(t.customers[c])
}

// Tenant returns the tree of a customer to the goroutine that applies records; everyone else uses Read.
func (t *Tree) Tenant(c belfry.CustomerID) *Tenant { return t.customers[c] }

// LastID is the highest item id in use; for the goroutine that applies records.
func (t *Tree) LastID() belfry.ID { return t.lastID }

// Node finds an item by id; for the goroutine that applies records. Nil when there is none, or when it has been removed and
// the database has it.
func (t *Tree) Node(id belfry.ID) *Node { return t.nodes.At(uint64(id)) }

// NumberOf is the number of an item among those of its customer; 0 when the customer has none of that id any more.
func (t *Tree) NumberOf(c belfry.CustomerID, id belfry.ID) uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.Node(id); n != nil && n.Customer == c {
		return uint64(n.Number)
	}
	return 0
}

// States copies the present state of items, for the database.
func (t *Tree) States(ids []belfry.ID) []sqlite.StoredState {
	states := make([]sqlite.StoredState, 0, len(ids))
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, id := range ids {
		if n := t.Node(id); n != nil {
			s := sqlite.StoredState{Item: id, State: n.State, Removed: n.Removed != 0}
			s.State.Numbers = append([]float64(nil), n.State.Numbers...)
			s.State.Texts = append([]string(nil), n.State.Texts...)
			states = append(states, s)
		}
	}
	return states
}

// Size counts items that exist, over all customers.
func (t *Tree) Size() (objects, resources, views int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range t.customers {
		objects += e.counts[belfry.KindObject]
		resources += e.counts[belfry.KindResource]
		views += e.counts[belfry.KindView]
	}
	return objects, resources, views
}

// Each yields the nodes that are not removed, under the read lock. The lock is released every 1,024 nodes so that a long list
// does not block writers: each node is consistent, the list as a whole is not.
func (t *Tree) Each(nodes []*Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		t.EachWithRemoved(nodes)(func(n *Node) bool { return n.Removed != 0 || yield(n) })
	}
}

// EachWithRemoved is Each including removed nodes.
func (t *Tree) EachWithRemoved(nodes []*Node) iter.Seq[*Node] {
	const chunk = 1024
	return func(yield func(*Node) bool) {
		for rest := nodes; len(rest) > 0; {
			part := rest[:min(chunk, len(rest))]
			rest = rest[len(part):]
			if !t.eachLocked(part, yield) {
				return
			}
		}
	}
}

func (t *Tree) eachLocked(nodes []*Node, yield func(*Node) bool) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, n := range nodes {
		if !yield(n) {
			return false
		}
	}
	return true
}

// Everything returns all items of a customer.
func (t *Tree) Everything(c belfry.CustomerID) (nodes []*Node) {
	t.Read(c, func(e *Tenant) {
		if e != nil {
			nodes = make([]*Node, 0, e.numbered.Len())
			e.All(func(n *Node) bool {
				nodes = append(nodes, n)
				return true
			})
		}
	})
	return nodes
}

// NewNode makes a node outside the tree, for an item that is decided but not committed.
func NewNode(it *belfry.Item, parent, resource *Node, class *Class) *Node {
	n := &Node{
		ID: it.ID, Customer: it.Customer, Kind: it.Kind, Name: it.Name, Package: it.Package,
		Class: class, Created: it.Created, Details: it.Details, Parent: parent, Resource: resource, Number: it.Number,
	}
	n.State.Since = it.Created
	n.makeContent()
	return n
}

// makeContent makes a view or resource able to hold items.
func (n *Node) makeContent() {
	switch n.Kind {
	case belfry.KindResource:
		n.Resource = n
		n.content = &content{items: map[string]*Node{}}
	case belfry.KindView:
		n.content = &content{}
	}
}

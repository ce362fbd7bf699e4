package meta

import (
	"belfry"
	"belfry/catalog"
)

// Tenant is the tree of one customer. It is read inside Tree.Read, or by the goroutine that applies records.
type Tenant struct {
	belfry.Customer
	Main      *Node
	NextRow   belfry.RowID // the id the next row gets
	Namesakes int          // how often a new item inside a resource got a name that another one had; never decreases

	places       map[string]*Node     // customer-level views and resources: one namespace
	inside       map[string]*Node     // objects, and views inside resources, by slot; those of equal name are linked by nextNamesake
	elements     map[elementKey]*Node // graphical elements
	classes      map[string]*Class
	defined      int // classes that the customer wrote itself, without inferred ones
	docs         docSet
	policy       policies
	status       [belfry.Statuses][]*Node
	boxes        [belfry.Kinds][]*Node // views and resources
	numbered     SparseArray[*Node]    // the same, and removed ones that are in memory, by Number
	windowed     SparseArray[bool]     // items that have windows, by Number
	highest      uint32                // Number
	first        firstNames
	removed      map[string][]*Node  // removed items that are in memory, by name
	hasRemoved   bool                // there are removed items, in memory or in the database
	removals     int                 // how many have been removed since the start
	counts       [belfry.Kinds]int   // of existing items by kind
	namedWithBar map[belfry.ID]*Node // existing items with a bar in their name
	texts        int64               // see Texts
	memory       int64               // see Memory
	sets         map[string]int      // thresholds that policies set for a class, by its name
	docTexts     map[textOf]int64    // what each document counts for among them
}

// elementKey is the name of a graphical element, unique within its package.
type elementKey struct{ pkg, name string }

// NewTenant makes the tree of a customer that has nothing yet.
func NewTenant(c belfry.Customer) *Tenant {
	return &Tenant{
		Customer: c, NextRow: 1,
		places:       map[string]*Node{},
		inside:       map[string]*Node{},
		elements:     map[elementKey]*Node{},
		classes:      map[string]*Class{},
		removed:      map[string][]*Node{},
		namedWithBar: map[belfry.ID]*Node{},

		docTexts: map[textOf]int64{}, sets: map[string]int{},
	}
}

// NamedWithBar returns the items with a bar in their name, the separator of lists of names.
func (e *Tenant) NamedWithBar() map[belfry.ID]*Node { return e.namedWithBar }

// Place finds a resource or a view at customer level, MAIN included.
func (e *Tenant) Place(name string) *Node { return e.places[name] }

// Resource finds a resource by name.
func (e *Tenant) Resource(name string) *Node {
	if n := e.places[name]; n != nil && n.Kind == belfry.KindResource {
		return n
	}
	return nil
}

// Object finds an object by name in the whole customer. When several resources have one of that name, it returns the
// first and several is true.
func (e *Tenant) Object(name string) (n *Node, several bool) {
	n = e.inside[name]
	return n, n != nil && n.nextNamesake != nil
}

// Element finds a graphical element of a package by name.
func (e *Tenant) Element(pkg, name string) *Node { return e.elements[elementKey{pkg, name}] }

// Resources calls f for every resource, in no order.
func (e *Tenant) Resources(f func(*Node)) {
	for _, n := range e.places {
		if n.Kind == belfry.KindResource {
			f(n)
		}
	}
}

// Elements calls f for every graphical element of a package, in no order.
func (e *Tenant) Elements(pkg string, f func(*Node)) {
	for at, n := range e.elements {
		if at.pkg == pkg {
			f(n)
		}
	}
}

// Object finds an object of the resource n by name.
func (n *Node) Object(name string) *Node {
	if n.content == nil {
		return nil
	}
	if o := n.content.items[name]; o != nil && o.Kind == belfry.KindObject {
		return o
	}
	return nil
}

// View finds a view inside the resource n by name; the resource's own name gives the resource itself.
func (n *Node) View(name string) *Node {
	if name == n.Name {
		return n
	}
	return n.content.items[viewSlot(name)]
}

// viewSlot is the key of a view in a resource's items: views and objects of a resource may share a name, and a
// name never starts with a control character.
func viewSlot(name string) string { return "\x00" + name }

// slot is the key of an item among the items of its resource.
func (n *Node) slot() string {
	if n.Kind == belfry.KindView {
		return viewSlot(n.Name)
	}
	return n.Name
}

// dropUnused forgets a view class that no item has any more. Views may name any class, so these would pile up.
func (e *Tenant) dropUnused(c *Class) {
	if c.Def == nil && len(c.nodes) == 0 && e.classes[c.Name] == c {
		delete(e.classes, c.Name)
	}
}

// Class finds a class by name, the customer's own before those of the catalog; nil when there is none yet.
func (e *Tenant) Class(name string) *Class { return e.classes[name] }

// CountClasses returns how many classes the customer has defined itself.
func (e *Tenant) CountClasses() int { return e.defined }

// Objects returns how many objects have the class.
func (c *Class) Objects() int { return c.count }

// Count returns how many items of a kind exist.
func (e *Tenant) Count(k belfry.Kind) int { return e.counts[k] }

// ByStatus calls f for each existing item in the given status until f returns false.
func (e *Tenant) ByStatus(s belfry.Status, f func(*Node) bool) {
	for _, n := range e.status[s] {
		if !f(n) {
			return
		}
	}
}

// ByClass calls f for each existing item of the class until f returns false.
func (e *Tenant) ByClass(name string, f func(*Node) bool) {
	if c := e.classes[name]; c != nil {
		for _, n := range c.nodes {
			if !f(n) {
				return
			}
		}
	}
}

// All calls f for each existing item until f returns false.
func (e *Tenant) All(f func(*Node) bool) {
	for s := range e.status {
		for _, n := range e.status[s] {
			if !f(n) {
				return
			}
		}
	}
}

// class finds a class, or makes one with the catalog's definition of that name. A class without a definition gets one from a
// document before its first object.
func (e *Tenant) class(c *catalog.Catalog, name string) *Class {
	cl := e.classes[name]
	if cl == nil {
		cl = &Class{Name: name, Def: c.Class(name)}
		cl.marks = min(Thresholds(cl.Def)+e.sets[name], mostMarks)
		e.classes[name] = cl
	}
	return cl
}

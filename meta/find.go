package meta

import (
	"iter"

	"belfry"
)

// The lists of this file are exact: each holds all existing items of which something is so, each of them once, and no
// other. They are read inside Tree.Read.

// StatusCount tells how many existing items are in the status.
func (e *Tenant) StatusCount(s belfry.Status) int { return len(e.status[s]) }

// ClassCount tells how many existing items have the class.
func (e *Tenant) ClassCount(name string) int {
	if c := e.classes[name]; c != nil {
		return len(c.nodes)
	}
	return 0
}

// ByKind gives the items of a kind. Views and resources have lists of their own. Objects, which are most of all items,
// have none: they are found by the classes that objects have, of which some may be classes of resources, too.
func (e *Tenant) ByKind(k belfry.Kind) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if k != belfry.KindObject {
			each(e.boxes[k], yield)
			return
		}
		for _, c := range e.classes {
			if c.count > 0 && !each(c.nodes, func(n *Node) bool { return n.Kind != k || yield(n) }) {
				return
			}
		}
	}
}

func each(nodes []*Node, yield func(*Node) bool) bool {
	for _, n := range nodes {
		if !yield(n) {
			return false
		}
	}
	return true
}

// InResource gives a resource and all that belongs to it.
func (e *Tenant) InResource(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		r := e.Resource(name)
		if r == nil || !yield(r) {
			return
		}
		for _, n := range r.box.items {
			if !yield(n) {
				return
			}
		}
	}
}

// ResourceCount tells how many items InResource gives.
func (e *Tenant) ResourceCount(name string) int {
	if r := e.Resource(name); r != nil {
		return 1 + len(r.box.items)
	}
	return 0
}

// ObjectsOf gives the objects of a name.
func (e *Tenant) ObjectsOf(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { e.chain(name, yield) }
}

// Named gives the items of a name, of whatever kind.
func (e *Tenant) Named(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if p := e.places[name]; p != nil && !yield(p) {
			return
		}
		_ = e.chain(name, yield) && e.chain(viewSlot(name), yield)
	}
}

// InView gives the items whose view has the name: views of that name, and the objects and resources that stand in one of
// them or in a resource of that name.
func (e *Tenant) InView(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		stands := func(n *Node) bool { return n.Kind == belfry.KindView || yield(n) }
		view := func(n *Node) bool {
			return (n.Kind != belfry.KindView || yield(n)) && each(n.box.children, stands)
		}
		if p := e.places[name]; p != nil && !view(p) {
			return
		}
		e.chain(viewSlot(name), view)
	}
}

// chain walks the items inside resources that share a slot, until yield says no.
func (e *Tenant) chain(slot string, yield func(*Node) bool) bool {
	for n := e.inside[slot]; n != nil; n = n.nextNamesake {
		if !yield(n) {
			return false
		}
	}
	return true
}

// Inside finds the object and the view of a name in a resource, each nil when there is none.
func (e *Tenant) Inside(resource, name string) (object, view *Node) {
	r := e.Resource(resource)
	if r == nil {
		return nil, nil
	}
	return r.box.items[name], r.box.items[viewSlot(name)]
}

// Numbered finds an item by its Number, also one that has just been removed; nil when there is none.
func (e *Tenant) Numbered(n uint64) *Node { return e.numbered.At(n) }

// From yields the items from a Number on, in the order of their Numbers, those that have just been removed included.
func (e *Tenant) From(n uint64) iter.Seq2[uint64, *Node] { return e.numbered.From(n) }

// Windowed yields the items that have windows, from a number on, in the order of their numbers. It costs as much as there are such items,
// whatever else the customer has.
func (e *Tenant) Windowed(n uint64) iter.Seq2[uint64, *Node] {
	return func(yield func(uint64, *Node) bool) {
		for at := range e.windowed.From(n) {
			if !yield(at, e.numbered.At(at)) {
				return
			}
		}
	}
}

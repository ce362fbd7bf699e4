package meta

import (
	"iter"

	"belfry"
)

// The lists of this file are exact: each has every matching existing item once. They are read inside Tree.Read.

// StatusCount returns how many existing items are in the status.
func (e *Tenant) StatusCount(s belfry.Status) int { return len(e.status[s]) }

// ClassCount returns how many existing items have the class.
func (e *Tenant) ClassCount(name string) int {
	if c := e.classes[name]; c != nil {
		return len(c.nodes)
	}
	return 0
}

// ByKind yields the items of a kind. Views and resources have their own lists; objects, by far the most, are found through their
// classes, some of which resources may have too.
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

// InResource yields a resource and its items.
func (e *Tenant) InResource(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		r := e.Resource(name)
		if r == nil || !yield(r) {
			return
		}
		for _, n := range r.content.items {
			if !yield(n) {
				return
			}
		}
	}
}

// ResourceCount returns how many items InResource yields.
func (e *Tenant) ResourceCount(name string) int {
	if r := e.Resource(name); r != nil {
		return 1 + len(r.content.items)
	}
	return 0
}

// ObjectsNamed yields the objects of a name.
func (e *Tenant) ObjectsNamed(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { e.eachInSlot(name, yield) }
}

// ViewsNamed yields the views of a name inside resources.
func (e *Tenant) ViewsNamed(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { e.eachInSlot(viewSlot(name), yield) }
}

// Named yields the items of a name, of any kind.
func (e *Tenant) Named(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if p := e.places[name]; p != nil && !yield(p) {
			return
		}
		_ = e.eachInSlot(name, yield) && e.eachInSlot(viewSlot(name), yield)
	}
}

// InView yields the views of a name, and the objects and resources directly in one of them or in a resource of that name.
func (e *Tenant) InView(name string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		stands := func(n *Node) bool { return n.Kind == belfry.KindView || yield(n) }
		view := func(n *Node) bool {
			return (n.Kind != belfry.KindView || yield(n)) && each(n.content.children, stands)
		}
		if p := e.places[name]; p != nil && !view(p) {
			return
		}
		e.eachInSlot(viewSlot(name), view)
	}
}

// eachInSlot calls yield for the items inside resources that share a slot, until it returns false.
func (e *Tenant) eachInSlot(slot string, yield func(*Node) bool) bool {
	for n := e.inside[slot]; n != nil; n = n.nextNamesake {
		if !yield(n) {
			return false
		}
	}
	return true
}

// Inside finds the object and the view of a name in a resource, each nil when there is none.
func (e *Tenant) ObjectAndView(resource, name string) (object, view *Node) {
	r := e.Resource(resource)
	if r == nil {
		return nil, nil
	}
	return r.content.items[name], r.content.items[viewSlot(name)]
}

// Numbered finds an item by its Number, also one that has just been removed; nil when there is none.
func (e *Tenant) Numbered(n uint64) *Node { return e.numbered.At(n) }

// From yields the items from a Number on, in the order of their Numbers, those that have just been removed included.
func (e *Tenant) NumberedFrom(n uint64) iter.Seq2[uint64, *Node] { return e.numbered.From(n) }

// Windowed yields the items that have windows, from a number on, in the order of their numbers. Its cost
// depends on their number alone.
func (e *Tenant) Windowed(n uint64) iter.Seq2[uint64, *Node] {
	return func(yield func(uint64, *Node) bool) {
		for at := range e.windowed.From(n) {
			if !yield(at, e.numbered.At(at)) {
				return
			}
		}
	}
}

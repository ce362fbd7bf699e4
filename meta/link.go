package meta

import (
	"strings"

	"belfry"
)

// link adds a node to every index.
func (t *Tree) link(n, parent *Node) {
	e := t.customers[n.Customer]
	e.counts[n.Kind]++
	t.addMemory(e, ItemSize(n.Kind, n.Name, n.Package)+stateSize(&n.State))
	if strings.Contains(n.Name, "|") {
		e.namedWithBar[n.ID] = n
	}
	switch {
	case n.Kind == belfry.KindElement:
		e.elements[elementKey{n.Package, n.Name}] = n
		n.attach(parent)
		return
	case n.insideResource():
		slot := n.slot()
		n.Resource.content.items[slot] = n
		if n.nextNamesake = e.inside[slot]; n.nextNamesake != nil {
			e.Namesakes++
		}
		e.inside[slot] = n
		if n.Kind == belfry.KindObject {
			n.Class.count++
			t.addMemory(e, n.Class.MarksSize())
		}
	default:
		e.places[n.Name] = n
		if n.Name == belfry.Main && n.Resource == nil {
			e.Main = n
		}
	}
	n.Class.nodes, n.classPos = append(n.Class.nodes, n), int32(len(n.Class.nodes))
	s := &e.status[n.State.Status]
	*s, n.stateAt = append(*s, n), int32(len(*s))
	if n.content != nil {
		k := &e.boxes[n.Kind]
		*k, n.content.kindAt = append(*k, n), int32(len(*k))
	}
	n.attach(parent)
}

// unlink removes a node from every index; it can still be found by id.
func (t *Tree) unlink(n *Node) {
	e := t.customers[n.Customer]
	e.counts[n.Kind]--
	t.addMemory(e, -ItemSize(n.Kind, n.Name, n.Package)-stateSize(&n.State))
	if strings.Contains(n.Name, "|") {
		delete(e.namedWithBar, n.ID)
	}
	switch {
	case n.Kind == belfry.KindElement:
		delete(e.elements, elementKey{n.Package, n.Name})
		n.detach()
		return
	case n.insideResource():
		delete(n.Resource.content.items, n.slot())
		e.forget(n)
		if n.Kind == belfry.KindObject {
			n.Class.count--
			t.addMemory(e, -n.Class.MarksSize())
		}
	default:
		delete(e.places, n.Name)
	}
	swapOut(&n.Class.nodes, n.classPos, func(m *Node, at int32) { m.classPos = at })
	e.dropUnused(n.Class)
	swapOut(&e.status[n.State.Status], n.stateAt, func(m *Node, at int32) { m.stateAt = at })
	if n.content != nil {
		swapOut(&e.boxes[n.Kind], n.content.kindAt, func(m *Node, at int32) { m.content.kindAt = at })
	}
	n.detach()
}

// markRemoved marks a node as removed. It stays findable for history until the database has it.
func (t *Tree) markRemoved(n *Node, at belfry.Time) {
	n.Removed = at
	if n.Kind == belfry.KindElement {
		return // no row was ever about it
	}
	e := t.customers[n.Customer]
	e.hasRemoved = true
	e.removals++
	e.removed[n.Name] = append(e.removed[n.Name], n)
}

// insideResource reports whether n is a part of a resource: an object, or a view that is not the resource itself.
func (n *Node) insideResource() bool { return n.Resource != nil && n.Resource != n }

// forget removes n from the items of its name.
func (e *Tenant) forget(n *Node) {
	slot := n.slot()
	if e.inside[slot] == n {
		if n.nextNamesake == nil {
			delete(e.inside, slot)
		} else {
			e.inside[slot] = n.nextNamesake
		}
	} else {
		for m := e.inside[slot]; m != nil; m = m.nextNamesake {
			if m.nextNamesake == n {
				m.nextNamesake = n.nextNamesake
				break
			}
		}
	}
	n.nextNamesake = nil
}

func (t *Tree) move(n, parent *Node) {
	n.detach()
	n.attach(parent)
}

// reclass gives a view another class.
func (t *Tree) reclass(n *Node, c *Class) {
	swapOut(&n.Class.nodes, n.classPos, func(m *Node, at int32) { m.classPos = at })
	t.customers[n.Customer].dropUnused(n.Class)
	n.Class = c
	c.nodes, n.classPos = append(c.nodes, n), int32(len(c.nodes))
}

func (n *Node) attach(parent *Node) {
	n.Parent = parent
	if parent == nil {
		return
	}
	list := n.siblings()
	*list, n.childPos = append(*list, n), int32(len(*list))
	if n.Kind != belfry.KindElement {
		parent.content.counts[n.State.Status]++
	}
}

// siblings is the list of its parent that contains n.
func (n *Node) siblings() *[]*Node {
	if n.Kind == belfry.KindElement {
		return &n.Parent.content.elements
	}
	return &n.Parent.content.children
}

// detach removes n from its parent but keeps the pointer to it, which history needs.
func (n *Node) detach() {
	if n.Parent == nil {
		return
	}
	swapOut(n.siblings(), n.childPos, func(m *Node, at int32) { m.childPos = at })
	if n.Kind != belfry.KindElement {
		n.Parent.content.counts[n.State.Status]--
	}
}

// swapOut removes the entry at i in constant time by moving the last one there; moved gets that one and its new index.
func swapOut(list *[]*Node, i int32, moved func(*Node, int32)) {
	l := *list
	last := len(l) - 1
	if int(i) != last {
		l[i] = l[last]
		moved(l[i], i)
	}
	l[last] = nil
	*list = l[:last]
}

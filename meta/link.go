package meta

import "belfry"

// link puts a node into every index.
func (t *Tree) link(n, parent *Node) {
	e := t.customers[n.Customer]
	switch {
	case n.Kind == belfry.KindObject:
		n.Resource.box.items[n.Name] = n
		n.twin = e.objects[n.Name]
		e.objects[n.Name] = n
		n.Class.count++
	case n.Kind == belfry.KindView && n.Resource != nil:
		n.Resource.box.items[viewSlot(n.Name)] = n
	default:
		e.places[n.Name] = n
		if n.Name == belfry.Main && n.Resource == nil {
			e.Main = n
		}
	}
	e.counts[n.Kind]++
	n.Class.nodes, n.classPos = append(n.Class.nodes, n), int32(len(n.Class.nodes))
	s := &e.status[n.State.Status]
	*s, n.stateAt = append(*s, n), int32(len(*s))
	n.attach(parent)
}

// unlink takes a node out of every index; it stays known by its id.
func (t *Tree) unlink(n *Node) {
	e := t.customers[n.Customer]
	switch {
	case n.Kind == belfry.KindObject:
		delete(n.Resource.box.items, n.Name)
		e.forgetObject(n)
		n.Class.count--
	case n.Kind == belfry.KindView && n.Resource != nil:
		delete(n.Resource.box.items, viewSlot(n.Name))
	default:
		delete(e.places, n.Name)
	}
	e.counts[n.Kind]--
	swapOut(&n.Class.nodes, n.classPos, func(m *Node, at int32) { m.classPos = at })
	swapOut(&e.status[n.State.Status], n.stateAt, func(m *Node, at int32) { m.stateAt = at })
	n.detach()
}

// bury marks a node as removed and keeps it findable for history.
func (t *Tree) bury(n *Node, at belfry.Time) {
	n.Removed = at
	e := t.customers[n.Customer]
	e.gone[n.Name] = append(e.gone[n.Name], n)
}

func (e *Estate) forgetObject(n *Node) {
	if e.objects[n.Name] == n {
		if n.twin == nil {
			delete(e.objects, n.Name)
		} else {
			e.objects[n.Name] = n.twin
		}
	} else {
		for m := e.objects[n.Name]; m != nil; m = m.twin {
			if m.twin == n {
				m.twin = n.twin
				break
			}
		}
	}
	n.twin = nil
}

func (t *Tree) move(n, parent *Node) {
	n.detach()
	n.attach(parent)
}

func (n *Node) attach(parent *Node) {
	n.Parent = parent
	if parent != nil {
		n.childPos = int32(len(parent.box.children))
		parent.box.children = append(parent.box.children, n)
		parent.box.counts[n.State.Status]++
	}
}

// detach takes n out of its parent but remembers which one it was: history asks for it.
func (n *Node) detach() {
	if p := n.Parent; p != nil {
		swapOut(&p.box.children, n.childPos, func(m *Node, at int32) { m.childPos = at })
		p.box.counts[n.State.Status]--
	}
}

// swapOut removes the entry at i in constant time; the last one takes its place and is told.
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

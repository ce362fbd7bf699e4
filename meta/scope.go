package meta

import (
	"maps"
	"slices"

	"belfry"
)

// Visibility is a scope resolved against the tree: the sub-trees that a user or key may see. The zero value sees nothing. It is
// made and used by one goroutine, inside Tree.Read or while reading one of the tree's lists.
//
//	MAIN                     MAIN'  made for the scope: it holds the roots and shows what they add up to
//	 ├ Finance                ├ Paris
//	 │  └ Paris ◄─ root       │  └ web01
//	 │     └ web01            └ db01
//	 └ db01     ◄─ root
//
// Show returns an item as it is seen from inside: its ancestors end in MAIN', so none of them has a name, note or status from
// outside.
type Visibility struct {
	whole  bool
	tenant *Tenant
	roots  []*Node // none of them in another
	main   *Node
	shown  map[*Node]*Node
}

// Visibility resolves a scope. In a customer that does not exist nothing is visible.
func (e *Tenant) Visibility(s belfry.Scope) Visibility {
	if e == nil || s.Customer != e.ID {
		return Visibility{}
	}
	w := Visibility{whole: !s.Limited(), tenant: e}
	if w.whole {
		return w
	}
	for _, name := range s.Views {
		if n := e.places[name]; n != nil && n != e.Main && !slices.Contains(w.roots, n) {
			w.roots = append(w.roots, n)
		}
	}
	all := w.roots
	w.roots = slices.DeleteFunc(slices.Clone(all), func(n *Node) bool { return below(n.Parent, all) })
	return w
}

// Visibility resolves a scope, for use with the tree's lists.
func (t *Tree) Visibility(s belfry.Scope) (w Visibility) {
	t.Read(s.Customer, func(e *Tenant) { w = e.Visibility(s) })
	return w
}

// below reports whether an item is one of the others or in one of them.
func below(n *Node, others []*Node) bool {
	for ; n != nil; n = n.Parent {
		if slices.Contains(others, n) {
			return n.Removed == 0
		}
	}
	return false
}

// Place returns the resource to which an item belongs, or the customer-level view that it is; for an element, the place of
// what contains it.
func (n *Node) Place() *Node {
	switch {
	case n.Resource != nil:
		return n.Resource
	case n.Kind == belfry.KindElement && n.Parent != nil:
		return n.Parent.Place()
	}
	return n
}

// Has reports whether an item is visible. A removed item is visible as long as its resource is.
func (w *Visibility) Has(n *Node) bool {
	switch {
	case n == nil || w.tenant == nil || n.Customer != w.tenant.ID:
		return false
	case w.whole:
		return true
	}
	at := n.Place()
	return at.Removed == 0 && below(at, w.roots)
}

// hiddenColumns lists the columns in which an element names something that is not visible.
func (w *Visibility) hiddenColumns(n *Node) (columns []string) {
	if w.whole || n.Kind != belfry.KindElement || n.Details == nil {
		return nil
	}
	for _, column := range [...]string{"target", "from", "to"} {
		if name := n.Details.Answers[column]; name != "" && !w.hasNamed(name) {
			columns = append(columns, column)
		}
	}
	return columns
}

// BrokenColumns lists the columns in which an element names something that was removed. A limited scope cannot know that, so
// for it the list is empty.
func (w *Visibility) BrokenColumns(n *Node) (columns []string) {
	if !w.whole || n.Kind != belfry.KindElement || n.Details == nil {
		return nil
	}
	for _, column := range [...]string{"target", "from", "to"} {
		name := n.Details.Answers[column]
		if name == "" || w.tenant.Place(name) != nil {
			continue
		}
		if object, _ := w.tenant.Object(name); object == nil || column == "target" {
			columns = append(columns, column)
		}
	}
	return columns
}

// Target returns the view or resource to which a shortcut leads; nil for other items, and if it is gone or not visible.
func (w *Visibility) Target(n *Node) *Node {
	if n.Kind != belfry.KindElement || n.Details == nil || n.Details.Answers["target"] == "" {
		return nil
	}
	if to := w.tenant.Place(n.Details.Answers["target"]); w.Has(to) {
		return to
	}
	return nil
}

// Show returns an item as it is seen from inside. Names that are not visible are left out of elements.
func (w *Visibility) ShowsAll(n *Node) bool { return len(w.hiddenColumns(n)) == 0 }

// hasNamed reports whether a visible view, resource or object has the name.
func (w *Visibility) hasNamed(name string) bool {
	for n := range w.tenant.Named(name) {
		if w.Has(n) {
			return true
		}
	}
	return false
}

// isRoot reports whether an item is visible and its parent is not.
func (w *Visibility) isRoot(n *Node) bool { return !w.whole && slices.Contains(w.roots, n) }

// Main is the root of what is visible: the customer's MAIN, or one made for the scope, with the worst status of the roots
// and the earliest time since which one of them has it.
func (w *Visibility) Main() *Node {
	if w.whole || w.tenant == nil || w.main != nil {
		if w.whole {
			return w.tenant.Main
		}
		return w.main
	}
	m := &Node{Customer: w.tenant.ID, Kind: belfry.KindView, Name: belfry.Main, Class: &Class{Name: "generic"}, Created: w.tenant.Created}
	m.content = &content{children: w.roots}
	for _, n := range w.roots {
		m.content.counts[n.State.Status]++
		m.State.Status = max(m.State.Status, n.State.Status)
	}
	for _, n := range w.roots {
		if s := n.State.Since; n.State.Status == m.State.Status && (m.State.Since == 0 || s < m.State.Since) {
			m.State.Since = s
		}
	}
	m.State.Evaluated = m.State.Status
	w.main = m
	return m
}

// Show gives an item as it is seen from inside. An element lacks the names of what is not.
func (w *Visibility) Show(n *Node) *Node {
	if w.whole || n == nil || n == w.main {
		return n
	}
	seen := *n
	seen.Parent = w.visibleParent(n)
	if n.Resource == n {
		seen.Resource = &seen
	}
	if columns := w.hiddenColumns(n); len(columns) > 0 {
		details := *n.Details
		details.Answers = maps.Clone(details.Answers)
		for _, column := range columns {
			delete(details.Answers, column)
		}
		seen.Details = &details
	}
	return &seen
}

// visibleParent returns the parent that an item is shown with; nil for an item that is not visible.
func (w *Visibility) visibleParent(n *Node) *Node {
	if p := w.shown[n.Parent]; p != nil { // it is inside, and n with it: most items have the same few around them
		return p
	}
	switch {
	case !w.Has(n):
		return nil
	case !w.Has(n.Parent):
		return w.Main()
	case w.shown == nil:
		w.shown = map[*Node]*Node{}
	}
	p := w.Show(n.Parent)
	w.shown[n.Parent] = p
	return p
}

// Filter keeps the visible nodes.
func (w *Visibility) Filter(nodes []*Node) []*Node {
	if w.whole {
		return nodes
	}
	return slices.DeleteFunc(nodes, func(n *Node) bool { return !w.Has(n) })
}

// Places lists the resources, and the views of the customer, that are inside a scope, and those resources among them
// that are in a view outside. It implements query.ItemNames.
func (h *History) Places(s belfry.Scope) (inside, tops []belfry.ID) {
	h.tree.Read(s.Customer, func(e *Tenant) {
		w := e.Visibility(s)
		for _, n := range w.roots {
			if n.Kind == belfry.KindResource {
				tops = append(tops, n.ID)
			}
			inside = n.places(inside)
		}
	})
	slices.Sort(inside)
	slices.Sort(tops)
	return inside, tops
}

func (n *Node) places(list []belfry.ID) []belfry.ID {
	list = append(list, n.ID)
	if n.Kind == belfry.KindView {
		for _, c := range n.content.children {
			list = c.places(list)
		}
	}
	return list
}

// ObjectsOfClass counts the objects of a class that are inside a scope.
func (t *Tree) ObjectsOfClass(s belfry.Scope, class string) (count int) {
	t.Read(s.Customer, func(e *Tenant) {
		if e == nil {
			return
		}
		w := e.Visibility(s)
		e.ByClass(class, func(n *Node) bool {
			if n.Kind == belfry.KindObject && w.Has(n) {
				count++
			}
			return true
		})
	})
	return count
}

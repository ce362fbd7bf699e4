package meta

import (
	"maps"
	"slices"

	"belfry"
)

// Within is a scope looked up in the tree: the sub-trees that somebody may see. The zero Within has nothing in it. It is
// made and used inside Tree.Read, or while one of the tree's lists is being read, by one goroutine.
//
//	MAIN                     MAIN'  made for the scope: it holds the roots and shows what they add up to
//	 ├ Finance                ├ Paris
//	 │  └ Paris ◄─ root       │  └ web01
//	 │     └ web01            └ db01
//	 └ db01     ◄─ root
//
// Show gives an item as it is seen from inside: the way up from it ends in MAIN', so that whoever reads its parents meets
// no name, note or status from outside.
type Within struct {
	whole  bool
	tenant *Tenant
	roots  []*Node // none of them in another
	main   *Node
	shown  map[*Node]*Node
}

// Within looks a scope up. A customer that does not exist has nothing in it.
func (e *Tenant) Within(s belfry.Scope) Within {
	if e == nil || s.Customer != e.ID {
		return Within{}
	}
	w := Within{whole: !s.Limited(), tenant: e}
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

// Within looks a scope up, for use with the tree's lists.
func (t *Tree) Within(s belfry.Scope) (w Within) {
	t.Read(s.Customer, func(e *Tenant) { w = e.Within(s) })
	return w
}

// below tells whether an item is one of the others, or stands in one of them.
func below(n *Node, others []*Node) bool {
	for ; n != nil; n = n.Parent {
		if slices.Contains(others, n) {
			return n.Removed == 0
		}
	}
	return false
}

// Place is the resource to which an item belongs, or the view of the customer that it is; of an element the same of what
// it stands in.
func (n *Node) Place() *Node {
	switch {
	case n.Resource != nil:
		return n.Resource
	case n.Kind == belfry.KindElement && n.Parent != nil:
		return n.Parent.Place()
	}
	return n
}

// Has tells whether an item is inside. What has been removed is inside as long as its resource is.
func (w *Within) Has(n *Node) bool {
	switch {
	case n == nil || w.tenant == nil || n.Customer != w.tenant.ID:
		return false
	case w.whole:
		return true
	}
	at := n.Place()
	return at.Removed == 0 && below(at, w.roots)
}

// hides lists the columns in which an element names something that is not inside.
func (w *Within) hides(n *Node) (columns []string) {
	if w.whole || n.Kind != belfry.KindElement || n.Details == nil {
		return nil
	}
	for _, column := range [...]string{"target", "from", "to"} {
		if name := n.Details.Answers[column]; name != "" && !w.names(name) {
			columns = append(columns, column)
		}
	}
	return columns
}

// Broken lists the columns in which an element names something that has been removed. It is empty for a scope that is limited: there nobody
// knows what is outside.
func (w *Within) Broken(n *Node) (columns []string) {
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

// Target is the view or resource to which a shortcut leads; nil for other items, and when it is gone or outside.
func (w *Within) Target(n *Node) *Node {
	if n.Kind != belfry.KindElement || n.Details == nil || n.Details.Answers["target"] == "" {
		return nil
	}
	if to := w.tenant.Place(n.Details.Answers["target"]); w.Has(to) {
		return to
	}
	return nil
}

// Tells reports whether all that is known of an item may be shown.
func (w *Within) Tells(n *Node) bool { return len(w.hides(n)) == 0 }

// names reports whether a view, resource or object inside has the name.
func (w *Within) names(name string) bool {
	for n := range w.tenant.Named(name) {
		if w.Has(n) {
			return true
		}
	}
	return false
}

// Root tells whether an item is inside and what it stands in is not.
func (w *Within) Root(n *Node) bool { return !w.whole && slices.Contains(w.roots, n) }

// Main is the root of what is to be seen: that of the customer, or one made for the scope, which shows the worst of what
// stands in it since the first of these came to it.
func (w *Within) Main() *Node {
	if w.whole || w.tenant == nil || w.main != nil {
		if w.whole {
			return w.tenant.Main
		}
		return w.main
	}
	m := &Node{Customer: w.tenant.ID, Kind: belfry.KindView, Name: belfry.Main, Class: &Class{Name: "generic"}, Created: w.tenant.Created}
	m.box = &box{children: w.roots}
	for _, n := range w.roots {
		m.box.counts[n.State.Status]++
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
func (w *Within) Show(n *Node) *Node {
	if w.whole || n == nil || n == w.main {
		return n
	}
	seen := *n
	seen.Parent = w.around(n)
	if n.Resource == n {
		seen.Resource = &seen
	}
	if columns := w.hides(n); len(columns) > 0 {
		details := *n.Details
		details.Answers = maps.Clone(details.Answers)
		for _, column := range columns {
			delete(details.Answers, column)
		}
		seen.Details = &details
	}
	return &seen
}

// around is what an item is seen to stand in; nil for one that is outside.
func (w *Within) around(n *Node) *Node {
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

// Filter keeps those of some items that are inside.
func (w *Within) Filter(nodes []*Node) []*Node {
	if w.whole {
		return nodes
	}
	return slices.DeleteFunc(nodes, func(n *Node) bool { return !w.Has(n) })
}

// Roots are the sub-trees; of the whole customer MAIN alone.
func (w *Within) Roots() []*Node {
	if w.whole {
		return []*Node{w.tenant.Main}
	}
	return w.roots
}

// Places lists the resources, and the views of the customer, that are inside a scope, and those resources among them
// that stand in a view outside. It implements query.ItemNames.
func (t *Tree) Places(s belfry.Scope) (inside, tops []belfry.ID) {
	t.Read(s.Customer, func(e *Tenant) {
		w := e.Within(s)
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
		for _, c := range n.box.children {
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
		w := e.Within(s)
		e.ByClass(class, func(n *Node) bool {
			if n.Kind == belfry.KindObject && w.Has(n) {
				count++
			}
			return true
		})
	})
	return count
}

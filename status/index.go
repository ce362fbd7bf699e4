package status

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"belfry"
	"belfry/meta"
	"belfry/query"
)

// candidates are items among which all rows of an answer are, in a list that is as short as the indexes of the tree
// allow. Which of them are rows of the answer, Eval decides.
type candidates struct {
	nodes []*meta.Node
	by    string // the fields whose index gave the list; empty when it is every item
	total int    // of the customer's items
}

func (c candidates) String() string {
	if c.by == "" {
		return fmt.Sprintf("no index, all %d items", c.total)
	}
	return fmt.Sprintf("index %s, %d of %d items", c.by, len(c.nodes), c.total)
}

// find collects the candidates for a condition.
func find(t *meta.Tree, customer belfry.CustomerID, where query.Pred) (c candidates) {
	var l *list
	t.Read(customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		c.total = e.Count(belfry.KindObject) + e.Count(belfry.KindResource) + e.Count(belfry.KindView)
		looks := maxLooks + c.total
		l = (chooser{e, t, limited(where), &looks}).choose(where, c.total)
		if l == nil {
			l = &list{size: c.total, each: e.All}
		}
		c.nodes, c.by = l.collect(), l.by
	})
	if l != nil && l.mixed { // sorted here, where nobody waits for it
		slices.SortFunc(c.nodes, func(a, b *meta.Node) int { return int(a.Number) - int(b.Number) })
		c.nodes = slices.Compact(c.nodes)
	}
	return c
}

// maxLooks is how many conditions, and items that have to be counted to learn the length of a list, are looked at to
// find the shortest list, beside one look at each item of the customer. The tree is locked meanwhile, and a query may
// have thousands of conditions with a long list each.
const maxLooks = 100_000

// list is what an index gives.
type list struct {
	by    string
	size  int // unknown until it has been measured
	each  iter.Seq[*meta.Node]
	mixed bool // an item may come twice, and so must be sorted out
}

// unknown is the size of a list that has to be walked to learn it.
const unknown = -1

// measure tells whether the list has at most limit items. It walks no further than that, so that measuring a list costs
// no more than reading the one that it is to beat.
func (c chooser) measure(l *list, limit int) bool {
	if l.size == unknown {
		n := 0
		for range l.each {
			n++
			if *c.looks--; n > limit || *c.looks < 0 {
				return false
			}
		}
		l.size = n
	}
	return l.size <= limit
}

func (l *list) collect() []*meta.Node {
	nodes := make([]*meta.Node, 0, l.size)
	for n := range l.each {
		nodes = append(nodes, n)
	}
	return nodes
}

// chooser finds the shortest list for a condition.
type chooser struct {
	*meta.Tenant
	tree    *meta.Tree
	limited bool // some items are seen in MAIN that do not stand there
	looks   *int // how many more are allowed, see maxLooks
}

// limited tells whether a condition keeps to a scope.
func limited(where query.Pred) bool {
	is := func(p query.Pred) bool {
		_, inside := p.(query.Inside)
		return inside
	}
	all, ok := where.(query.And)
	return is(where) || ok && slices.ContainsFunc(all, is)
}

// choose gives a list that has every item of which the condition is true, the shortest that it knows; nil when it
// knows none of at most limit items.
func (c chooser) choose(p query.Pred, limit int) *list {
	if *c.looks--; *c.looks < 0 {
		return nil
	}
	switch p := p.(type) {
	case query.And:
		return c.shortest(p, limit)
	case query.Or:
		return c.union(p, limit)
	case query.Compare:
		if l := c.equal(p); l != nil && c.measure(l, limit) {
			return l
		}
	case query.Inside:
		if l := c.within(p); l.size <= limit {
			return l
		}
	case query.Always:
		if !p {
			return &list{by: "none", each: func(func(*meta.Node) bool) {}}
		}
	}
	return nil
}

// within is the list of all that belongs to some places.
func (c chooser) within(p query.Inside) *list {
	l := &list{by: "place"}
	var places []*meta.Node
	for _, id := range p.Places {
		if n := c.tree.Node(id); n != nil && n.Removed == 0 {
			places, l.size = append(places, n), l.size+1
			if n.Kind == belfry.KindResource {
				l.size += c.ResourceCount(n.Name) - 1
			}
		}
	}
	l.each = func(yield func(*meta.Node) bool) {
		for _, n := range places {
			if n.Kind != belfry.KindResource && !yield(n) {
				return
			}
			for m := range c.InResource(n.Name) {
				if !yield(m) {
					return
				}
			}
		}
	}
	return l
}

// shortest serves conditions that must all hold: any list will do. Those that have to be walked come last, when there
// may be one to beat already.
func (c chooser) shortest(all query.And, limit int) (best *list) {
	if l := c.inside(all); l != nil {
		return l
	}
	for _, walked := range []bool{false, true} {
		for _, p := range all {
			if walks(p) != walked {
				continue
			}
			if l := c.choose(p, limit); l != nil {
				best, limit = l, l.size-1
			}
		}
	}
	return best
}

// walks tells whether the list for a condition has to be walked to learn its size.
func walks(p query.Pred) bool {
	switch p := p.(type) {
	case query.And:
		return slices.ContainsFunc(p, walks)
	case query.Or:
		return slices.ContainsFunc(p, walks)
	case query.Compare:
		return p.Column.Name == "name" || p.Column.Name == "object" || p.Column.Name == "view"
	}
	return false
}

// union serves conditions of which one must hold: all lists are needed.
func (c chooser) union(any query.Or, limit int) *list {
	var lists []*list
	u := &list{mixed: !oneField(any)}
	seen := map[belfry.Value]bool{}
	for _, p := range any {
		if !u.mixed {
			v := p.(query.Compare).Value
			if seen[v] {
				continue
			}
			seen[v] = true
		}
		l := c.choose(p, limit-u.size)
		if l == nil {
			return nil
		}
		lists, u.size = append(lists, l), u.size+l.size
		if !slices.Contains(strings.Split(u.by, " or "), l.by) {
			u.by = strings.TrimPrefix(u.by+" or "+l.by, " or ")
		}
	}
	u.each = func(yield func(*meta.Node) bool) {
		for _, l := range lists {
			for n := range l.each {
				if !yield(n) {
					return
				}
			}
		}
	}
	return u
}

// oneField tells whether each condition is an equality, all with the same field: an item is in one of their lists then.
func oneField(any query.Or) bool {
	first, ok := any[0].(query.Compare)
	return ok && !slices.ContainsFunc(any, func(p query.Pred) bool {
		c, ok := p.(query.Compare)
		return !ok || c.Op != query.Equal || c.Column != first.Column
	})
}

// equal is the list of the items whose field has the value; nil when there is no index for it.
func (c chooser) equal(p query.Compare) *list {
	if p.Op != query.Equal {
		return nil
	}
	l := &list{by: p.Column.Name, size: unknown}
	switch text := p.Value.Text; p.Column.Name {
	case "id":
		l.size = 1
		l.each = given(c.Numbered(uint64(p.Value.Int)))
	case "status":
		s := belfry.Status(p.Value.Int)
		l.size = c.StatusCount(s)
		l.each = func(yield func(*meta.Node) bool) { c.ByStatus(s, yield) }
	case "kind":
		l.size, l.each = c.kind(text)
	case "class":
		l.size = c.ClassCount(text)
		l.each = func(yield func(*meta.Node) bool) { c.ByClass(text, yield) }
	case "resource":
		l.size, l.each = c.ResourceCount(text), c.InResource(text)
	case "view":
		if c.limited && text == belfry.Main {
			return nil
		}
		l.each = c.InView(text)
	case "object":
		l.each = c.ObjectsOf(text)
	case "name":
		l.each = c.Named(text)
	default:
		return nil
	}
	return l
}

func (c chooser) kind(name string) (int, iter.Seq[*meta.Node]) {
	for _, k := range []belfry.Kind{belfry.KindObject, belfry.KindResource, belfry.KindView} {
		if k.String() == name {
			return c.Count(k), c.ByKind(k)
		}
	}
	return 0, given()
}

// inside finds the one item that a resource and a name in it stand for; nil when the conditions do not name both.
func (c chooser) inside(all query.And) *list {
	names := map[string]string{}
	for _, p := range all {
		if cmp, ok := p.(query.Compare); ok && cmp.Op == query.Equal {
			names[cmp.Column.Name] = cmp.Value.Text
		}
	}
	resource, ok := names["resource"]
	if !ok {
		return nil
	}
	if name, ok := names["object"]; ok {
		object, _ := c.Inside(resource, name)
		return &list{by: "resource and object", size: 1, each: given(object)}
	}
	if name, ok := names["name"]; ok {
		object, view := c.Inside(resource, name)
		nodes := []*meta.Node{object, view}
		if name == resource {
			nodes = append(nodes, c.Resource(resource))
		}
		return &list{by: "resource and name", size: len(nodes), each: given(nodes...)}
	}
	return nil
}

// given lists the nodes that are some.
func given(nodes ...*meta.Node) iter.Seq[*meta.Node] {
	return func(yield func(*meta.Node) bool) {
		for _, n := range nodes {
			if n != nil && !yield(n) {
				return
			}
		}
	}
}

package status

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"belfry"
	"belfry/meta"
	"belfry/query"
)

// candidates is a list that contains all items of an answer, as short as the indexes of the tree allow. Eval decides
// which of them are in the answer.
type candidates struct {
	nodes []*meta.Node
	by    string // fields of the index used; empty: all items
	total int    // number of the customer's items
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
		looks := scanBudget + c.total
		l = (chooser{e, t, isScoped(where), &looks}).choose(where, c.total)
		if l == nil {
			l = &list{size: c.total, each: e.All}
		}
		c.nodes, c.by = l.collect(), l.by
	})
	if l != nil && l.duplicates { // sorted after the lock is released
		slices.SortFunc(c.nodes, func(a, b *meta.Node) int { return int(a.Number) - int(b.Number) })
		c.nodes = slices.Compact(c.nodes)
	}
	return c
}

// scanBudget limits how many conditions, and items that must be counted to learn the length of a list, are examined to
// find the shortest list, in addition to one per item of the customer. The tree is locked during the search, and a query may
// have thousands of conditions with a long list each.
const scanBudget = 100_000

// list is the result of an index lookup.
type list struct {
	by         string
	size       int // unknown until measured
	each       iter.Seq[*meta.Node]
	duplicates bool // an item may occur twice
}

// unknown is the size of a list that must be walked to learn it.
const unknown = -1

// measure reports whether the list has at most limit items. It walks no further than that, so measuring a list never
// costs more than reading the shortest one found so far.
func (c chooser) measure(l *list, limit int) bool {
	if l.size == unknown {
		n := 0
		for range l.each {
			n++
			if *c.budget--; n > limit || *c.budget < 0 {
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
	tree   *meta.Tree
	scoped bool // some items are shown in MAIN that are elsewhere in the tree
	budget *int // remaining, see scanBudget
}

// isScoped reports whether a condition is limited to a scope.
func isScoped(where query.Pred) bool {
	is := func(p query.Pred) bool {
		_, inside := p.(query.Inside)
		return inside
	}
	all, ok := where.(query.And)
	return is(where) || ok && slices.ContainsFunc(all, is)
}

// choose returns the shortest known list that contains every item matching the condition, or nil if there is none with
// at most limit items.
func (c chooser) choose(p query.Pred, limit int) *list {
	if *c.budget--; *c.budget < 0 {
		return nil
	}
	switch p := p.(type) {
	case query.And:
		return c.shortest(p, limit)
	case query.Or:
		return c.union(p, limit)
	case query.Compare:
		if l := c.comparison(p); l != nil && c.measure(l, limit) {
			return l
		}
	case query.Not:
		of, ok := p.Of.(query.Compare)
		if ok = ok && of.Column.Name == statusField; !ok { // other fields may be absent
			return nil
		}
		if l := c.statuses(of, false); l.size <= limit {
			return l
		}
	case query.Inside:
		if l := c.inPlaces(p); l.size <= limit {
			return l
		}
	case query.Always:
		if !p {
			return &list{by: "none", each: func(func(*meta.Node) bool) {}}
		}
	}
	return nil
}

// inPlaces returns the list of all items that belong to the given places.
func (c chooser) inPlaces(p query.Inside) *list {
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

// shortest handles conditions that must all hold: the list of any of them is enough. Lists that must be walked come
// last, when there may be a shorter one already.
func (c chooser) shortest(all query.And, limit int) (best *list) {
	if l := c.byResourceAndName(all); l != nil {
		return l
	}
	for _, walked := range []bool{false, true} {
		for _, p := range all {
			if needsWalk(p) != walked {
				continue
			}
			if l := c.choose(p, limit); l != nil {
				best, limit = l, l.size-1
			}
		}
	}
	return best
}

// needsWalk reports whether the list for a condition must be walked to learn its size.
func needsWalk(p query.Pred) bool {
	switch p := p.(type) {
	case query.And:
		return slices.ContainsFunc(p, needsWalk)
	case query.Or:
		return slices.ContainsFunc(p, needsWalk)
	case query.Compare:
		return p.Column.Name == "name" || p.Column.Name == "object" || p.Column.Name == "view"
	}
	return false
}

// union handles alternatives: the lists of all of them are needed.
func (c chooser) union(any query.Or, limit int) *list {
	var lists []*list
	u := &list{duplicates: !oneField(any)}
	seen := map[belfry.Value]bool{}
	for _, p := range any {
		if !u.duplicates {
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

// oneField reports whether all conditions are equalities of the same field, so that an item is in only one of their
// lists.
func oneField(any query.Or) bool {
	first, ok := any[0].(query.Compare)
	return ok && !slices.ContainsFunc(any, func(p query.Pred) bool {
		c, ok := p.(query.Compare)
		return !ok || c.Op != query.Equal || c.Column != first.Column
	})
}

// comparison returns the list of items whose field has the value, or nil if the field has no index. A status may also be compared
// otherwise: "what is in trouble" is asked most often, and there are only a few statuses.
func (c chooser) comparison(p query.Compare) *list {
	if p.Column.Name == statusField {
		return c.statuses(p, true)
	}
	if p.Op != query.Equal {
		return nil
	}
	l := &list{by: p.Column.Name, size: unknown}
	switch text := p.Value.Text; p.Column.Name {
	case "id":
		l.size = 1
		l.each = nonNil(c.Numbered(uint64(p.Value.Int)))
	case "kind":
		l.size, l.each = c.kind(text)
	case "class":
		l.size = c.ClassCount(text)
		l.each = func(yield func(*meta.Node) bool) { c.ByClass(text, yield) }
	case "resource":
		l.size, l.each = c.ResourceCount(text), c.InResource(text)
	case "view":
		if c.scoped && text == belfry.Main {
			return nil
		}
		l.each = c.InView(text)
	case "object":
		l.each = c.ObjectsNamed(text)
	case "name":
		l.each = c.Named(text)
	default:
		return nil
	}
	return l
}

const statusField = "status"

// statuses returns the list of items for whose status the comparison holds, or does not.
func (c chooser) statuses(p query.Compare, holds bool) *list {
	l := &list{by: statusField}
	var allowed []belfry.Status
	for s := range belfry.Status(belfry.Statuses) {
		if p.Op.Holds(cmp.Compare(int64(s), p.Value.Int)) == holds {
			allowed, l.size = append(allowed, s), l.size+c.StatusCount(s)
		}
	}
	l.each = func(yield func(*meta.Node) bool) {
		more := true
		for i := 0; i < len(allowed) && more; i++ {
			c.ByStatus(allowed[i], func(n *meta.Node) bool {
				more = yield(n)
				return more
			})
		}
	}
	return l
}

func (c chooser) kind(name string) (int, iter.Seq[*meta.Node]) {
	for _, k := range []belfry.Kind{belfry.KindObject, belfry.KindResource, belfry.KindView} {
		if k.String() == name {
			return c.Count(k), c.ByKind(k)
		}
	}
	return 0, nonNil()
}

// byResourceAndName returns the items identified by a resource and a name in it, or nil if the conditions do not name
// both.
func (c chooser) byResourceAndName(all query.And) *list {
	names := map[string]string{}
	for _, p := range all {
		if c, ok := p.(query.Compare); ok && c.Op == query.Equal {
			names[c.Column.Name] = c.Value.Text
		}
	}
	resource, ok := names["resource"]
	if !ok {
		return nil
	}
	if name, ok := names["object"]; ok {
		object, _ := c.ObjectAndView(resource, name)
		return &list{by: "resource and object", size: 1, each: nonNil(object)}
	}
	if name, ok := names["name"]; ok {
		object, view := c.ObjectAndView(resource, name)
		nodes := []*meta.Node{object, view}
		if name == resource {
			nodes = append(nodes, c.Resource(resource))
		}
		return &list{by: "resource and name", size: len(nodes), each: nonNil(nodes...)}
	}
	return nil
}

// nonNil iterates over the nodes that are not nil.
func nonNil(nodes ...*meta.Node) iter.Seq[*meta.Node] {
	return func(yield func(*meta.Node) bool) {
		for _, n := range nodes {
			if n != nil && !yield(n) {
				return
			}
		}
	}
}

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// What rows change of the configuration is told in events: what was done with which item, what was before and what is now, and
// who did it. A turn that changes few items writes an event for each. One that changes many writes lists, so that there are few
// events and yet no name is missing.
const (
	fewChanges = 20   // of a turn are told one by one
	listSize   = 2000 // bytes after which a list goes on in another event
)

// itemChange is what was done with an item, or with a class that rows have made.
type itemChange struct {
	node   *meta.Node
	class  string // instead of a node
	what   string // created, changed, removed
	detail string // beside the name; that of a new item is found when it is told
	by     string
	inside bool // it went with what it stood in
}

// changed notes a change, to be told at the end of the turn.
func (t *Tx) changed(c itemChange) {
	c.by = t.By
	t.changes = append(t.changes, c)
}

// created notes a new item.
func (t *Tx) created(n *meta.Node) { t.changed(itemChange{node: n, what: "created"}) }

// updated notes what is to be different about an item; it is called before that is so. A nil place and an empty class stay.
func (t *Tx) updated(n, to *meta.Node, class string, before, after *belfry.Details) {
	c := itemChange{node: n, what: "changed"}
	var list []string
	if to != nil {
		list = append(list, fmt.Sprintf("view: %s -> %s", t.Parent(n).Name, to.Name))
	}
	if was := t.Current(n).Class; class != "" && class != was {
		list = append(list, fmt.Sprintf("class: %s -> %s", was, class))
	}
	if text := differences(t.packageOf(n), before, after); text != "" {
		list = append(list, text)
	}
	c.detail = ": " + strings.Join(list, ", ")
	t.changed(c)
}

// removed notes that an item has gone, with what stood in it: that was noted before, from the given change on.
func (t *Tx) removed(from int) {
	last := len(t.changes) - 1
	for i := from; i < last; i++ {
		t.changes[i].inside = true
	}
	if last > from {
		t.changes[last].detail = fmt.Sprintf(", with %d inside", last-from)
	}
}

// packageOf is the package whose questions an item answers; nil for an object.
func (t *Tx) packageOf(n *meta.Node) *catalog.PackageType {
	name := n.Package
	if n.Kind == belfry.KindView {
		name = viewPackage
	}
	return t.seq.cfg.Tree.Catalog().Package(name)
}

const viewPackage = "view"

// emitChanges writes the events of the changes. Those of single items come before the events of what followed from the changes; it
// tells how many they are.
func (t *Tx) emitChanges() (before int) {
	t.noteClasses()
	if len(t.changes) == 0 {
		return 0
	}
	var first events
	list := t.changes
	defer t.s.keepRoom(list[:0])
	if alone := len(list) - countInside(list); alone <= fewChanges {
		list = slices.DeleteFunc(list, func(c itemChange) bool {
			if c.inside {
				return false
			}
			if c.what == "created" && c.node != nil {
				c.detail = t.describeNew(c.node)
			}
			first.note(t.Now, "configuration", "configuration", c.name()+" "+c.what+c.detail, c.by)
			return true
		})
	}
	inOrder := func(a, b itemChange) int { return a.compare(&b) }
	if !slices.IsSortedFunc(list, inOrder) { // rows of several senders may have come in one turn
		slices.SortStableFunc(list, inOrder)
	}
	for len(list) > 0 {
		text, n := listText(list)
		t.Configured(text, list[0].by)
		list = list[n:]
	}
	t.changes = nil
	if len(first.times) > 0 {
		t.events.prepend(&first)
	}
	return len(first.times)
}

func countInside(list []itemChange) (n int) {
	for i := range list {
		if list[i].inside {
			n++
		}
	}
	return n
}

// describeNew says what a new item is, and where it was made.
func (t *Tx) describeNew(n *meta.Node) (detail string) {
	pt := t.packageOf(n)
	if n.Parent != n.Resource {
		detail = " in " + n.Parent.Name
	}
	switch n.Kind {
	case belfry.KindResource:
		detail += ", package " + n.Package
		for _, part := range pt.Parts {
			detail += ", with object " + part.ObjectName(n.Name)
		}
	case belfry.KindObject, belfry.KindView:
		detail += ", class " + n.Class.Name
	}
	if text := differences(pt, nil, n.Details); text != "" {
		detail += ": " + text
	}
	return detail
}

// name is what was changed, as an event names it.
func (c *itemChange) name() string {
	n := c.node
	switch {
	case n == nil:
		return "class " + c.class
	case n.Kind == belfry.KindElement:
		return n.Package + " " + n.Name
	case n.Resource != nil && n.Resource != n:
		return n.Kind.String() + " " + n.Name + " of " + n.Resource.Name
	}
	return n.Kind.String() + " " + n.Name
}

// kind is what so many changes in a list have in common.
func (c *itemChange) kind(count int) string {
	many := "s"
	if count == 1 {
		many = ""
	}
	n := c.node
	switch {
	case n == nil && count == 1:
		return "class"
	case n == nil:
		return "classes"
	case n.Kind == belfry.KindElement, n.Kind == belfry.KindResource:
		return n.Kind.String() + many + " of package " + n.Package
	case n.Resource != nil:
		return n.Kind.String() + many + " of " + n.Resource.Name
	}
	return n.Kind.String() + many
}

// compare puts changes in the order of a list: those that one sender made of items of one kind stand together.
func (c *itemChange) compare(o *itemChange) int {
	x, y := c.node, o.node
	if n := cmp.Or(cmp.Compare(c.by, o.by), cmp.Compare(c.what, o.what)); n != 0 || x == nil && y == nil {
		return n
	}
	if x == nil || y == nil { // classes come last
		return int(bit(x == nil) - bit(y == nil))
	}
	if n := cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Package, y.Package)); n != 0 || x.Kind == belfry.KindResource || x.Resource == y.Resource {
		return n
	}
	return cmp.Compare(resourceID(x), resourceID(y))
}

func resourceID(n *meta.Node) belfry.ID {
	if n.Resource == nil {
		return 0
	}
	return n.Resource.ID
}

// listText writes the first changes of a list into a text, and tells how many it has. All of them are by one sender.
func listText(list []itemChange) (text string, n int) {
	var b strings.Builder
	b.Grow(listSize + listSize/4)
	for n < len(list) && list[n].by == list[0].by && b.Len() < listSize {
		part := list[n:]
		count, size := 0, b.Len()
		for count < len(part) && size < listSize && part[0].compare(&part[count]) == 0 {
			size += part[count].size()
			count++
		}
		if n > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%d %s %s: ", count, part[0].kind(count), part[0].what)
		for i := range part[:count] {
			part[i].write(&b, i > 0)
		}
		n += count
	}
	return b.String(), n
}

// size is about how long the entry is in a list.
func (c *itemChange) size() int {
	if c.node == nil {
		return len(c.class) + len(c.detail)
	}
	return len(c.node.Name) + len(c.detail)
}

// write writes the entry in a list.
func (c *itemChange) write(b *strings.Builder, further bool) {
	if further {
		b.WriteString(", ")
	}
	if c.node == nil {
		b.WriteString(c.class)
	} else {
		b.WriteString(c.node.Name)
	}
	if detail := strings.TrimLeft(c.detail, ",: "); detail != "" {
		b.WriteString(" (")
		b.WriteString(detail)
		b.WriteByte(')')
	}
}

// classChange is a class that rows have made, or given more indicators.
type classChange struct {
	name, by string
	was      *catalog.Class // nil: it is new
}

// noteClass notes that rows are about to define a class, once in a turn.
func (t *Tx) noteClass(def *catalog.Class) {
	if _, again := t.docs[docName{belfry.DocClass, t.Tenant.ID, def.Name}]; again {
		return
	}
	c := classChange{name: def.Name, by: t.By}
	if have := t.Find().Class(def.Name); have != nil {
		c.was = have.Def
	}
	t.defined = append(t.defined, c)
}

// noteClasses notes what rows have made of classes. It comes at the end of a turn, because one row after the other may add
// indicators to a class.
func (t *Tx) noteClasses() {
	for _, d := range t.defined {
		c := itemChange{class: d.name, what: "created", detail: ", inferred"}
		if d.was != nil {
			c.what, c.detail = "changed", ": "+addedIndicators(d.was, t.Find().Class(d.name).Def)
		}
		t.By = d.by
		t.changed(c)
	}
	t.defined = nil
}

// addedIndicators names the indicators that a class has more than before.
func addedIndicators(was, is *catalog.Class) string {
	var added []string
	for i := range is.Indicators {
		if n := is.Indicators[i].N; was.Indicator(n) == nil {
			added = append(added, belfry.IndicatorColumn(n))
		}
	}
	return strings.Join(added, ", ") + " added"
}

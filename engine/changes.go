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

// Changes of the configuration by rows become events with the item, the old and the new value, and the sender. A turn that changes
// few items writes an event for each. One that changes many writes lists, so that there are few events and no name is missing.
const (
	fewChanges = 20   // up to this many changes of a turn have an event each
	listSize   = 2000 // bytes after which a list continues in another event
)

// itemChange is a change of an item, or of a class that rows define.
type itemChange struct {
	node   *meta.Node
	class  string  // instead of a node
	what   string  // created, changed, removed
	detail string  // after the name; of a new item it is set when the event is written
	fields []Field // that differ, of a changed item or a class
	by     *belfry.Actor
	inside bool // it was removed with the item around it
}

// changed notes a change for the events at the end of the turn.
func (t *Tx) changed(c itemChange) {
	c.by = t.By
	t.changes = append(t.changes, c)
}

// created notes a new item.
func (t *Tx) created(n *meta.Node) { t.changed(itemChange{node: n, what: ActionCreated}) }

// updated notes the change of an item, before it is applied. A nil view and an empty class mean no change.
func (t *Tx) updated(n, to *meta.Node, class string, before, after *belfry.Details) {
	c := itemChange{node: n, what: ActionChanged}
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
	c.fields = t.changedFields(n, to, class, before, after)
	c.detail = ": " + strings.Join(list, ", ")
	t.changed(c)
}

// changedFields lists the fields of an item that are about to change.
func (t *Tx) changedFields(n, to *meta.Node, class string, before, after *belfry.Details) (fields []Field) {
	if to != nil {
		fields = append(fields, TextField("view", t.Parent(n).Name, to.Name, false))
	}
	if was := t.Current(n).Class; class != "" && class != was {
		fields = append(fields, TextField("class", was, class, false))
	}
	eachDifference(t.packageOf(n), before, after, func(name, was, is string) {
		fields = append(fields, TextField(name, was, is, false))
	})
	return fields
}

// fieldsOf lists the fields that a change of an item sets. An item that was removed with another has none.
func (t *Tx) fieldsOf(c *itemChange) []Field {
	switch {
	case c.node == nil:
	case c.what == ActionCreated:
		return t.newFields(c.node, c.node.Class.Name, c.node.Package, c.node.Details)
	case c.what == ActionRemoved && !c.inside:
		it := t.Current(c.node)
		return oldFields(t.newFields(c.node, it.Class, it.Package, it.Details))
	}
	return c.fields
}

// removed marks the changes from the given one on as the removal of one item with its content.
func (t *Tx) removed(from int) {
	last := len(t.changes) - 1
	for i := from; i < last; i++ {
		t.changes[i].inside = true
	}
	if last > from {
		t.changes[last].detail = fmt.Sprintf(", with %d inside", last-from)
	}
}

// packageOf returns the package type of an item; nil for an object.
func (t *Tx) packageOf(n *meta.Node) *catalog.PackageType {
	name := n.Package
	if n.Kind == belfry.KindView {
		name = viewPackage
	}
	return t.seq.cfg.Tree.Catalog().Package(name)
}

const viewPackage = "view"

// emitChanges writes the events of the changes. Those of single items are inserted before the other events of the turn; before is
// their number.
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
			if c.what == ActionCreated && c.node != nil {
				c.detail = t.describeNew(c.node)
			}
			first.note(t.Now, "configuration", "configuration", c.name()+" "+c.what+c.detail, c.by.Called())
			t.auditItem(&c)
			return true
		})
	}
	t.auditItems(list)
	inOrder := func(a, b itemChange) int { return a.compare(&b) }
	if !slices.IsSortedFunc(list, inOrder) { // rows of several senders may have come in one turn
		slices.SortStableFunc(list, inOrder)
	}
	for len(list) > 0 {
		text, n := listText(list)
		t.Event("configuration", "configuration", text, list[0].by.Called())
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

// describeNew describes a new item: its view, class or package, and details.
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

// name returns the changed item as an event names it.
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

// kind names the items of that many changes in a list.
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

// compare orders changes for lists: grouped by sender, change and kind of item.
func (c *itemChange) compare(o *itemChange) int {
	x, y := c.node, o.node
	if n := cmp.Or(cmp.Compare(c.by.Called(), o.by.Called()), cmp.Compare(c.what, o.what)); n != 0 || x == nil && y == nil {
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

// listText renders the first changes of a list, n of them, all by one sender.
func listText(list []itemChange) (text string, n int) {
	var b strings.Builder
	b.Grow(listSize + listSize/4)
	for n < len(list) && list[n].by.Called() == list[0].by.Called() && b.Len() < listSize {
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

// size estimates the length of the entry in a list.
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

// classChange is a class that rows have defined or extended by indicators.
type classChange struct {
	name string
	by   *belfry.Actor
	was  *catalog.Class // nil: it is new
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

// noteClasses notes the changes of classes, at the end of a turn, because several rows may add indicators to one class.
func (t *Tx) noteClasses() {
	for _, d := range t.defined {
		c := itemChange{class: d.name, what: ActionCreated, detail: ", inferred", fields: []Field{{Name: "inferred", After: "true"}}}
		if d.was != nil {
			added := addedIndicators(d.was, t.Find().Class(d.name).Def)
			c.what, c.detail, c.fields = ActionChanged, ": "+added+" added", []Field{{Name: "added", After: quoted(added)}}
		}
		t.By = d.by
		t.changed(c)
	}
	t.defined = nil
}

// addedIndicators names the indicators that were added to a class.
func addedIndicators(was, is *catalog.Class) string {
	var added []string
	for i := range is.Indicators {
		if n := is.Indicators[i].N; was.Indicator(n) == nil {
			added = append(added, belfry.IndicatorColumn(n))
		}
	}
	return strings.Join(added, ", ")
}

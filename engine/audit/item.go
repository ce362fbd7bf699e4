package audit

import (
	"cmp"
	"fmt"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// ItemChange is a change of an item, or of a class that rows define.
type ItemChange struct {
	Node   *meta.Node
	Class  string // instead of a node
	Action string
	Detail string  // of the text, after the name
	Fields []Field // that differ
	By     *belfry.Actor
	Inside bool // it was removed with the item around it
}

// FromTo is a value before and after a change. Both empty: it does not change.
type FromTo struct{ From, To string }

// Updated describes a change of an item: of the view it is in, its class and its details. pt is its package type; nil for an
// object.
func Updated(n *meta.Node, pt *catalog.PackageType, view, class FromTo, before, after *belfry.Details) ItemChange {
	c := ItemChange{Node: n, Action: ActionChanged}
	var list []string
	for _, v := range []struct {
		name string
		FromTo
	}{{"view", view}, {"class", class}} {
		if v.FromTo != (FromTo{}) {
			list = append(list, v.name+": "+v.From+" -> "+v.To)
			c.Fields = append(c.Fields, TextField(v.name, v.From, v.To, false))
		}
	}
	if text := differences(pt, before, after); text != "" {
		list = append(list, text)
	}
	eachDifference(pt, before, after, func(name, was, is string) {
		c.Fields = append(c.Fields, TextField(name, was, is, false))
	})
	c.Detail = ": " + strings.Join(list, ", ")
	return c
}

// Inferred describes a class that rows have defined or, if there was one, extended by indicators.
func Inferred(was, is *catalog.Class) ItemChange {
	if was == nil {
		return ItemChange{Class: is.Name, Action: ActionCreated, Detail: ", inferred", Fields: []Field{{Name: "inferred", After: "true"}}}
	}
	var added []string
	for i := range is.Indicators {
		if n := is.Indicators[i].N; was.Indicator(n) == nil {
			added = append(added, belfry.IndicatorColumn(n))
		}
	}
	names := strings.Join(added, ", ")
	return ItemChange{Class: is.Name, Action: ActionChanged, Detail: ": " + names + " added", Fields: []Field{{Name: "added", After: Quoted(names)}}}
}

// DescribeNew sets the text about a new item: its view, class or package, and details. pt is its package type; nil for an object.
func (c *ItemChange) DescribeNew(pt *catalog.PackageType) {
	n := c.Node
	if n.Parent != n.Resource {
		c.Detail = " in " + n.Parent.Name
	}
	switch n.Kind {
	case belfry.KindResource:
		c.Detail += ", package " + n.Package
		for _, part := range pt.Parts {
			c.Detail += ", with object " + part.ObjectName(n.Name)
		}
	case belfry.KindObject, belfry.KindView:
		c.Detail += ", class " + n.Class.Name
	}
	if text := differences(pt, nil, n.Details); text != "" {
		c.Detail += ": " + text
	}
}

// NewFields lists the fields of a new item. pt is its package type; nil for an object.
func NewFields(n *meta.Node, pt *catalog.PackageType, class, pkg string, d *belfry.Details) (fields []Field) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, Field{Name: name, After: Quoted(value)})
		}
	}
	if n.Kind == belfry.KindObject || n.Kind == belfry.KindView {
		add("class", class)
	}
	add("package", pkg)
	eachDifference(pt, nil, d, func(name, _, is string) { add(name, is) })
	if n.Kind == belfry.KindResource && pt != nil && len(pt.Parts) > 0 {
		parts := make([]string, len(pt.Parts))
		for i, part := range pt.Parts {
			parts[i] = part.ObjectName(n.Name)
		}
		fields = append(fields, Field{Name: "objects", After: jsonText(parts)})
	}
	return fields
}

// RemovedFields lists the fields of an item that has been removed.
func RemovedFields(n *meta.Node, pt *catalog.PackageType, class, pkg string, d *belfry.Details) []Field {
	fields := NewFields(n, pt, class, pkg, d)
	for i := range fields {
		fields[i].Before, fields[i].After = fields[i].After, ""
	}
	return fields
}

// IsPlain reports whether a change creates an object with nothing but a class, as nearly all of many do.
func (c *ItemChange) IsPlain() bool {
	n := c.Node
	return n != nil && c.Action == ActionCreated && n.Kind == belfry.KindObject && n.Details == nil
}

// Text returns the text of an event about this change alone.
func (c *ItemChange) Text() string { return c.name() + " " + c.Action + c.Detail }

// name returns the changed item as an event names it.
func (c *ItemChange) name() string {
	n := c.Node
	switch {
	case n == nil:
		return "class " + c.Class
	case n.Kind == belfry.KindElement:
		return n.Package + " " + n.Name
	case n.Resource != nil && n.Resource != n:
		return n.Kind.String() + " " + n.Name + " of " + n.Resource.Name
	}
	return n.Kind.String() + " " + n.Name
}

// kind names the items of that many changes in a list.
func (c *ItemChange) kind(count int) string {
	many := "s"
	if count == 1 {
		many = ""
	}
	n := c.Node
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

// Compare orders changes for lists: grouped by sender, change and kind of item.
func (c *ItemChange) Compare(o *ItemChange) int {
	x, y := c.Node, o.Node
	if n := cmp.Or(cmp.Compare(c.By.Called(), o.By.Called()), cmp.Compare(c.Action, o.Action)); n != 0 || x == nil && y == nil {
		return n
	}
	switch { // classes come last
	case x == nil:
		return 1
	case y == nil:
		return -1
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

// ListSize is the number of bytes after which a list of changes continues in another event.
const ListSize = 2000

// ListText returns the text of an event about the first changes of a list, n of them, all by one sender. The list is in the
// order of Compare.
func ListText(list []ItemChange) (text string, n int) {
	var b strings.Builder
	b.Grow(ListSize + ListSize/4)
	for n < len(list) && list[n].By.Called() == list[0].By.Called() && b.Len() < ListSize {
		part := list[n:]
		count, size := 0, b.Len()
		for count < len(part) && size < ListSize && part[0].Compare(&part[count]) == 0 {
			size += part[count].size()
			count++
		}
		if n > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%d %s %s: ", count, part[0].kind(count), part[0].Action)
		for i := range part[:count] {
			part[i].write(&b, i > 0)
		}
		n += count
	}
	return b.String(), n
}

// size estimates the length of the entry in a list.
func (c *ItemChange) size() int {
	if c.Node == nil {
		return len(c.Class) + len(c.Detail)
	}
	return len(c.Node.Name) + len(c.Detail)
}

// write writes the entry in a list.
func (c *ItemChange) write(b *strings.Builder, further bool) {
	if further {
		b.WriteString(", ")
	}
	if c.Node == nil {
		b.WriteString(c.Class)
	} else {
		b.WriteString(c.Node.Name)
	}
	if detail := strings.TrimLeft(c.Detail, ",: "); detail != "" {
		b.WriteString(" (")
		b.WriteString(detail)
		b.WriteByte(')')
	}
}

// RemovedTogether marks changes as the removal of the last item with its content.
func RemovedTogether(list []ItemChange) {
	last := len(list) - 1
	for i := range last {
		list[i].Inside = true
	}
	if last > 0 {
		list[last].Detail = fmt.Sprintf(", with %d inside", last)
	}
}

// Alone counts the changes of items that were not removed with the item around them.
func Alone(list []ItemChange) (n int) {
	for i := range list {
		if !list[i].Inside {
			n++
		}
	}
	return n
}

package audit

import (
	"bytes"
	"fmt"

	"belfry"
)

// listSize is the number of bytes after which a list of items continues in another row.
const listSize = 8000

// Lists builds rows about many items. Changes of one kind by one sender share rows.
type Lists struct {
	trail *Trail
	by    map[group]*list
	order []*list
	last  *list
}

// group says what the items of a row have in common.
type group struct {
	user, via, address string
	action, kind       string
}

// list is a row that lists items. Those that have all but the name in common share an entry, as nearly all new objects do:
// writing each alone takes a tenth of the time in which objects are created.
type list struct {
	group
	by      *belfry.Actor
	several bool // requests
	count   int
	text    []byte
	shared  []byte // what the items of the last entry have in common
}

// NewLists returns lists that add their rows to a trail.
func NewLists(t *Trail) *Lists { return &Lists{trail: t, by: map[group]*list{}} }

// Add adds a change with the fields that it sets. A plain one needs none, see ItemChange.IsPlain.
func (l *Lists) Add(c *ItemChange, fields []Field) {
	by := c.By
	if by == nil {
		by = &serviceActor
	}
	kind := belfry.DocClass
	if c.Node != nil {
		kind = c.Node.Kind.String()
	}
	of := group{by.Name, by.Via, by.Address, c.Action, kind}
	if l.last == nil || l.last.group != of {
		if l.last = l.by[of]; l.last == nil {
			l.last = &list{group: of, by: by}
			l.by[of] = l.last
			l.order = append(l.order, l.last)
		}
	}
	if l.last.add(c, fields, by); len(l.last.text) >= listSize {
		l.last.flush(l.trail)
	}
}

// Flush adds the rows that are not full.
func (l *Lists) Flush() {
	for _, b := range l.order {
		b.flush(l.trail)
	}
}

func (l *list) add(c *ItemChange, fields []Field, by *belfry.Actor) {
	if l.count == 0 {
		l.by, l.several = by, false
		l.text = append(make([]byte, 0, listSize+listSize/4), '[')
	} else {
		l.several = l.several || by.Request != l.by.Request
	}
	l.count++
	start := len(l.text)
	name := c.Class
	if n := c.Node; n != nil {
		name = n.Name
		if r := n.Resource; r != nil && r != n {
			l.text = append(l.text, `"resource":`...)
			l.text = append(appendQuoted(l.text, r.Name), ',')
		}
	}
	if c.IsPlain() {
		l.text = append(l.text, `"after":{"class":`...)
		l.text = append(appendQuoted(l.text, c.Node.Class.Name), "},"...)
	} else {
		l.addValues(`"before":`, fields, valueBefore)
		l.addValues(`"after":`, fields, valueAfter)
	}
	shared := l.text[start:]
	if start > 1 && bytes.Equal(shared, l.shared) {
		l.text = append(l.text[:start], ',')
	} else {
		l.shared = append(l.shared[:0], shared...)
		l.text = l.text[:start]
		if start > 1 {
			l.text = append(l.text, "]},"...)
		}
		l.text = append(l.text, '{')
		l.text = append(l.text, l.shared...)
		l.text = append(l.text, `"names":[`...)
	}
	l.text = appendQuoted(l.text, name)
}

// addValues adds the values of fields under a name, unless there are none.
func (l *list) addValues(name string, fields []Field, value func(*Field) string) {
	start := len(l.text)
	l.text = append(l.text, name...)
	named := len(l.text)
	if l.text = appendValues(l.text, fields, value); len(l.text) == named {
		l.text = l.text[:start]
		return
	}
	l.text = append(l.text, ',')
}

func (l *list) flush(t *Trail) {
	if l.count == 0 {
		return
	}
	by := l.by
	if l.several {
		without := *by
		without.Request = ""
		by = &without
	}
	kind := l.kind + "s"
	switch {
	case l.count == 1:
		kind = l.kind
	case l.kind == belfry.DocClass:
		kind = "classes"
	}
	t.rows = append(t.rows, row{by: by, items: string(append(l.text, "]}]"...)), Change: Change{
		Kind: l.kind, Action: l.action, Info: fmt.Sprintf("%d %s %s", l.count, kind, l.action),
	}})
	l.count = 0
}

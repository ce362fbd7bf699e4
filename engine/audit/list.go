package audit

import (
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

// list is a row that lists items.
type list struct {
	group
	by      *belfry.Actor
	several bool // requests
	count   int
	text    []byte
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
		l.text = append(l.text, ',')
	}
	l.count++
	l.text = append(l.text, `{"name":`...)
	if c.Node == nil {
		l.text = appendQuoted(l.text, c.Class)
	} else {
		l.text = appendQuoted(l.text, c.Node.Name)
		if r := c.Node.Resource; r != nil && r != c.Node {
			l.text = append(l.text, `,"resource":`...)
			l.text = appendQuoted(l.text, r.Name)
		}
	}
	if c.IsPlain() {
		l.text = append(l.text, `,"after":{"class":`...)
		l.text = appendQuoted(l.text, c.Node.Class.Name)
		l.text = append(l.text, '}')
	} else {
		l.addValues(`,"before":`, fields, valueBefore)
		l.addValues(`,"after":`, fields, valueAfter)
	}
	l.text = append(l.text, '}')
}

// addValues adds the values of fields under a name, unless there are none.
func (l *list) addValues(name string, fields []Field, value func(*Field) string) {
	mark := len(l.text)
	l.text = append(l.text, name...)
	named := len(l.text)
	if l.text = appendValues(l.text, fields, value); len(l.text) == named {
		l.text = l.text[:mark]
	}
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
	t.rows = append(t.rows, row{by: by, items: string(append(l.text, ']')), Change: Change{
		Kind: l.kind, Action: l.action, Info: fmt.Sprintf("%d %s %s", l.count, kind, l.action),
	}})
	l.count = 0
}

package live

import (
	"bytes"
	"cmp"
	"slices"

	"belfry"
	"belfry/api/encode"
	"belfry/meta"
)

// blockBytes is how long a block becomes. A feed drops whole blocks.
const blockBytes = 32 << 10

// writer turns changes into messages. It is used by one goroutine and keeps its memory.
type writer struct {
	tree   *meta.Tree
	feed   *feed
	within meta.Visibility // of the feed
	share  int
	number uint64 // of the next message
	data   []byte
	marks  []mark
	named  []named // of each mark, when the feed is limited
	ids    []belfry.ID
	labels []label
}

func newWriter(t *meta.Tree) *writer {
	return &writer{tree: t}
}

// label has the fields of a message that name an item. They mean the same as in queries.
type label struct {
	kind                                        belfry.Kind
	name, resource, view, parent, object, class string
	info                                        string // of a resource that shows the info of its only object
	named                                       named
}

func labelOf(n *meta.Node) (l label) {
	if n == nil {
		return l
	}
	l = label{kind: n.Kind, name: n.Name, class: n.Class.Name, named: named{n.ID}}
	if n.Resource != nil {
		l.resource = n.Resource.Name
	}
	around := n.Parent
	if n.Kind == belfry.KindView {
		l.view = n.Name
	} else if around != nil {
		l.view, l.named[1] = around.Name, around.ID
		around = around.Parent
	}
	if around != nil {
		l.parent, l.named[2] = around.Name, around.ID
	}
	if n.Kind == belfry.KindResource {
		l.info = n.Info()
	}
	if n.Kind == belfry.KindObject {
		l.object = n.Name
	}
	return l
}

// write adds changes to a feed that keeps share bytes. The messages are numbered from first on.
func (w *writer) write(f *feed, inbox []changes, first uint64, share int) {
	w.feed, w.within, w.share, w.number = f, w.tree.Visibility(f.scope), share, first
	f.skipTo(first)
	for i := range inbox {
		w.states(inbox[i].states)
		w.events(&inbox[i])
	}
	w.publish()
}

// publish adds what has been written to the feed, as a block.
func (w *writer) publish() {
	if len(w.marks) == 0 {
		return
	}
	w.feed.publish(&block{data: bytes.Clone(w.data), marks: slices.Clone(w.marks), named: slices.Clone(w.named)}, w.share)
	w.data, w.marks, w.named = w.data[:0], w.marks[:0], w.named[:0]
	if cap(w.data) > 16*blockBytes { // after a very long message
		w.data = nil
	}
}

// findLabels looks up the items in ids.
func (w *writer) findLabels() {
	w.labels = slices.Grow(w.labels[:0], len(w.ids))[:len(w.ids)]
	w.tree.History().EachByID(w.ids, func(i int, n *meta.Node) { w.labels[i] = labelOf(w.within.Show(n)) })
}

// begin starts a message; end finishes it, and publishes the block when it is long enough.
func (w *writer) begin(event string) {
	w.data = append(w.data, "id: "...)
	w.data = w.feed.appendID(w.data, w.number)
	w.data = append(append(append(w.data, "\nevent: "...), event...), "\ndata: {"...)
	w.number++
}

func (w *writer) end(kind Kind, l *label) {
	w.data = append(w.data, "}\n\n"...)
	w.marks = append(w.marks, mark{uint32(len(w.data)), kind})
	if w.feed.scope.Limited() {
		w.named = append(w.named, l.named)
	}
	if len(w.data) >= blockBytes {
		w.publish()
	}
}

// field writes a JSON field; an empty one is absent.
func (w *writer) field(name, value string) {
	if value != "" {
		w.name(name)
		w.data = encode.AppendText(w.data, value)
	}
}

func (w *writer) name(name string) {
	if w.data[len(w.data)-1] != '{' {
		w.data = append(w.data, ',')
	}
	w.data = append(append(append(w.data, '"'), name...), `":`...)
}

func (w *writer) time(name string, t belfry.Time) {
	if t != 0 {
		w.name(name)
		w.data = append(t.Std().AppendFormat(append(w.data, '"'), belfry.TimeFormat), '"')
	}
}

// flag writes a field that is true; one that is false is absent.
func (w *writer) flag(name string, is bool) {
	if is {
		w.name(name)
		w.data = append(w.data, "true"...)
	}
}

// states writes a message for each changed state.
func (w *writer) states(states []belfry.StateChange) {
	if len(states) == 0 {
		return
	}
	w.ids = w.ids[:0]
	for i := range states {
		w.ids = append(w.ids, states[i].Item)
	}
	w.findLabels()
	for i := range states {
		w.state(&states[i], &w.labels[i])
	}
}

func (w *writer) state(c *belfry.StateChange, l *label) {
	w.begin("status")
	w.field("name", l.name)
	w.field("kind", l.kind.String())
	w.field("resource", l.resource)
	w.field("view", l.view)
	w.field("parentview", l.parent)
	w.field("object", l.object)
	w.field("class", l.class)
	w.field("status", c.Status.String())
	w.field("statusname", c.StatusName())
	if c.Was != c.Status {
		w.field("previous", c.Was.String())
	}
	w.time("since", c.Since)
	w.field("info", cmp.Or(c.Info, l.info))
	w.flag("acknowledged", c.Acknowledged())
	w.flag("isunmanaged", c.Unmanaged())
	w.end(Statuses, l)
}

// events writes a message for each row, with the fields that a query has.
func (w *writer) events(n *changes) {
	b := n.events
	if b == nil {
		return
	}
	items := b.Column(belfry.ItemColumn)
	w.ids = w.ids[:0]
	for i := range n.sent() {
		w.ids = append(w.ids, itemAt(items, i))
	}
	w.findLabels()
	source, typ, info, user := b.Column("source"), b.Column("type"), b.Column("info"), b.Column("user")
	status, previous := b.Column("status"), b.Column("previous")
	at := 0
	for i := range n.sent() {
		l := &w.labels[at]
		at++
		w.begin("event")
		w.field("id", (b.FirstID + belfry.RowID(i)).String())
		w.time("timestamp", b.Times[i])
		w.field("source", textAt(source, i))
		w.field("type", textAt(typ, i))
		w.field("status", statusText(intAt(status, i)))
		w.field("previous", statusText(intAt(previous, i)))
		w.field("resource", l.resource)
		w.field("view", l.view)
		w.field("object", l.object)
		w.field("class", l.class)
		w.field("info", textAt(info, i))
		w.field("user", textAt(user, i))
		w.end(Events, l)
	}
}

// itemAt is the item of a row; 0 when it has none.
func itemAt(items *belfry.Column, i int) belfry.ID {
	if n := intAt(items, i); n != belfry.AbsentInt {
		return belfry.ID(n)
	}
	return 0
}

func intAt(c *belfry.Column, i int) int64 {
	if c == nil {
		return belfry.AbsentInt
	}
	return c.Ints[i]
}

func textAt(c *belfry.Column, i int) string {
	if c == nil {
		return ""
	}
	return c.Texts[i]
}

func statusText(n int64) string {
	if n == belfry.AbsentInt {
		return ""
	}
	return belfry.Status(n).String()
}

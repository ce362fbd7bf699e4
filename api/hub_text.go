package api

import (
	"bytes"
	"cmp"
	"slices"

	"belfry"
	"belfry/meta"
)

// pieceBytes is how long a piece becomes. What a client has not got when it falls behind is counted in pieces.
const pieceBytes = 32 << 10

// writer turns news into messages. It is used by one goroutine and keeps its memory.
type writer struct {
	tree   *meta.Tree
	feed   *feed
	within meta.Within // of the feed
	share  int
	number uint64 // of the next message
	data   []byte
	marks  []mark
	ids    []belfry.ID
	labels []label
	alarms alarms
}

func newWriter(t *meta.Tree) *writer {
	return &writer{tree: t, alarms: alarms{first: map[belfry.ID]int{}}}
}

// label is what names an item in a message, with the meaning that the fields have in queries.
type label struct {
	kind                                        belfry.Kind
	name, resource, view, parent, object, class string
	info                                        string // of a resource that tells what its one object tells
}

func labelOf(n *meta.Node) (l label) {
	if n == nil {
		return l
	}
	l = label{kind: n.Kind, name: n.Name, class: n.Class.Name}
	if n.Resource != nil {
		l.resource = n.Resource.Name
	}
	around := n.Parent
	if n.Kind == belfry.KindView {
		l.view = n.Name
	} else if around != nil {
		l.view, around = around.Name, around.Parent
	}
	if around != nil {
		l.parent = around.Name
	}
	if n.Kind == belfry.KindResource {
		l.info = n.Info()
	}
	if n.Kind == belfry.KindObject {
		l.object = n.Name
	}
	return l
}

// write adds news to a feed, of which share bytes are kept. The messages are numbered from first on.
func (w *writer) write(f *feed, inbox []news, first uint64, share int) {
	w.feed, w.within, w.share, w.number = f, w.tree.Within(f.scope), share, first
	f.goOn(first)
	for i := range inbox {
		w.states(inbox[i].states, inbox[i].events)
		w.events(&inbox[i])
	}
	w.publish()
}

// publish makes a piece of what has been written.
func (w *writer) publish() {
	if len(w.marks) == 0 {
		return
	}
	w.feed.publish(&piece{data: bytes.Clone(w.data), marks: slices.Clone(w.marks)}, w.share)
	w.data, w.marks = w.data[:0], w.marks[:0]
	if cap(w.data) > 16*pieceBytes { // after a very long message
		w.data = nil
	}
}

// look finds the names of the items in ids.
func (w *writer) look() {
	w.labels = slices.Grow(w.labels[:0], len(w.ids))[:len(w.ids)]
	w.tree.Look(w.ids, func(i int, n *meta.Node) { w.labels[i] = labelOf(w.within.Show(n)) })
}

// begin starts a message; end finishes it, and the piece when it is long enough.
func (w *writer) begin(event string) {
	w.data = append(w.data, "id: "...)
	w.data = w.feed.appendID(w.data, w.number)
	w.data = append(append(append(w.data, "\nevent: "...), event...), "\ndata: {"...)
	w.number++
}

func (w *writer) end(kind messageKind) {
	w.data = append(w.data, "}\n\n"...)
	w.marks = append(w.marks, mark{uint32(len(w.data)), kind})
	if len(w.data) >= pieceBytes {
		w.publish()
	}
}

// field writes a field with its name as it stands in JSON; an empty one is absent.
func (w *writer) field(name, value string) {
	if value != "" {
		w.name(name)
		w.data = appendText(w.data, value)
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

// flag writes what is so; what is not goes without saying, as absent fields do.
func (w *writer) flag(name string, is bool) {
	if is {
		w.name(name)
		w.data = append(w.data, "true"...)
	}
}

// states writes a message for each change of a status; events are those of the same record.
func (w *writer) states(states []belfry.StateChange, events *belfry.Batch) {
	if len(states) == 0 {
		return
	}
	w.ids = w.ids[:0]
	for i := range states {
		w.ids = append(w.ids, states[i].Item)
	}
	w.look()
	w.alarms.gather(events)
	for i := range states {
		w.state(&states[i], &w.labels[i])
	}
}

func (w *writer) state(c *belfry.StateChange, l *label) {
	previous, known := w.alarms.previous(c.Item, c.Status)
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
	if known {
		w.field("previous", previous.String())
	}
	w.time("since", c.Since)
	w.field("info", cmp.Or(c.Info, l.info))
	w.flag("acknowledged", c.Acknowledged())
	w.flag("isunmanaged", c.Unmanaged())
	w.end(statusMessage)
}

// events writes a message for each row, with the fields that a query would give.
func (w *writer) events(n *news) {
	b := n.events
	if b == nil {
		return
	}
	items := b.Column(belfry.ItemColumn)
	w.ids = w.ids[:0]
	for i := range n.told() {
		w.ids = append(w.ids, itemAt(items, i))
	}
	w.look()
	source, typ, info, user := b.Column("source"), b.Column("type"), b.Column("info"), b.Column("user")
	status, previous := b.Column("status"), b.Column("previous")
	at := 0
	for i := range n.told() {
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
		w.end(eventMessage)
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

// alarms finds the status that an item had before a change. The record of the change says it in the event about it; an
// item that moved more than once has its events in the order of its changes.
type alarms struct {
	first    map[belfry.ID]int // of an item's alarms
	next     []int             // alarm of the same item; -1: that was the last
	statuses []belfry.Status
	before   []belfry.Status
}

func (a *alarms) gather(b *belfry.Batch) {
	clear(a.first)
	a.next, a.statuses, a.before = a.next[:0], a.statuses[:0], a.before[:0]
	if b == nil {
		return
	}
	items, status, previous := b.Column(belfry.ItemColumn), b.Column("status"), b.Column("previous")
	for i := b.Len() - 1; i >= 0; i-- { // the last first, so that each knows the one after it
		id, to, from := intAt(items, i), intAt(status, i), intAt(previous, i)
		if id == belfry.AbsentInt || to == belfry.AbsentInt || from == belfry.AbsentInt {
			continue
		}
		next, ok := a.first[belfry.ID(id)]
		if !ok {
			next = -1
		}
		a.first[belfry.ID(id)] = len(a.next)
		a.next = append(a.next, next)
		a.statuses, a.before = append(a.statuses, belfry.Status(to)), append(a.before, belfry.Status(from))
	}
}

// previous is the status before the next change of an item, if that change was to the status given.
func (a *alarms) previous(id belfry.ID, to belfry.Status) (belfry.Status, bool) {
	at, ok := a.first[id]
	if !ok || at < 0 || a.statuses[at] != to {
		return 0, false
	}
	a.first[id] = a.next[at]
	return a.before[at], true
}

package meta

import (
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Items finds the items that names stand for, removed ones included: history is asked by name, and a name may have
// stood for several items over time. It implements query.Names.
func (t *Tree) Items(s belfry.Scope, m query.ItemMatch) (ids []belfry.ID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[s.Customer]
	if e == nil {
		return nil
	}
	w := e.Within(s)
	for _, n := range e.candidates(m) {
		if w.matches(n, m) && w.Has(n) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// candidates narrows a match to the shortest list at hand.
func (e *Estate) candidates(m query.ItemMatch) (list []*Node) {
	switch {
	case m.Object != nil:
		e.ObjectsNamed(*m.Object, func(n *Node) { list = append(list, n) })
		return append(list, e.gone[*m.Object]...)
	case m.Resource != nil:
		if r := e.Resource(*m.Resource); r != nil {
			list = append(append(list, r), r.box.ever...)
		}
		for _, r := range e.gone[*m.Resource] {
			if r.Kind == belfry.KindResource {
				list = append(append(list, r), r.box.ever...)
			}
		}
		return list
	}
	return e.ever
}

func (w *Within) matches(n *Node, m query.ItemMatch) bool {
	l := n.label()
	if w.Root(n) && n.Kind == belfry.KindResource {
		l.View = belfry.Main
	}
	return is(m.Resource, l.Resource) && is(m.View, l.View) && is(m.Object, l.Object) && is(m.Class, l.Class)
}

func is(want *string, have string) bool { return want == nil || *want == have && have != "" }

// Label gives the names of an item, removed ones included.
func (t *Tree) Label(c belfry.CustomerID, id belfry.ID) (l query.Label) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.node(c, id); n != nil {
		return n.label()
	}
	return l
}

// Names gives one field of the label of each of the items.
func (t *Tree) Names(c belfry.CustomerID, field string, items []belfry.ID, names []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for i, id := range items {
		names[i] = ""
		if n := t.node(c, id); n != nil {
			names[i] = n.name(field)
		}
	}
}

// name is a field of the label.
func (n *Node) name(field string) string {
	if field == "object" { // most ask for it, and there is no need to look at what is around the object
		if n.Kind == belfry.KindObject {
			return n.Name
		}
		return ""
	}
	l := n.label()
	return l.Of(field)
}

// node finds an item of the customer, which may have been removed.
func (t *Tree) node(c belfry.CustomerID, id belfry.ID) *Node {
	if uint64(id) >= uint64(len(t.nodes)) {
		return nil
	}
	if n := t.nodes[id]; n != nil && n.Customer == c {
		return n
	}
	return nil
}

// Apart tells whether no two of the items have the same names in the fields, as far as it is known without comparing
// them: of objects whose names nobody else has had, or, with the name of the resource, nobody else in it.
func (t *Tree) Apart(c belfry.CustomerID, fields []string, items []belfry.ID) bool {
	if !t.objectsApart(c, fields) {
		return false
	}
	for part := range slices.Chunk(items, 1024) {
		if !t.objects(c, part) {
			return false
		}
	}
	return true
}

// Own implements query.Labels.
func (t *Tree) Own(c belfry.CustomerID, of *catalog.Collection, fields []string) bool {
	return of.Objects && t.objectsApart(c, fields)
}

// objectsApart tells whether no two objects have, or had, the same names in the fields.
func (t *Tree) objectsApart(c belfry.CustomerID, fields []string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.customers[c]
	return e != nil && e.again == 0 && slices.Contains(fields, "object") && (e.Twins == 0 || slices.Contains(fields, "resource"))
}

// objects tells whether all the items are objects of the customer.
func (t *Tree) objects(c belfry.CustomerID, items []belfry.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, id := range items {
		if n := t.node(c, id); n == nil || n.Kind != belfry.KindObject {
			return false
		}
	}
	return true
}

// label are the fields of a row that follow from its item.
func (n *Node) label() (l query.Label) {
	l.Class = n.Class.Name
	if n.Resource != nil {
		l.Resource = n.Resource.Name
	}
	switch {
	case n.Kind == belfry.KindView:
		l.View = n.Name
	case n.Parent != nil:
		l.View = n.Parent.Name
	}
	if n.Kind == belfry.KindObject {
		l.Object = n.Name
	}
	if n.Details != nil {
		l.IP, l.Host = n.Details.IP, n.Details.Host
	}
	return l
}

// Dimension gives the names of the items in a record, in the form in which the store takes them; nil when the record
// has none. The record must have been applied.
func (t *Tree) Dimension(r *belfry.Record) []*belfry.Batch {
	if len(r.Items) == 0 {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	b := newDimension(r.Items[0].Customer, len(r.Items))
	for i := range r.Items {
		if n := t.Node(r.Items[i].ID); n != nil && n.Kind != belfry.KindElement { // nil: its customer has been removed since
			b.add(n)
		}
	}
	if len(b.ids) == 0 {
		return nil
	}
	b.batch.Pos = r.Pos
	return []*belfry.Batch{b.done()}
}

// Dimensions gives the names of all items that ever were, in batches, for a store that has just been opened.
func (t *Tree) Dimensions(f func(*belfry.Batch) error) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	const size = 50_000
	for _, e := range t.customers {
		for at := 0; at < len(e.ever); at += size {
			part := e.ever[at:min(at+size, len(e.ever))]
			b := newDimension(e.ID, len(part))
			for _, n := range part {
				b.add(n)
			}
			if err := f(b.done()); err != nil {
				return err
			}
		}
	}
	return nil
}

type dimension struct {
	batch                                   *belfry.Batch
	ids, kinds, places                      []int64
	resource, view, object, class, ip, host []string
}

func newDimension(c belfry.CustomerID, n int) *dimension {
	return &dimension{
		batch: &belfry.Batch{Collection: belfry.Dimension, Customer: c, Times: make([]belfry.Time, 0, n)},
		ids:   make([]int64, 0, n), kinds: make([]int64, 0, n), places: make([]int64, 0, n),
		resource: make([]string, 0, n), view: make([]string, 0, n), object: make([]string, 0, n), class: make([]string, 0, n),
		ip: make([]string, 0, n), host: make([]string, 0, n),
	}
}

func (d *dimension) add(n *Node) {
	l := n.label()
	d.batch.Times = append(d.batch.Times, n.Created)
	d.ids, d.kinds = append(d.ids, int64(n.ID)), append(d.kinds, int64(n.Kind))
	d.places = append(d.places, int64(n.Place().ID))
	d.resource, d.view = append(d.resource, l.Resource), append(d.view, l.View)
	d.object, d.class = append(d.object, l.Object), append(d.class, l.Class)
	d.ip, d.host = append(d.ip, l.IP), append(d.host, l.Host)
}

func (d *dimension) done() *belfry.Batch {
	d.batch.Columns = []belfry.Column{
		{Name: belfry.ItemColumn, Ints: d.ids},
		{Name: "kind", Ints: d.kinds},
		{Name: belfry.PlaceColumn, Ints: d.places},
		{Name: "resource", Texts: d.resource},
		{Name: "view", Texts: d.view},
		{Name: "object", Texts: d.object},
		{Name: "class", Texts: d.class},
		{Name: "ip", Texts: d.ip},
		{Name: "host", Texts: d.host},
	}
	return d.batch
}

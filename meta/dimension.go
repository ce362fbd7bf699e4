package meta

import (
	"belfry"
	"belfry/query"
)

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

// Dimension returns the names of the items in a record as batches for the store, or nil if the record has no items. The
// record must have been applied.
func (h *History) Dimension(r *belfry.Record) []*belfry.Batch {
	if len(r.Items) == 0 {
		return nil
	}
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	b := newDimension(r.Items[0].Customer, len(r.Items))
	for i := range r.Items {
		if n := h.tree.Node(r.Items[i].ID); n != nil && n.Kind != belfry.KindElement { // nil: its customer has been removed since
			b.add(n)
		}
	}
	if len(b.ids) == 0 {
		return nil
	}
	b.batch.Pos = r.Pos
	return []*belfry.Batch{b.done()}
}

// dimensionSize is how many items a batch of names has.
const dimensionSize = 50_000

// Dimensions calls f with the names of all items in memory, in batches, for a store that has just been opened.
func (h *History) Dimensions(f func(*belfry.Batch) error) error {
	h.tree.mu.RLock()
	defer h.tree.mu.RUnlock()
	for _, e := range h.tree.customers {
		b := newDimension(e.ID, min(e.numbered.Len(), dimensionSize))
		for _, n := range e.numbered.From(0) {
			if b.add(n); len(b.ids) == dimensionSize {
				if err := f(b.done()); err != nil {
					return err
				}
				b = newDimension(e.ID, dimensionSize)
			}
		}
		if len(b.ids) > 0 {
			if err := f(b.done()); err != nil {
				return err
			}
		}
	}
	return nil
}

type dimension struct {
	batch                                   *belfry.Batch
	ids, kinds, places, removed             []int64
	resource, view, object, class, ip, host []string
}

func newDimension(c belfry.CustomerID, n int) *dimension {
	return &dimension{
		batch: &belfry.Batch{Collection: belfry.Dimension, Customer: c, Times: make([]belfry.Time, 0, n)},
		ids:   make([]int64, 0, n), kinds: make([]int64, 0, n), places: make([]int64, 0, n), removed: make([]int64, 0, n),
		resource: make([]string, 0, n), view: make([]string, 0, n), object: make([]string, 0, n), class: make([]string, 0, n),
		ip: make([]string, 0, n), host: make([]string, 0, n),
	}
}

func (d *dimension) add(n *Node) {
	d.addItem(n.ID, n.Kind, n.Place().ID, n.Created, n.Removed, n.label())
}

func (d *dimension) addItem(id belfry.ID, k belfry.Kind, place belfry.ID, created, removed belfry.Time, l query.Label) {
	d.batch.Times = append(d.batch.Times, created)
	d.ids, d.kinds = append(d.ids, int64(id)), append(d.kinds, int64(k))
	d.places, d.removed = append(d.places, int64(place)), append(d.removed, int64(removed))
	d.resource, d.view = append(d.resource, l.Resource), append(d.view, l.View)
	d.object, d.class = append(d.object, l.Object), append(d.class, l.Class)
	d.ip, d.host = append(d.ip, l.IP), append(d.host, l.Host)
}

func (d *dimension) done() *belfry.Batch {
	d.batch.Columns = []belfry.Column{
		{Name: belfry.ItemColumn, Ints: d.ids},
		{Name: "kind", Ints: d.kinds},
		{Name: belfry.PlaceColumn, Ints: d.places},
		{Name: belfry.RemovedColumn, Ints: d.removed},
		{Name: "resource", Texts: d.resource},
		{Name: "view", Texts: d.view},
		{Name: "object", Texts: d.object},
		{Name: "class", Texts: d.class},
		{Name: "ip", Texts: d.ip},
		{Name: "host", Texts: d.host},
	}
	return d.batch
}

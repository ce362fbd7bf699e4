package ingest

import (
	"encoding/json"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// tx gathers what one command changes. Its record is the command's whole effect.
type tx struct {
	seq    *Sequencer
	s      *scratch
	estate *meta.Estate // nil for what concerns the instance
	now    belfry.Time
	rec    belfry.Record
	items  map[belfry.ID]int // where an item stands in the record
	events events
}

func (s *Sequencer) begin(c belfry.CustomerID) *tx {
	now := belfry.At(s.cfg.Now())
	return &tx{
		seq: s, s: &s.scratch, estate: s.cfg.Tree.Estate(c), now: now,
		rec:   belfry.Record{Time: now, Customer: c},
		items: map[belfry.ID]int{},
	}
}

// record finishes the tx; nil when it changed nothing.
func (t *tx) record() *belfry.Record {
	if b := t.events.batch(); b != nil {
		t.rec.Batches = append(t.rec.Batches, b)
	}
	r := &t.rec
	if len(r.Batches)+len(r.Items)+len(r.States)+len(r.Docs) == 0 && r.Answer == nil {
		return nil
	}
	for _, b := range r.Batches {
		if b.Customer != 0 {
			continue // of another customer, see eachEstate
		}
		b.Customer = t.rec.Customer
		b.FirstID = t.s.rowIDs(t.estate, b.Len())
	}
	return r
}

// create makes an item that stands in parent.
func (t *tx) create(k belfry.Kind, name string, parent, resource *meta.Node, class *meta.Class, pkg string, d *belfry.Details) *meta.Node {
	t.s.lastID++
	it := belfry.Item{
		ID: t.s.lastID, Customer: t.estate.ID, Kind: k, Name: name, Class: class.Name, Package: pkg,
		Created: t.now, Details: d,
	}
	if parent != nil {
		it.Parent = parent.ID
		t.s.drafts[t.s.draft(parent)].counts[belfry.Unknown]++
	}
	n := meta.NewNode(&it, parent, resource, class)
	if n.Resource != nil {
		it.Resource = n.Resource.ID
	}
	t.item(it)
	switch {
	case k == belfry.KindObject:
		t.s.items[slot{it.Customer, it.Resource, objectSlot, name}] = n
		by := slot{customer: it.Customer, name: name}
		t.s.objects[by] = append(t.s.objects[by], n)
		t.s.objectN[it.Customer]++
	case k == belfry.KindView && n.Resource != nil:
		t.s.items[slot{it.Customer, it.Resource, viewSlot, name}] = n
	default:
		t.s.items[slot{it.Customer, 0, placeSlot, name}] = n
	}
	return n
}

// item adds an item to the record.
func (t *tx) item(it belfry.Item) {
	t.items[it.ID] = len(t.rec.Items)
	t.rec.Items = append(t.rec.Items, it)
}

// details are those of an item as the tx has them so far.
func (t *tx) details(n *meta.Node) belfry.Details {
	d := n.Details
	if i, ok := t.items[n.ID]; ok {
		d = t.rec.Items[i].Details
	}
	if d == nil {
		return belfry.Details{}
	}
	return *d
}

// change replaces the details of an item.
func (t *tx) change(n *meta.Node, d *belfry.Details) {
	if i, ok := t.items[n.ID]; ok { // made or changed by an earlier row
		t.rec.Items[i].Details = d
		return
	}
	it := n.Item()
	it.Details = d
	t.item(it)
}

// define sets the definition of a class, in the record and for the rest of the round.
func (t *tx) define(def *catalog.Class) *meta.Class {
	body, err := json.Marshal(def)
	if err != nil {
		panic(err) // a class holds nothing that JSON cannot express
	}
	at := slot{t.estate.ID, 0, classSlot, def.Name}
	c := t.s.classes[at]
	if c == nil {
		c = &meta.Class{Name: def.Name}
		t.s.classes[at] = c
	}
	c.Def = def
	t.document(belfry.Doc{Kind: belfry.DocClass, Customer: t.estate.ID, Name: def.Name, Body: body})
	return c
}

// document sets a piece of configuration; a later one of the same name takes the place of an earlier one.
func (t *tx) document(d belfry.Doc) {
	for i, have := range t.rec.Docs {
		if have.Kind == d.Kind && have.Customer == d.Customer && have.Name == d.Name {
			t.rec.Docs[i] = d
			return
		}
	}
	t.rec.Docs = append(t.rec.Docs, d)
}

// input lets something happen to an object, and lets what follows from it rise to MAIN.
func (t *tx) input(n *meta.Node, in status.Input) {
	i := t.s.draft(n)
	next, moved := status.Next(t.s.drafts[i].state, in)
	if !moved {
		t.s.drafts[i].state = next
		return
	}
	t.moved(i, next, in.Time)
}

// moved records the new state of an item and rolls it up. The way up ends where nothing changes any more.
func (t *tx) moved(i int, next status.State, at belfry.Time) {
	for {
		d := &t.s.drafts[i]
		old := d.state.Status
		d.state = next
		t.rec.States = append(t.rec.States, belfry.StateChange{
			Item: d.node.ID, Status: next.Status, Since: next.Since, Info: next.Info,
		})
		t.events.alarm(d.node, at, next, old)
		if d.node.Parent == nil {
			return
		}
		i = t.s.draft(d.node.Parent)
		p := &t.s.drafts[i]
		p.counts[old]--
		p.counts[next.Status]++
		var up bool
		if next, up = status.Rollup(p.state, p.counts, at); !up {
			return
		}
	}
}

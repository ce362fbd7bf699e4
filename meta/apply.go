package meta

import (
	"fmt"

	"belfry"
)

// Apply makes the effects of a committed record visible. It is called for each record in order, from one goroutine.
// made are nodes of its new items, in their order, that become part of the tree; Apply makes the others itself.
func (t *Tree) Apply(r *belfry.Record, made ...*Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.history.releaseArchived()
	if err := t.applyDocs(r); err != nil {
		return err
	}
	for i := range r.Items {
		var ready *Node
		if len(made) > 0 && made[0].ID == r.Items[i].ID {
			ready, made = made[0], made[1:]
		}
		if err := t.applyItem(&r.Items[i], r.Pos, ready); err != nil {
			return err
		}
	}
	t.applyRest(r)
	return nil
}

func (t *Tree) applyDocs(r *belfry.Record) error {
	if len(r.Docs) == 0 {
		return nil
	}
	t.access.mu.Lock()
	defer t.access.mu.Unlock()
	for i := range r.Docs {
		if err := t.applyDoc(&r.Docs[i]); err != nil {
			return err
		}
	}
	t.documents.rebuildCatalog()
	return nil
}

// applyRest applies the states and rows of a record, after its items.
func (t *Tree) applyRest(r *belfry.Record) {
	for i := range r.States {
		t.applyState(&r.States[i], r.Pos)
	}
	for _, b := range r.Batches {
		t.applyBatch(b, r.Pos, r.Time)
	}
}

func (t *Tree) applyCustomer(d *belfry.Doc) error {
	var c belfry.Customer
	if d.Body == nil {
		return nil // the removal that comes with it says what is gone
	}
	if err := decodeDoc(d, &c); err != nil {
		return err
	}
	if t.access.isRemoved(c.ID) {
		return nil
	}
	t.access.setCustomer(c)
	if e := t.customers[c.ID]; e != nil {
		e.Listen = c.Listen
		return nil
	}
	e := NewTenant(c)
	e.docs = t.documents.docs(c.ID)
	e.NextRow = max(e.NextRow, t.nextRows[c.ID])
	t.customers[c.ID] = e
	return nil
}

// applyItem creates, changes or removes an item. Parents come before their content.
func (t *Tree) applyItem(it *belfry.Item, pos belfry.Position, ready *Node) error {
	if t.access.isRemoved(it.Customer) {
		t.reserve(it.ID)
		return nil
	}
	n := t.Node(it.ID)
	if n == nil {
		var err error
		if n, err = t.add(it, ready); err != nil {
			return err
		}
		it.Number = n.Number // for the database
		n.State.Pos = pos
		if it.Removed != 0 { // known for the sake of history alone
			n.Parent = t.Node(it.Parent)
			t.markRemoved(n, it.Removed)
			return nil
		}
		t.link(n, t.parentOf(n, it))
		t.addTexts(t.customers[n.Customer], DetailsSize(n.Details))
		return nil
	}
	it.Number = n.Number
	switch {
	case n.Removed != 0: // met again after a restart
	case it.Removed != 0:
		t.unlink(n)
		t.forgetTexts(n)
		t.markRemoved(n, it.Removed)
	case n.Parent != nil && n.Parent.ID != it.Parent:
		t.move(n, t.parentOf(n, it))
	}
	if n.Kind == belfry.KindView && n.Removed == 0 && n.Class.Name != it.Class {
		t.reclass(n, t.customers[n.Customer].class(t.Catalog(), it.Class))
	}
	if n.Removed == 0 {
		t.addTexts(t.customers[n.Customer], DetailsSize(it.Details)-DetailsSize(n.Details))
	}
	n.Details = it.Details
	return nil
}

// add makes the node of an item, unless it is given, without linking it.
func (t *Tree) add(it *belfry.Item, n *Node) (*Node, error) {
	e := t.customers[it.Customer]
	if e == nil {
		return nil, fmt.Errorf("item %d %q belongs to customer %d, which does not exist", it.ID, it.Name, it.Customer)
	}
	class := e.class(t.Catalog(), it.Class)
	if n == nil {
		n = NewNode(it, nil, nil, class)
	}
	n.Class = class
	if it.Resource != 0 && it.Kind != belfry.KindResource { // an element belongs to no resource
		if n.Resource = t.Node(it.Resource); n.Resource == nil || n.Resource.content == nil {
			n.Resource = t.placeholder(e, it)
		}
	}
	t.register(e, n)
	return n, nil
}

// register makes a node findable by its id.
func (t *Tree) register(e *Tenant, n *Node) {
	t.reserve(n.ID)
	t.nodes.Set(uint64(n.ID), n)
	if n.Kind == belfry.KindElement {
		return // not for queries
	}
	if n.Number == 0 || e.numbered.At(uint64(n.Number)) != nil { // new, or damage has given its number to another
		n.Number = e.highest + 1
	}
	e.highest = max(e.highest, n.Number)
	e.numbered.Set(uint64(n.Number), n)
}

// reserve makes sure that an id is not used again.
func (t *Tree) reserve(id belfry.ID) {
	t.lastID = max(t.lastID, id)
}

// parentOf finds the parent of an item. If the record that created the parent is lost, the item goes to its resource or to MAIN:
// one damaged record must not make other items unreachable.
func (t *Tree) parentOf(n *Node, it *belfry.Item) *Node {
	if p := t.Node(it.Parent); p != nil && p.content != nil && p.Removed == 0 {
		return p
	}
	if n.Resource != nil && n.Resource != n {
		return n.Resource
	}
	return t.customers[n.Customer].Main // nil for MAIN itself
}

// placeholder makes a substitute for a resource whose record is lost; its name says so.
func (t *Tree) placeholder(e *Tenant, content *belfry.Item) *Node {
	it := belfry.Item{
		ID: content.Resource, Customer: e.ID, Kind: belfry.KindResource, Created: content.Created,
		Name: fmt.Sprintf("recovered %d", content.Resource), Class: custom, Package: custom,
	}
	r := NewNode(&it, nil, nil, e.class(t.Catalog(), it.Class))
	t.register(e, r)
	t.link(r, e.Main)
	t.recovery.placeholders = append(t.recovery.placeholders, r.ID)
	return r
}

func (t *Tree) applyState(c *belfry.StateChange, pos belfry.Position) {
	n := t.Node(c.Item)
	if n == nil || n.State.Pos > pos {
		return
	}
	t.setStatus(n, c.Status)
	t.setOperatorState(n, c.Operator)
	n.State.State, n.State.Pos = c.State, pos
}

// setStatus sets a status and updates the index by status and the parent's counts.
func (t *Tree) setStatus(n *Node, s belfry.Status) {
	old := n.State.Status
	if old == s {
		return
	}
	n.State.Status = s
	if n.Removed != 0 {
		return
	}
	e := t.customers[n.Customer]
	swapOut(&e.status[old], n.stateAt, func(m *Node, at int32) { m.stateAt = at })
	e.status[s], n.stateAt = append(e.status[s], n), int32(len(e.status[s]))
	if n.Parent != nil {
		n.Parent.content.counts[old]--
		n.Parent.content.counts[s]++
	}
}

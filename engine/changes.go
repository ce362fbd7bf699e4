package engine

import (
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/engine/history"
	"belfry/meta"
)

// A change of configuration becomes an event and a row of the audit trail. Both are part of the record of the change, so neither is
// stored without the other. A turn in which rows change few items writes an event and a row for each. One that changes many
// writes lists, so that there are few events and no name is missing.
const fewChanges = 20

// Changed writes an event and a row of the audit trail about a change of configuration.
func (t *Tx) Changed(c audit.Change) {
	t.Event("configuration", "configuration", c.Info, t.By.Called())
	t.Audit(c)
}

// Audit adds a row to the audit trail, without an event.
func (t *Tx) Audit(c audit.Change) { t.audit.Add(t.By, c) }

// Audited adds a row to the audit trail for a change that is kept elsewhere than in records.
func (s *Sequencer) Audited(who Sender, c audit.Change) error {
	return s.Do(&Command{Customer: who.Customer, By: who.Actor(), Urgent: true, Decide: func(t *Tx) error {
		t.Audit(c)
		return nil
	}})
}

// definitionChanged is Changed for a class or a policy. of follows its name and the result in the text.
func (t *Tx) definitionChanged(kind, name, result, of string, before, after any) {
	t.Changed(audit.Change{
		Kind: kind, Name: name, Action: actionOf(result), Fields: audit.Differences(before, after),
		Info: kind + " " + name + " " + result + of + audit.DefinitionText(before, after),
	})
}

// actionOf returns the action for a result of setting a class, policy or picture.
func actionOf(result string) string {
	if result == resultUpdated {
		return audit.ActionChanged
	}
	return result
}

// ChangedOf is Changed in another customer; 0 is none. The source and type are those of the event.
func (t *Tx) ChangedOf(customer belfry.CustomerID, source, kind string, c audit.Change) {
	if e := t.seq.cfg.Tree.Tenant(customer); e != nil {
		t.writeInTenant(e, func(o *other) { o.changed(t, source, kind, c) })
	}
}

// other collects events and rows of the audit trail for another customer than that of the record.
type other struct {
	events history.Events
	audit  audit.Trail
}

func (o *other) changed(t *Tx, source, kind string, c audit.Change) {
	o.events.Note(t.Now, source, kind, c.Info, t.By.Called())
	o.audit.Add(t.By, c)
}

// eachTenant adds events and rows of the audit trail to every customer, in one record.
func (t *Tx) eachTenant(f func(*meta.Tenant, *other)) {
	for _, c := range t.seq.cfg.Tree.Access().Customers() {
		e := t.seq.cfg.Tree.Tenant(c.ID)
		t.writeInTenant(e, func(o *other) { f(e, o) })
	}
}

// writeInTenant adds events and rows of the audit trail to another customer than that of the record.
func (t *Tx) writeInTenant(e *meta.Tenant, f func(*other)) {
	var o other
	f(&o)
	for _, b := range []*belfry.Batch{o.events.Batch(), o.audit.Batch(t.Now)} {
		if b != nil {
			b.Customer, b.FirstID = e.ID, t.s.rowIDs(e, b.Len())
			t.rec.Batches = append(t.rec.Batches, b)
		}
	}
}

// changed notes a change for the events at the end of the turn.
func (t *Tx) changed(c audit.ItemChange) {
	c.By = t.By
	t.changes = append(t.changes, c)
}

// created notes a new item.
func (t *Tx) created(n *meta.Node) {
	t.changed(audit.ItemChange{Node: n, Action: audit.ActionCreated})
}

// updated notes the change of an item, before it is applied. A nil view and an empty class mean no change.
func (t *Tx) updated(n, to *meta.Node, class string, before, after *belfry.Details) {
	var moved, reclassed audit.FromTo
	if to != nil {
		moved = audit.FromTo{From: t.Parent(n).Name, To: to.Name}
	}
	if was := t.Current(n).Class; class != "" && class != was {
		reclassed = audit.FromTo{From: was, To: class}
	}
	t.changed(audit.Updated(n, t.packageOf(n), moved, reclassed, before, after))
}

// fieldsOf lists the fields that a change of an item sets. An item that was removed with another has none.
func (t *Tx) fieldsOf(c *audit.ItemChange) []audit.Field {
	n := c.Node
	switch {
	case n == nil:
	case c.Action == audit.ActionCreated:
		return audit.NewFields(n, t.packageOf(n), n.Class.Name, n.Package, n.Details)
	case c.Action == audit.ActionRemoved && !c.Inside:
		it := t.Current(n)
		return audit.RemovedFields(n, t.packageOf(n), it.Class, it.Package, it.Details)
	}
	return c.Fields
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
	var first history.Events
	list := t.changes
	defer t.s.keepRoom(list[:0])
	if audit.Alone(list) <= fewChanges {
		list = slices.DeleteFunc(list, func(c audit.ItemChange) bool {
			if c.Inside {
				return false
			}
			if c.Action == audit.ActionCreated && c.Node != nil {
				c.DescribeNew(t.packageOf(c.Node))
			}
			first.Note(t.Now, "configuration", "configuration", c.Text(), c.By.Called())
			t.auditItem(&c)
			return true
		})
	}
	t.auditItems(list)
	inOrder := func(a, b audit.ItemChange) int { return a.Compare(&b) }
	if !slices.IsSortedFunc(list, inOrder) { // rows of several senders may have come in one turn
		slices.SortStableFunc(list, inOrder)
	}
	for len(list) > 0 {
		text, n := audit.ListText(list)
		t.Event("configuration", "configuration", text, list[0].By.Called())
		list = list[n:]
	}
	t.changes = nil
	if first.Len() > 0 {
		t.events.Prepend(&first)
	}
	return first.Len()
}

// auditItem adds a row about one item or inferred class that rows have changed.
func (t *Tx) auditItem(c *audit.ItemChange) {
	change := audit.Change{Kind: belfry.DocClass, Name: c.Class, Action: c.Action, Fields: t.fieldsOf(c), Info: c.Text()}
	if n := c.Node; n != nil {
		change.Kind, change.Name = n.Kind.String(), n.Name
		change.Resource, change.View = t.whereIs(n)
	}
	t.audit.Add(c.By, change)
}

// auditItems adds rows about many items.
func (t *Tx) auditItems(list []audit.ItemChange) {
	rows := audit.NewLists(&t.audit)
	for i := range list {
		c := &list[i]
		var fields []audit.Field
		if !c.IsPlain() {
			fields = t.fieldsOf(c)
		}
		rows.Add(c, fields)
	}
	rows.Flush()
}

// whereIs names the resource of an item, when that is not the item itself, and the view it is in.
func (t *Tx) whereIs(n *meta.Node) (resource, view string) {
	if n.Resource != nil && n.Resource != n {
		resource = n.Resource.Name
	}
	if p := t.Parent(n); p != nil {
		view = p.Name
	}
	return resource, view
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
		t.By = d.by
		t.changed(audit.Inferred(d.was, t.Find().Class(d.name).Def))
	}
	t.defined = nil
}

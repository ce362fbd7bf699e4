package engine

import (
	"cmp"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// Tx gathers what one command changes. Its record is the command's whole effect.
type Tx struct {
	seq        *Sequencer
	s          *scratch
	Tenant     *meta.Tenant // nil for what concerns the instance
	Now        belfry.Time
	rec        belfry.Record
	items      map[belfry.ID]int // where the last change of an item stands in the record
	docs       map[docName]int   // where a document stands in the record
	events     events
	lastReason alarmReason
	untold     map[belfry.ID]int // manage events that wait for what their items show, see manageEvent
	history    history
	rise       *rise         // set while views wait to add up
	left       int           // about how many more items may be changed for the sake of others in this record
	By         string        // who sends the row at hand, or removes items
	changes    []itemChange  // of the configuration, which events will tell
	defined    []classChange // the same of classes, by rows
	most       int           // events after which rows wait for another turn; 0: none do
	turns      bool          // open rows wait, too, when there are many
	opened     int           // open rows that have been decided

	Limited bool         // to what stands in roots
	roots   []*meta.Node // see limit
}

func (s *Sequencer) begin(c belfry.CustomerID) *Tx {
	now := s.Now()
	return &Tx{
		seq: s, s: &s.scratch, Tenant: s.cfg.Tree.Tenant(c), Now: now,
		rec: belfry.Record{Time: now, Customer: c}, left: s.turn, changes: s.scratch.changes[:0],
	}
}

// record finishes the tx; nil when it changed nothing.
func (t *Tx) record() *belfry.Record {
	before := t.tellChanges()
	if b := t.events.batch(); b != nil {
		t.rec.Batches = append(t.rec.Batches, b)
	}
	t.encodeClasses()
	r := &t.rec
	if len(r.Batches)+len(r.Items)+len(r.States)+len(r.Docs) == 0 && r.Answer == nil {
		return nil
	}
	for _, b := range r.Batches {
		if b.Customer != 0 {
			continue // of another customer, see eachEstate
		}
		b.Customer = t.rec.Customer
		b.FirstID = t.s.rowIDs(t.Tenant, b.Len())
	}
	t.finishHistory(before)
	return r
}

// finishHistory adds what no alarm tells, once the events of the command have their ids. So many of them were put before the others.
func (t *Tx) finishHistory(before int) {
	if len(t.history.times) == 0 {
		return
	}
	events := belfry.RowID(0)
	for _, b := range t.rec.Batches {
		if b.Collection == belfry.Events && b.Customer == t.rec.Customer {
			events = b.FirstID
		}
	}
	first := t.s.rowIDs(t.Tenant, len(t.history.times))
	if events == 0 {
		events = first
	}
	b := t.history.batch(events + belfry.RowID(before))
	b.Customer, b.FirstID = t.rec.Customer, first
	t.rec.Batches = append(t.rec.Batches, b)
}

// AddBatch adds rows to the record. Their ids and customer are set when it is complete.
func (t *Tx) AddBatch(b *belfry.Batch) { t.rec.Batches = append(t.rec.Batches, b) }

// Creates reports whether the round has made items.
func (t *Tx) Creates() bool { return len(t.s.made) > 0 }

// Gone reports whether the round has removed an item.
func (t *Tx) Gone(n *meta.Node) bool { return t.s.gone[n.ID] }

// TakeReceiver counts a receiver that the transaction makes, unless the customer, who had so many before the round, has most by now.
func (t *Tx) TakeReceiver(had, most int) bool {
	if had+t.s.listenN[t.Tenant.ID] >= most {
		return false
	}
	t.s.listenN[t.Tenant.ID]++
	return true
}

// Expect makes room for the effects of rows that mostly create something, each an item and so many parts of it: growing little
// by little would copy them all several times over.
func (t *Tx) Expect(rows, parts int) {
	rows = t.openNow(rows)
	t.rec.Items = slices.Grow(t.rec.Items, rows*(1+parts))
	t.rec.States = slices.Grow(t.rec.States, rows)
	t.s.made = slices.Grow(t.s.made, rows)
	t.s.drafts = slices.Grow(t.s.drafts, rows)
	t.events.grow(rows)
}

// Create makes an item that stands in parent, and events will tell of it.
func (t *Tx) Create(k belfry.Kind, name string, parent, resource *meta.Node, class *meta.Class, pkg string, d *belfry.Details) *meta.Node {
	n := t.create(k, name, parent, resource, class, pkg, d)
	t.created(n)
	return n
}

// CreatePart makes an object that comes with its resource; no event tells of it.
func (t *Tx) CreatePart(resource *meta.Node, name string, class *meta.Class) {
	t.create(belfry.KindObject, name, resource, resource, class, "", nil)
}

// create makes an item that stands in parent.
func (t *Tx) create(k belfry.Kind, name string, parent, resource *meta.Node, class *meta.Class, pkg string, d *belfry.Details) *meta.Node {
	t.keepInside(parent)
	t.s.lastID++
	it := belfry.Item{
		ID: t.s.lastID, Customer: t.Tenant.ID, Kind: k, Name: name, Class: class.Name, Package: pkg,
		Created: t.Now, Details: d,
	}
	if parent != nil {
		it.Parent = parent.ID
	}
	n := meta.NewNode(&it, parent, resource, class)
	if n.Resource != nil {
		it.Resource = n.Resource.ID
	}
	t.rec.Items = append(t.rec.Items, it)
	t.s.items[slotOf(n)] = n
	t.s.made = append(t.s.made, n)
	t.s.growth.add(it.Customer, meta.ItemSize(k, name, pkg)+class.MarksSize())
	if k == belfry.KindObject {
		t.s.objectN[it.Customer]++
	} else {
		t.s.placeN[it.Customer]++
	}
	if k == belfry.KindElement {
		return n // has no status to count
	}
	if parent != nil {
		t.s.drafts[t.s.draft(parent)].counts[belfry.Unknown]++
		t.inherit(n)
	}
	if t.s.policed && k == belfry.KindObject {
		t.hush(n)
	}
	return n
}

// Current is an item as the round has it so far.
func (t *Tx) Current(n *meta.Node) belfry.Item {
	if it, ok := t.s.changed[n.ID]; ok {
		return it
	}
	return n.Item()
}

// set replaces what is known about an item. An item that moves gets another entry in the record: the view it moves to
// may have been made after it.
func (t *Tx) set(it belfry.Item) {
	t.s.changed[it.ID] = it
	if i, ok := t.items[it.ID]; ok && t.rec.Items[i].Parent == it.Parent && it.Removed == 0 {
		t.rec.Items[i] = it
		return
	}
	if t.items == nil {
		t.items = map[belfry.ID]int{}
	}
	t.items[it.ID] = len(t.rec.Items)
	t.rec.Items = append(t.rec.Items, it)
}

// Details are those of an item as the round has them so far.
func (t *Tx) Details(n *meta.Node) belfry.Details {
	d := n.Details
	if it, ok := t.s.changed[n.ID]; ok {
		d = it.Details
	}
	if d == nil {
		return belfry.Details{}
	}
	return *d
}

// change replaces the details of an item.
func (t *Tx) change(n *meta.Node, d *belfry.Details) {
	it := t.Current(n)
	it.Details = d
	t.set(it)
}

// Change puts an item into another view, gives it another class or other details, and events will tell of it. A nil place, an
// empty class and nil details stay.
func (t *Tx) Change(n, to *meta.Node, class string, d *belfry.Details) {
	before, it := t.Details(n), t.Current(n)
	after := cmp.Or(d, &before)
	t.updated(n, to, class, &before, after)
	if reclassed := class != "" && class != it.Class; reclassed || d != nil {
		if reclassed {
			it.Class = class
		}
		if d != nil {
			it.Details = d
		}
		t.set(it)
	}
	if to != nil {
		t.move(n, to)
	}
}

// Parent is the view in which an item stands.
func (t *Tx) Parent(n *meta.Node) *meta.Node {
	if p, ok := t.s.parents[n.ID]; ok {
		return p
	}
	return n.Parent
}

// move puts an item into another view; both views show from then on what stands in them.
func (t *Tx) move(n, to *meta.Node) {
	t.keepInside(t.Parent(n))
	t.keepInside(to)
	from, settled := t.Parent(n), t.resettle(n)
	it := t.Current(n)
	it.Parent = to.ID
	t.set(it)
	t.s.parents[n.ID] = to
	clear(t.s.regimes)
	if n.Kind != belfry.KindElement {
		t.Together(func() {
			s := t.s.drafts[t.s.draft(n)].state.Status
			t.recount(from, n, s, -1)
			t.recount(to, n, s, 1)
			t.finishLater(t.cover(covering{at: t.Now, top: n, moved: true}))
			settled()
		})
	}
}

// Remove takes an item away with all that stands in it. Only the view around it shows the difference: what goes with
// the item does not recover first. The command must have its round to itself, so that nothing has come in unseen.
func (t *Tx) Remove(n *meta.Node) {
	t.keepInside(t.Parent(n))
	from := len(t.changes)
	t.bury(n, false)
	t.removed(from)
	if n.Kind != belfry.KindElement {
		t.recount(t.Parent(n), n, t.s.drafts[t.s.draft(n)].state.Status, -1)
	}
}

// TryRemove lets an item count as removed for the rest of the round, and what stands in it if that is wanted.
func (t *Tx) TryRemove(n *meta.Node, inside bool) {
	if inside {
		t.bury(n, true)
	}
	t.s.gone[n.ID] = true
}

// bury makes items count as gone for the rest of the round, and unless it is a trial, puts that into the record and notes it.
func (t *Tx) bury(n *meta.Node, trial bool) {
	n.Children(func(c *meta.Node) bool {
		if !t.s.gone[c.ID] {
			t.bury(c, trial)
		}
		return true
	})
	n.Elements(func(c *meta.Node) {
		if !t.s.gone[c.ID] {
			t.bury(c, trial)
		}
	})
	t.s.gone[n.ID] = true
	t.s.items[slotOf(n)] = nil
	if trial {
		return
	}
	it := t.Current(n)
	it.Removed = t.Now
	t.set(it)
	t.changed(itemChange{node: n, what: "removed"})
	if n.Kind == belfry.KindObject {
		t.s.objectN[n.Customer]--
	} else {
		t.s.placeN[n.Customer]--
	}
	if t.s.policed {
		t.buryPolicies(n)
	}
}

// recount changes how many items of a status stand in a view, because n has come or gone, and lets what follows from it rise.
func (t *Tx) recount(view, n *meta.Node, s belfry.Status, by int32) {
	i := t.s.draft(view)
	t.s.drafts[i].counts[s] += by
	if by > 0 {
		s = belfry.Unknown // it had shown nothing here
	}
	t.begin()
	t.showed(i, n, s)
	t.addUp(i, t.Now)
}

// addUp lets a view show what follows from its content.
func (t *Tx) addUp(i int, at belfry.Time) {
	if t.rise != nil {
		t.later(t.s.drafts[i].node, at)
		return
	}
	t.addUpNow(i, at)
}

func (t *Tx) addUpNow(i int, at belfry.Time) {
	d := &t.s.drafts[i]
	next, c := status.AddUp(d.state, d.counts, t.rules(d.node), at, t.Now)
	t.take(i, next, c, at)
}

// Define sets the definition of a class, in the record and for the rest of the round.
func (t *Tx) Define(def *catalog.Class) *meta.Class {
	at := slot{t.Tenant.ID, 0, classSlot, def.Name}
	if def.Inferred {
		t.noteClass(def)
	}
	c := t.s.classes[at]
	if c == nil {
		c = &meta.Class{Name: def.Name}
		t.s.classes[at] = c
	}
	c.Def = def
	t.Document(belfry.Doc{Kind: belfry.DocClass, Customer: t.Tenant.ID, Name: def.Name, Value: def})
	return c
}

// encodeClasses gives class documents their bodies. It runs once per record, because the rows of a body define an
// inferred class again with every indicator they add to it. The definitions are not read back from them: that takes milliseconds in the
// sequencer, and catalog.FuzzClass shows that a restart reads the same.
func (t *Tx) encodeClasses() {
	for i := range t.rec.Docs {
		d := &t.rec.Docs[i]
		def, ok := d.Value.(*catalog.Class)
		if !ok || d.Body != nil {
			continue
		}
		var err error
		if d.Body, err = def.MarshalJSON(); err != nil {
			panic(err) // a class holds nothing that JSON cannot express
		}
	}
}

// docName identifies a document.
type docName struct {
	kind     string
	customer belfry.CustomerID
	name     string
}

// Document sets a piece of configuration; a later one of the same name takes the place of an earlier one.
func (t *Tx) Document(d belfry.Doc) {
	name := docName{d.Kind, d.Customer, d.Name}
	if i, ok := t.docs[name]; ok {
		t.rec.Docs[i] = d
		return
	}
	if t.docs == nil {
		t.docs = map[docName]int{}
	}
	t.docs[name] = len(t.rec.Docs)
	t.rec.Docs = append(t.rec.Docs, d)
}

// Input lets something happen to an object, and lets what follows from it rise to MAIN.
func (t *Tx) Input(n *meta.Node, in status.Input) {
	i := t.s.draft(n)
	in.Now = t.Now
	d := &t.s.drafts[i]
	d.fresh = true
	rules := t.rules(n)
	if some, ok := in.Values.(interface {
		Possible(*status.Rules) *status.Rules
	}); ok && len(d.state.Marks) == 0 {
		rules = some.Possible(rules)
	}
	next, c := status.Next(d.state, in, rules)
	if next.LastSeen < d.state.LastSeen { // it is due earlier than thought
		t.s.wake = append(t.s.wake, n)
	}
	t.begin()
	t.take(i, next, c, in.Time)
}

// take makes a standing that of an item, and rolls it up. The way up ends where nothing changes any more.
func (t *Tx) take(i int, next belfry.State, c status.Change, at belfry.Time) {
	for {
		d := &t.s.drafts[i]
		node, prev := d.node, d.state
		d.state = next
		if !c.Kept {
			return
		}
		t.keep(node, next)
		t.tell(node, next, c, at, "")
		t.remember(node, &prev, &next, c.Alarm, at)
		parent := t.Parent(node)
		if !c.Moved || parent == nil {
			return
		}
		i = t.s.draft(parent)
		p := &t.s.drafts[i]
		p.counts[c.From]--
		p.counts[next.Status]++
		t.showed(i, node, c.From)
		if t.rise != nil {
			t.later(parent, at)
			return
		}
		next, c = status.AddUp(p.state, p.counts, t.rules(parent), at, t.Now)
	}
}

// keep puts the standing of an item into the record, in the place of an earlier one that the record has of it.
func (t *Tx) keep(n *meta.Node, s belfry.State) {
	d := &t.s.drafts[t.s.draft(n)]
	if d.in == &t.rec {
		c := &t.rec.States[d.at]
		c.Differs = c.Differs || s.LooksDifferent(&c.State)
		c.State = s
		return
	}
	before := &n.State.State
	if d.in != nil { // an earlier record of the round
		before = &d.in.States[d.at].State
	}
	c := belfry.StateChange{Item: n.ID, State: s, Was: before.Status, Differs: s.LooksDifferent(before)}
	d.in, d.at = &t.rec, len(t.rec.States)
	t.rec.States = append(t.rec.States, c)
}

// tell writes the events of a step.
func (t *Tx) tell(n *meta.Node, s belfry.State, c status.Change, at belfry.Time, by string) {
	if c.Alarm {
		if i, ok := t.untold[n.ID]; ok && c.Moved {
			t.events.status[i] = int64(c.From)
			delete(t.untold, n.ID)
		}
		why := t.why(n, &s, c.From)
		if n.Kind == belfry.KindObject && why == "" && c.Recovered(&s) {
			why = cmp.Or(c.Ended, s.StatusName())
		}
		t.events.alarm(n, at, s.Status, c.From, why)
	}
	if c.Cleared != "" {
		t.events.about(n, at, "acknowledge", s, "acknowledgment ended: "+c.Cleared, by)
	}
}

package engine

import (
	"cmp"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/engine/history"
	"belfry/meta"
	"belfry/status"
)

// Tx collects the changes of one command. Its record is the command's whole effect.
type Tx struct {
	seq           *Sequencer
	s             *scratch
	Tenant        *meta.Tenant // nil for what concerns the instance
	Now           belfry.Time
	rec           *belfry.Record    // outlives the transaction
	items         map[belfry.ID]int // index in the record of the last change of an item
	docs          map[docName]int   // index of a document
	events        history.Events
	lastReason    alarmReason
	pendingManage map[belfry.ID]int // manage events whose status is not final yet, see manageEvent
	history       history.Changes
	rollups       *rollupQueue  // non-nil while roll-ups are deferred
	itemsLeft     int           // budget of items that may still be changed as a consequence in this record
	By            *belfry.Actor // sender of the current row, or of the change
	audit         audit.Trail
	changes       []audit.ItemChange // of the configuration, to become events
	defined       []classChange      // of classes, by rows
	maxEvents     int                // events after which rows wait for another turn; 0: none do
	inTurns       bool               // undecided rows wait, too, when there are many
	undecidedDone int                // undecided rows that have been decided

	Limited bool         // to the content of roots
	roots   []*meta.Node // see limit
}

// begin begins the transaction of a command. It is valid until the next one begins.
func (s *Sequencer) begin(c belfry.CustomerID) *Tx {
	now := s.Now()
	s.scratch.tx = Tx{
		seq: s, s: &s.scratch, Tenant: s.cfg.Tree.Tenant(c), Now: now,
		rec: &belfry.Record{Time: now, Customer: c}, itemsLeft: s.turn, changes: s.scratch.changes[:0],
	}
	return &s.scratch.tx
}

// record completes the record; nil if nothing changed.
func (t *Tx) record() *belfry.Record {
	before := t.emitChanges()
	if b := t.events.Batch(); b != nil {
		t.rec.Batches = append(t.rec.Batches, b)
	}
	if b := t.audit.Batch(t.Now); b != nil {
		t.rec.Batches = append(t.rec.Batches, b)
	}
	t.encodeClasses()
	r := t.rec
	if len(r.Batches)+len(r.Items)+len(r.States)+len(r.Docs) == 0 && r.Answer == nil {
		return nil
	}
	for _, b := range r.Batches {
		if b.Customer != 0 {
			continue // of another customer
		}
		b.Customer = t.rec.Customer
		b.FirstID = t.s.rowIDs(t.Tenant, b.Len())
	}
	t.finishHistory(before)
	return r
}

// finishHistory adds the changes that no alarm reports, once the events of the command have their ids; before is the number
// of events inserted ahead of the others.
func (t *Tx) finishHistory(before int) {
	if t.history.Len() == 0 {
		return
	}
	events := belfry.RowID(0)
	for _, b := range t.rec.Batches {
		if b.Collection == belfry.Events && b.Customer == t.rec.Customer {
			events = b.FirstID
		}
	}
	first := t.s.rowIDs(t.Tenant, t.history.Len())
	if events == 0 {
		events = first
	}
	b := t.history.Batch(events + belfry.RowID(before))
	b.Customer, b.FirstID = t.rec.Customer, first
	t.rec.Batches = append(t.rec.Batches, b)
}

// AddBatch adds rows to the record. Their ids and customer are set when the record is complete.
func (t *Tx) AddBatch(b *belfry.Batch) { t.rec.Batches = append(t.rec.Batches, b) }

// RoundCreated reports whether the round has created items.
func (t *Tx) RoundCreated() bool { return len(t.s.made) > 0 }

// RemovedInRound reports whether the round has removed an item.
func (t *Tx) RemovedInRound(n *meta.Node) bool { return t.s.gone[n.ID] }

// Create creates an item in parent and an event for it.
func (t *Tx) Create(k belfry.Kind, name string, parent, resource *meta.Node, class *meta.Class, pkg string, d *belfry.Details) *meta.Node {
	n := t.create(k, name, parent, resource, class, pkg, d)
	t.created(n)
	return n
}

// CreatePart creates an object that belongs to its resource, without an event.
func (t *Tx) CreatePart(resource *meta.Node, name string, class *meta.Class) {
	t.create(belfry.KindObject, name, resource, resource, class, "", nil)
}

// create creates an item in parent.
func (t *Tx) create(k belfry.Kind, name string, parent, resource *meta.Node, class *meta.Class, pkg string, d *belfry.Details) *meta.Node {
	t.requireInScope(parent)
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
	t.s.items[nameKeyOf(n)] = n
	t.s.made = append(t.s.made, n)
	t.s.growth.add(it.Customer, meta.ItemSize(k, name, pkg)+class.MarksSize())
	if k == belfry.KindObject {
		t.s.objectN[it.Customer]++
	} else {
		t.s.placeN[it.Customer]++
	}
	if k == belfry.KindElement {
		return n // elements have no status
	}
	if parent != nil {
		t.s.drafts[t.s.draft(parent)].counts[belfry.Unknown]++
		t.inheritMode(n)
	}
	if t.s.policed && k == belfry.KindObject {
		t.muteIfOffHours(n)
	}
	return n
}

// Current returns an item as of this round.
func (t *Tx) Current(n *meta.Node) belfry.Item {
	if it, ok := t.s.changed[n.ID]; ok {
		return it
	}
	return n.Item()
}

// set replaces an item in the record. An item that moves gets another entry: the view it moves to may have been created
// after its first one.
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

// Details returns the details of an item as of this round.
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

// Change moves an item to another view, or changes its class or details, and writes events for that. A nil view, an empty
// class and nil details mean no change.
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

// Parent returns the view an item is in, as of this round.
func (t *Tx) Parent(n *meta.Node) *meta.Node {
	if p, ok := t.s.parents[n.ID]; ok {
		return p
	}
	return n.Parent
}

// move puts an item into another view and rolls both views up.
func (t *Tx) move(n, to *meta.Node) {
	t.requireInScope(t.Parent(n))
	t.requireInScope(to)
	from, settled := t.Parent(n), t.reevaluateMoved(n)
	it := t.Current(n)
	it.Parent = to.ID
	t.set(it)
	t.s.parents[n.ID] = to
	clear(t.s.scopes)
	if n.Kind != belfry.KindElement {
		t.DeferRollup(func() {
			s := t.s.drafts[t.s.draft(n)].state.Status
			t.recount(from, n, s, -1)
			t.recount(to, n, s, 1)
			t.deferRest(t.applyMode(modeChange{at: t.Now, top: n, moved: true}))
			settled()
		})
	}
}

// Remove removes an item with everything inside it. Only its parent is rolled up: items that go with it do not recover
// first. The command must be alone in its round, so that the tree shows all values.
func (t *Tx) Remove(n *meta.Node) {
	t.requireInScope(t.Parent(n))
	from := len(t.changes)
	t.removeAll(n, false)
	audit.RemovedTogether(t.changes[from:])
	if n.Kind != belfry.KindElement {
		t.recount(t.Parent(n), n, t.s.drafts[t.s.draft(n)].state.Status, -1)
	}
}

// TryRemove treats an item, and on request its content, as removed for the rest of the round.
func (t *Tx) TryRemove(n *meta.Node, inside bool) {
	if inside {
		t.removeAll(n, true)
	}
	t.s.gone[n.ID] = true
}

// removeAll treats an item and its content as removed for the rest of the round and, unless it is a trial, records it.
func (t *Tx) removeAll(n *meta.Node, trial bool) {
	n.Children(func(c *meta.Node) bool {
		if !t.s.gone[c.ID] {
			t.removeAll(c, trial)
		}
		return true
	})
	n.Elements(func(c *meta.Node) {
		if !t.s.gone[c.ID] {
			t.removeAll(c, trial)
		}
	})
	t.s.gone[n.ID] = true
	t.s.items[nameKeyOf(n)] = nil
	if trial {
		return
	}
	it := t.Current(n)
	it.Removed = t.Now
	t.set(it)
	t.changed(audit.ItemChange{Node: n, Action: audit.ActionRemoved})
	if n.Kind == belfry.KindObject {
		t.s.objectN[n.Customer]--
	} else {
		t.s.placeN[n.Customer]--
	}
	if t.s.policed {
		t.removePolicies(n)
	}
}

// recount adjusts the status counts of a view because n has come or gone, and rolls the view up.
func (t *Tx) recount(view, n *meta.Node, s belfry.Status, by int32) {
	i := t.s.draft(view)
	t.s.drafts[i].counts[s] += by
	if by > 0 {
		s = belfry.Unknown // it had shown nothing here
	}
	t.resetCauses()
	t.noteChanged(i, n, s)
	t.rollUp(i, t.Now)
}

// rollUp sets the status of a view from its content, now or when the deferred roll-ups run.
func (t *Tx) rollUp(i int, at belfry.Time) {
	if t.rollups != nil {
		t.enqueueRollup(t.s.drafts[i].node, at)
		return
	}
	t.rollUpNow(i, at)
}

func (t *Tx) rollUpNow(i int, at belfry.Time) {
	d := &t.s.drafts[i]
	next, c := status.AddUp(d.state, d.counts, t.rules(d.node), at, t.Now)
	t.apply(i, next, c, at)
}

// Define sets the definition of a class in the record and for the rest of the round.
func (t *Tx) Define(def *catalog.Class) *meta.Class {
	at := nameKey{t.Tenant.ID, 0, className, def.Name}
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

// encodeClasses encodes class documents. It runs once per record, because rows define an inferred class again with every
// indicator they add to it. The result is not decoded to check it: that takes milliseconds in the sequencer, and
// catalog.FuzzClass shows that a restart reads the same definition.
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

// Document adds a configuration document to the record; a later one of the same name replaces an earlier one.
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

// Input applies one input to an object and rolls the result up to MAIN.
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
	if next.LastSeen < d.state.LastSeen { // its deadline has moved forward
		t.s.wake = append(t.s.wake, n)
	}
	t.resetCauses()
	t.apply(i, next, c, in.Time)
}

// apply sets the state of an item and rolls it up, stopping at the first ancestor that does not change.
func (t *Tx) apply(i int, next belfry.State, c status.Change, at belfry.Time) {
	for {
		d := &t.s.drafts[i]
		node, prev := d.node, d.state
		d.state = next
		if !c.Kept {
			return
		}
		t.recordState(node, next)
		t.emitEvents(node, next, c, at, "")
		t.recordHistory(node, &prev, &next, c.Alarm, at)
		parent := t.Parent(node)
		if !c.Moved || parent == nil {
			return
		}
		i = t.s.draft(parent)
		p := &t.s.drafts[i]
		p.counts[c.From]--
		p.counts[next.Status]++
		t.noteChanged(i, node, c.From)
		if t.rollups != nil {
			t.enqueueRollup(parent, at)
			return
		}
		next, c = status.AddUp(p.state, p.counts, t.rules(parent), at, t.Now)
	}
}

// recordState puts the state of an item into the record, replacing an earlier one of the same record.
func (t *Tx) recordState(n *meta.Node, s belfry.State) {
	d := &t.s.drafts[t.s.draft(n)]
	if d.in == t.rec {
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
	d.in, d.at = t.rec, len(t.rec.States)
	t.rec.States = append(t.rec.States, c)
}

// emitEvents writes the events of a state change.
func (t *Tx) emitEvents(n *meta.Node, s belfry.State, c status.Change, at belfry.Time, by string) {
	if c.Alarm {
		if i, ok := t.pendingManage[n.ID]; ok && c.Moved {
			t.events.SetStatus(i, c.From)
			delete(t.pendingManage, n.ID)
		}
		why := t.alarmText(n, &s, c.From)
		if n.Kind == belfry.KindObject && why == "" && c.Recovered(&s) {
			why = cmp.Or(c.Ended, s.StatusName())
		}
		t.events.Alarm(n, at, s.Status, c.From, why)
	}
	if c.Cleared != "" {
		t.events.About(n, at, "acknowledge", s, "acknowledgment ended: "+c.Cleared, by)
	}
}

// recordHistory records the changes of a state that no alarm reports. It is called after the alarm, if there is one.
func (t *Tx) recordHistory(n *meta.Node, prev, next *belfry.State, alarm bool, at belfry.Time) {
	if f := status.SilentChanges(prev, next, alarm, at); f != 0 {
		t.history.Add(n.ID, next, f, at, t.events.Len())
	}
}

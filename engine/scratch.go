package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// scratch holds what the commands of a round have decided and nobody may see yet. It lies over the tree: a look-up asks
// it first. When the round is committed the records carry the same content to the tree; when it is not, forgetting the
// scratch undoes everything.
type scratch struct {
	drafts []draft
	index  meta.Sparse[uint32] // by item ID: 1 + place in drafts, 0 when the item has not been touched

	lastID  belfry.ID
	nextRow map[belfry.CustomerID]belfry.RowID
	items   map[slot]*meta.Node   // created in this round; nil where one was removed
	made    []*meta.Node          // the same in the order of creation
	named   map[slot][]*meta.Node // objects among the first namedTo of them, by name in the whole customer
	namedTo int
	objectN map[belfry.CustomerID]int
	placeN  map[belfry.CustomerID]int   // resources, views and elements, the same
	texts   map[belfry.CustomerID]int64 // by how much the round lets texts grow, see tx.takeTexts
	grown   int64                       // the same of all customers
	growth  itemGrowth
	listenN map[belfry.CustomerID]int // receivers, the same
	classes map[slot]*meta.Class      // made or changed in this round
	changed map[belfry.ID]belfry.Item // the last word on items that were changed, moved or removed
	parents map[belfry.ID]*meta.Node  // of items that were moved
	gone    map[belfry.ID]bool        // removed in this round

	policed  bool                         // there are policies
	policies map[belfry.ID][]*meta.Policy // on items about which the round says something else than the tree
	regimes  map[belfry.ID]*regime        // as the round has them, see tx.regime
	unseen   []*meta.Node                 // to be judged when their newest values have been seen

	marked bool        // something is to be reassessed that the tree does not know of yet
	left   []unsettled // by windows and moves, to be finished when the round is committed

	moment uint32 // counts what happens, see tx.begin

	changes []itemChange // room for those of the next turn

	wake []*meta.Node // to find out anew when they are due, beside those whose state is set

	buffer   []byte
	payloads [][]byte
}

// draft is the state of an item as the round has it so far.
type draft struct {
	node   *meta.Node
	state  belfry.State
	counts status.Counts // of a view or resource
	fresh  bool          // something has happened to the object in this round
	moved  *meta.Node    // of what stands in a view, the last that has shown something else
	left   *meta.Node    // of what has shown something else at one moment, what had shown the worst
	worst  belfry.Status // that it had shown
	moment uint32        // which one, see tx.begin
	cause  *meta.Node    // what the last alarm of a view named as the reason

	in *belfry.Record // the last one that has its state
	at int            // where among the states of that record
}

// slot names a place where an item can stand: in a customer (resource 0) or in a resource.
type slot struct {
	customer belfry.CustomerID
	resource belfry.ID
	kind     slotKind
	name     string
}

type slotKind uint8

const (
	placeSlot  slotKind = iota // views and resources at customer level
	viewSlot                   // views inside a resource
	objectSlot                 // objects
	classSlot
	elementSlot // graphical elements; the package stands before the name
)

func (s *scratch) reset(t *meta.Tree) {
	for i := range s.drafts {
		s.index.Set(uint64(s.drafts[i].node.ID), 0)
	}
	clear(s.drafts)
	s.drafts = s.drafts[:0]
	s.lastID = t.LastID()
	empty(&s.nextRow)
	empty(&s.items)
	empty(&s.named)
	empty(&s.objectN)
	empty(&s.placeN)
	empty(&s.texts)
	empty(&s.listenN)
	empty(&s.classes)
	empty(&s.changed)
	empty(&s.parents)
	empty(&s.gone)
	empty(&s.policies)
	empty(&s.regimes)
	s.marked, s.left = false, nil
	s.grown = 0
	s.growth.reset()
	s.made, s.namedTo, s.wake, s.unseen, s.policed = nil, 0, nil, nil, t.Policed() > 0
}

// keepRoom keeps the room of changes that have been told for the next ones.
func (s *scratch) keepRoom(told []itemChange) {
	const large = 1024
	if cap(told) > large {
		told = nil
	}
	clear(told[:cap(told)])
	s.changes = told[:0]
}

// empty makes a map empty. One that was large is let go: emptying it would cost every small round after it.
func empty[K comparable, V any](m *map[K]V) {
	const large = 1024
	if *m == nil || len(*m) > large {
		*m = map[K]V{}
		return
	}
	clear(*m)
}

// draft gives the place of an item's draft; it is made when the round first touches the item.
func (s *scratch) draft(n *meta.Node) int {
	if i := s.index.At(uint64(n.ID)); i != 0 {
		return int(i - 1)
	}
	d := draft{node: n, state: n.State.State}
	if n.Kind != belfry.KindObject {
		d.counts = status.Counts(n.Counts())
	}
	s.drafts = append(s.drafts, d)
	s.index.Set(uint64(n.ID), uint32(len(s.drafts)))
	return len(s.drafts) - 1
}

func (s *scratch) rowIDs(e *meta.Tenant, n int) belfry.RowID {
	first, ok := s.nextRow[e.ID]
	if !ok {
		first = e.NextRow
	}
	s.nextRow[e.ID] = first + belfry.RowID(n)
	return first
}

// encode writes the records into one buffer that the next round uses again.
func (s *scratch) encode(changes []change) [][]byte {
	s.buffer, s.payloads = s.buffer[:0], s.payloads[:0]
	ends := make([]int, len(changes))
	for i, c := range changes {
		s.buffer = c.Append(s.buffer)
		ends[i] = len(s.buffer)
	}
	start := 0
	for _, end := range ends {
		s.payloads = append(s.payloads, s.buffer[start:end:end])
		start = end
	}
	const keep = 32 << 20
	if cap(s.buffer) > keep {
		s.buffer = nil // the payloads still hold it for this round
	}
	return s.payloads
}

// Place finds a view or resource at customer level.
func (t *Tx) Place(name string) *meta.Node { return t.only(t.anyPlace(name)) }

// anyPlace finds one that may be outside the scope.
func (t *Tx) anyPlace(name string) *meta.Node {
	if n, ok := t.s.items[slot{t.Tenant.ID, 0, placeSlot, name}]; ok {
		return n
	}
	return t.Tenant.Place(name)
}

// Element finds a graphical element.
func (t *Tx) Element(pkg, name string) *meta.Node { return t.only(t.anyElement(pkg, name)) }

func (t *Tx) anyElement(pkg, name string) *meta.Node {
	if n, ok := t.s.items[elementAt(t.Tenant.ID, pkg, name)]; ok {
		return n
	}
	return t.Tenant.Element(pkg, name)
}

func elementAt(c belfry.CustomerID, pkg, name string) slot {
	return slot{c, 0, elementSlot, pkg + "/" + name}
}

// slotOf is the place of an item.
func slotOf(n *meta.Node) slot {
	switch {
	case n.Kind == belfry.KindElement:
		return elementAt(n.Customer, n.Package, n.Name)
	case n.Kind == belfry.KindObject:
		return slot{n.Customer, n.Resource.ID, objectSlot, n.Name}
	case n.Kind == belfry.KindView && n.Resource != nil:
		return slot{n.Customer, n.Resource.ID, viewSlot, n.Name}
	}
	return slot{n.Customer, 0, placeSlot, n.Name}
}

// Resource finds a resource.
func (t *Tx) Resource(name string) *meta.Node {
	if n := t.Place(name); n != nil && n.Kind == belfry.KindResource {
		return n
	}
	return nil
}

// View finds a view of a resource; the resource is one itself, under its own name.
func (t *Tx) View(resource *meta.Node, name string) *meta.Node {
	if n, ok := t.s.items[slot{t.Tenant.ID, resource.ID, viewSlot, name}]; ok {
		return n
	}
	return resource.View(name)
}

// Object finds an object of a resource.
func (t *Tx) Object(resource *meta.Node, name string) *meta.Node {
	if n, ok := t.s.items[slot{t.Tenant.ID, resource.ID, objectSlot, name}]; ok {
		return n
	}
	return resource.Object(name)
}

// ObjectsNamed lists the objects of that name in the whole customer.
func (t *Tx) ObjectsNamed(name string) (list []*meta.Node) {
	add := func(n *meta.Node) {
		if !t.s.gone[n.ID] && t.Sees(n) {
			list = append(list, n)
		}
	}
	t.Tenant.ObjectsNamed(name, add)
	for _, n := range t.s.namedObjects(t.Tenant.ID, name) {
		add(n)
	}
	return list
}

// namedObjects lists the objects of that name that the round has created. The index is made when somebody asks: rows
// that name their resource never do.
func (s *scratch) namedObjects(c belfry.CustomerID, name string) []*meta.Node {
	for ; s.namedTo < len(s.made); s.namedTo++ {
		if n := s.made[s.namedTo]; n.Kind == belfry.KindObject {
			by := slot{customer: n.Customer, name: n.Name}
			s.named[by] = append(s.named[by], n)
		}
	}
	return s.named[slot{customer: c, name: name}]
}

// Class finds a class that has a definition; nil when there is none yet.
func (t *Tx) Class(name string) *meta.Class {
	if c := t.s.classes[slot{t.Tenant.ID, 0, classSlot, name}]; c != nil {
		return c
	}
	if c := t.Tenant.Class(name); c != nil && c.Def != nil {
		return c
	}
	if def := t.seq.cfg.Tree.Catalog().Class(name); def != nil {
		return &meta.Class{Name: name, Def: def}
	}
	return nil
}

// Definition is the class's definition as this round has it.
func (t *Tx) Definition(n *meta.Node) *catalog.Class {
	if c := t.s.classes[slot{t.Tenant.ID, 0, classSlot, n.Class.Name}]; c != nil {
		return c.Def
	}
	if n.Class.Def == nil { // the record that defined it was lost to damage
		return catalog.InferClass(n.Class.Name)
	}
	return n.Class.Def
}

// GenericView is the class of views that nobody has given one.
const GenericView = "generic"

// ViewClass gives the cell of a view class; those are free strings.
func (t *Tx) ViewClass(name string) *meta.Class {
	if c := t.Tenant.Class(name); c != nil {
		return c
	}
	return &meta.Class{Name: name}
}

package engine

import (
	"belfry"
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
	scopes   map[belfry.ID]*policyScope   // as the round has them, see tx.regime
	unseen   []*meta.Node                 // to be judged when their newest values have been seen

	marked bool        // something is to be reassessed that the tree does not know of yet
	left   []unsettled // by windows and moves, to be finished when the round is committed

	moment uint32 // counts what happens, see tx.begin

	changes []itemChange // room for those of the next turn

	wake []*meta.Node // to find out again when they are due, beside those whose state is set

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
	empty(&s.scopes)
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

package engine

import (
	"belfry"
	"belfry/engine/audit"
	"belfry/meta"
	"belfry/status"
)

// scratch holds the uncommitted effects of a round, as an overlay of the tree: look-ups read it first. A commit applies the
// records to the tree; a failed round is undone by dropping the scratch.
type scratch struct {
	tx     Tx // of the command that is being decided
	drafts []draft
	index  meta.SparseArray[uint32] // by item ID: 1 + place in drafts, 0 when the item has not been touched

	lastID  belfry.ID
	nextRow map[belfry.CustomerID]belfry.RowID
	items   map[nameKey]*meta.Node   // created in this round; nil where one was removed
	made    []*meta.Node             // the same in the order of creation
	named   map[nameKey][]*meta.Node // objects among the first namedTo of them, by name in the whole customer
	namedTo int
	objectN map[belfry.CustomerID]int
	placeN  map[belfry.CustomerID]int   // resources, views and elements, the same
	texts   map[belfry.CustomerID]int64 // bytes that the round adds to texts, see Tx.reserveTexts
	grown   int64                       // the same of all customers
	growth  itemGrowth
	listenN map[belfry.CustomerID]int // receivers, the same
	classes map[nameKey]*meta.Class   // created or changed in this round
	changed map[belfry.ID]belfry.Item // current version of items that were changed, moved or removed
	parents map[belfry.ID]*meta.Node  // of items that were moved
	gone    map[belfry.ID]bool        // removed in this round

	policed  bool                         // there are policies
	policies map[belfry.ID][]*meta.Policy // of items whose policies the round has changed
	scopes   map[belfry.ID]*policyScope   // as of the round, see Tx.policyScope
	unseen   []*meta.Node                 // to be evaluated once the tree has their newest values

	marked bool        // the round has added a mark
	left   []unsettled // by windows and moves, to be queued when the round is committed

	moment uint32 // counter, see Tx.resetCauses

	changes []audit.ItemChange // memory for those of the next turn

	wake []*meta.Node // to be scheduled again, besides items with a new state

	buffer   []byte
	payloads [][]byte
}

// draft is the state of an item as of the round.
type draft struct {
	node   *meta.Node
	state  belfry.State
	counts status.Counts // of a view or resource
	fresh  bool          // the object has received a value in this round
	moved  *meta.Node    // the last item in the view that changed its status
	left   *meta.Node    // the item in the view that had the worst status of all that changed at the moment
	worst  belfry.Status // its status before
	moment uint32        // see Tx.resetCauses
	cause  *meta.Node    // reason named by the last alarm of a view

	in *belfry.Record // the last record with the state
	at int            // index of the state in that record
}

// nameKey is the unique name of an item in a customer (resource 0) or in a resource.
type nameKey struct {
	customer belfry.CustomerID
	resource belfry.ID
	kind     nameKind
	name     string
}

type nameKind uint8

const (
	placeName  nameKind = iota // views and resources at customer level
	viewName                   // views inside a resource
	objectName                 // objects
	className
	elementName // graphical elements; the name is preceded by the package
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
	s.made, s.namedTo, s.wake, s.unseen, s.policed = nil, 0, nil, nil, t.Documents().CountPolicies() > 0
}

// keepRoom keeps the memory of changes that have been written for the next turn.
func (s *scratch) keepRoom(used []audit.ItemChange) {
	const large = 1024
	if cap(used) > large {
		used = nil
	}
	clear(used[:cap(used)])
	s.changes = used[:0]
}

// empty clears a map, or replaces it if it is large: clearing that would slow down every small round after it.
func empty[K comparable, V any](m *map[K]V) {
	const large = 1024
	if *m == nil || len(*m) > large {
		*m = map[K]V{}
		return
	}
	clear(*m)
}

// draft returns the index of an item's draft, which it makes on first use.
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

// encode encodes the records into one buffer, which the next round reuses.
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

func elementAt(c belfry.CustomerID, pkg, name string) nameKey {
	return nameKey{c, 0, elementName, pkg + "/" + name}
}

// nameKeyOf returns the nameKey of an item.
func nameKeyOf(n *meta.Node) nameKey {
	switch {
	case n.Kind == belfry.KindElement:
		return elementAt(n.Customer, n.Package, n.Name)
	case n.Kind == belfry.KindObject:
		return nameKey{n.Customer, n.Resource.ID, objectName, n.Name}
	case n.Kind == belfry.KindView && n.Resource != nil:
		return nameKey{n.Customer, n.Resource.ID, viewName, n.Name}
	}
	return nameKey{n.Customer, 0, placeName, n.Name}
}

// namedObjects lists the objects of that name that the round has created. The index is built on demand: rows that name their
// resource do not need it.
func (s *scratch) namedObjects(c belfry.CustomerID, name string) []*meta.Node {
	for ; s.namedTo < len(s.made); s.namedTo++ {
		if n := s.made[s.namedTo]; n.Kind == belfry.KindObject {
			by := nameKey{customer: n.Customer, name: n.Name}
			s.named[by] = append(s.named[by], n)
		}
	}
	return s.named[nameKey{customer: c, name: name}]
}

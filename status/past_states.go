package status

import (
	"belfry"
	"belfry/meta"
)

// states are the states of items in the past, by item id.
type states map[belfry.ID]pastState

// pastState is what an item showed. Each RowID is the event after which that part is known: earlier alarms do not change
// it.
type pastState struct {
	belfry.State
	shownAfter, infoAfter, ownAfter belfry.RowID
}

// snapshotReader returns a function that adds a row of a snapshot.
func (m states) snapshotReader() func(row []belfry.Value) error {
	texts := interner{}
	return func(row []belfry.Value) (err error) {
		var w pastState
		w.Status, w.Since, w.Info = belfry.Status(row[2].Int), belfry.Time(row[3].Int), texts.intern(row[4].Text)
		if w.Evaluated = w.Status; row[5].Type != belfry.AbsentValue {
			w.Evaluated = belfry.Status(row[5].Int)
		}
		w.Mode, w.OffHours = belfry.Mode(row[6].Int), row[7].Int != 0
		w.Operator, err = readOperatorState(row[8].Text, row[9].Text, row[10].Text)
		m[belfry.ID(row[1].Int)] = w
		return err
	}
}

// changeReader returns a function that applies a change that no alarm reports, facet by facet.
func (m states) changeReader() func(row []belfry.Value) error {
	texts := interner{}
	return func(row []belfry.Value) error {
		id, f, after := belfry.ID(row[1].Int), Facet(row[2].Int), belfry.RowID(row[3].Int)
		w := m[id]
		if f&ShownFacet != 0 {
			w.Status, w.Since, w.shownAfter = belfry.Status(row[4].Int), belfry.Time(row[5].Int), after
		}
		if f&InfoFacet != 0 {
			w.Info, w.infoAfter = texts.intern(row[6].Text), after
		}
		if f&(ManagedFacet|OwnFacet) != 0 {
			w.Evaluated, w.ownAfter = belfry.Status(row[7].Int), after
		}
		if f&ManagedFacet != 0 {
			w.Mode, w.OffHours = belfry.Mode(row[8].Int), row[9].Int != 0
		}
		if f&(ManagedFacet|AckFacet|NoteFacet) != 0 {
			operator, err := readOperatorState(row[10].Text, row[11].Text, row[12].Text)
			if err != nil {
				return err
			}
			w.Operator = overlay(OperatorStateOf(w.State), OperatorStateOf(belfry.State{Operator: operator}), f)
		}
		m[id] = w
		return nil
	}
}

// overlay replaces the given facets of before with those of last.
func overlay(before, last belfry.OperatorState, f Facet) *belfry.OperatorState {
	next := before
	if f&ManagedFacet != 0 {
		next = last
		next.Ack, next.Note = before.Ack, before.Note
	}
	if f&AckFacet != 0 {
		next.Ack = last.Ack
	}
	if f&NoteFacet != 0 {
		next.Note = last.Note
	}
	return trim(next)
}

// alarmReader returns a function that applies an event: id, item, status, time, info and source. The info of a view's
// event names an object in it, and that of a recovered object what ended its error; neither becomes the info of the
// item.
func (m states) alarmReader() func(row []belfry.Value) error {
	texts := interner{}
	return func(row []belfry.Value) error {
		event, id := belfry.RowID(row[0].Int), belfry.ID(row[1].Int)
		w := m[id]
		if event > w.shownAfter {
			w.Status, w.Since = belfry.Status(row[2].Int), belfry.Time(row[3].Int)
		}
		if event > w.infoAfter && row[5].Text == belfry.KindObject.String() {
			w.Info = ""
			if belfry.Status(row[2].Int) != belfry.OK {
				w.Info = texts.intern(row[4].Text)
			}
		}
		if event > w.ownAfter {
			w.Evaluated = belfry.Status(row[2].Int)
		}
		m[id] = w
		return nil
	}
}

// pastTree is what is known of the tree at a past time: statuses and operators' settings are of that time, names
// and places are the present ones.
type pastTree struct {
	states     states
	containers map[*meta.Node]*meta.Node // views and resources, shared by the items in them
	within     *meta.Visibility          // scope of the query
}

// row returns an item as it was. The caller holds the lock of the tree.
func (p *pastTree) row(n *meta.Node) *row {
	then := p.within.Show(n).WithoutContent()
	w, known := p.states[n.ID]
	then.State = belfry.ItemState{State: w.State}
	if only := n.OnlyItem(); only != nil && w.Info == "" && w.Status == p.states[only.ID].Status {
		then.State.Info = p.states[only.ID].Info // as Node.Info does for the present
	}
	if w.Since == 0 && (!known || w.Status == belfry.Unknown) {
		then.State.Since = n.Created // it has never shown another status than Unknown
	}
	if then.State.Mode != belfry.Managed { // needed to find where it inherits its mode from
		then.Parent = p.container(then.Parent)
	}
	r := new(row)
	r.set(&then)
	return r
}

func (p *pastTree) container(n *meta.Node) *meta.Node {
	if n == nil {
		return nil
	}
	if then := p.containers[n]; then != nil {
		return then
	}
	then := *n
	then.State = belfry.ItemState{State: p.states[n.ID].State}
	then.Parent = p.container(n.Parent)
	p.containers[n] = &then
	return &then
}

// interner keeps one copy of each text: a few reasons occur in a great many rows.
type interner map[string]string

func (s interner) intern(t string) string {
	if known, ok := s[t]; ok {
		return known
	}
	if len(s) < 10_000 {
		s[t] = t
	}
	return t
}

package status

import (
	"belfry"
	"belfry/meta"
)

// states are what items showed, by their numbers.
type states map[belfry.ID]was

// was is what an item showed, and after which event that is known of it: alarms that came before say nothing new.
type was struct {
	belfry.State
	shown, why, own belfry.RowID
}

// begin takes in the rows of a snapshot.
func (m states) begin() func(row []belfry.Value) error {
	texts := shared{}
	return func(row []belfry.Value) (err error) {
		var w was
		w.Status, w.Since, w.Info = belfry.Status(row[2].Int), belfry.Time(row[3].Int), texts.text(row[4].Text)
		if w.Evaluated = w.Status; row[5].Type != belfry.AbsentValue {
			w.Evaluated = belfry.Status(row[5].Int)
		}
		w.Mode, w.OffHours = belfry.Mode(row[6].Int), row[7].Int != 0
		w.Operator, err = readCare(row[8].Text, row[9].Text, row[10].Text)
		m[belfry.ID(row[1].Int)] = w
		return err
	}
}

// change takes in what no alarm tells, each facet of it by itself.
func (m states) change() func(row []belfry.Value) error {
	texts := shared{}
	return func(row []belfry.Value) error {
		id, f, after := belfry.ID(row[1].Int), Facet(row[2].Int), belfry.RowID(row[3].Int)
		w := m[id]
		if f&ShownFacet != 0 {
			w.Status, w.Since, w.shown = belfry.Status(row[4].Int), belfry.Time(row[5].Int), after
		}
		if f&InfoFacet != 0 {
			w.Info, w.why = texts.text(row[6].Text), after
		}
		if f&(ManagedFacet|OwnFacet) != 0 {
			w.Evaluated, w.own = belfry.Status(row[7].Int), after
		}
		if f&ManagedFacet != 0 {
			w.Mode, w.OffHours = belfry.Mode(row[8].Int), row[9].Int != 0
		}
		if f&(ManagedFacet|AckFacet|NoteFacet) != 0 {
			said, err := readCare(row[10].Text, row[11].Text, row[12].Text)
			if err != nil {
				return err
			}
			w.Operator = overlay(careOf(w.State), careOf(belfry.State{Operator: said}), f)
		}
		m[id] = w
		return nil
	}
}

// overlay puts some facets of what was said last over what was said before.
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

// alarm takes in events: rows of id, item, status, time, info and source. That of a view names an object in it, which is no info of the view. That of an
// object that has recovered tells what ended its error, which is no info of what is OK.
func (m states) alarm() func(row []belfry.Value) error {
	texts := shared{}
	return func(row []belfry.Value) error {
		event, id := belfry.RowID(row[0].Int), belfry.ID(row[1].Int)
		w := m[id]
		if event > w.shown {
			w.Status, w.Since = belfry.Status(row[2].Int), belfry.Time(row[3].Int)
		}
		if event > w.why && row[5].Text == belfry.KindObject.String() {
			w.Info = ""
			if belfry.Status(row[2].Int) != belfry.OK {
				w.Info = texts.text(row[4].Text)
			}
		}
		if event > w.own {
			w.Evaluated = belfry.Status(row[2].Int)
		}
		m[id] = w
		return nil
	}
}

// picture is the tree as it was, as far as it is known: statuses and what was said about items are of then; names and
// places are those of now.
type picture struct {
	states states
	boxes  map[*meta.Node]*meta.Node // views and resources, in which much may stand
	within *meta.Within              // of what is to be seen
}

// row is an item as it was. The tree is locked.
func (p *picture) row(n *meta.Node) *row {
	then := p.within.Show(n).Bare()
	w, known := p.states[n.ID]
	then.State = belfry.ItemState{State: w.State}
	if only := n.Only(); only != nil && w.Info == "" && w.Status == p.states[only.ID].Status {
		then.State.Info = p.states[only.ID].Info // as Node.Info has it now
	}
	if w.Since == 0 && (!known || w.Status == belfry.Unknown) {
		then.State.Since = n.Created // it never showed anything but that nothing is known
	}
	if then.State.Mode != belfry.Managed { // what it inherits is found around it
		then.Parent = p.box(then.Parent)
	}
	r := new(row)
	r.set(&then)
	return r
}

func (p *picture) box(n *meta.Node) *meta.Node {
	if n == nil {
		return nil
	}
	if then := p.boxes[n]; then != nil {
		return then
	}
	then := *n
	then.State = belfry.ItemState{State: p.states[n.ID].State}
	then.Parent = p.box(n.Parent)
	p.boxes[n] = &then
	return &then
}

// shared keeps one copy of each text: the same few reasons stand in a great many rows.
type shared map[string]string

func (s shared) text(t string) string {
	if known, ok := s[t]; ok {
		return known
	}
	if len(s) < 10_000 {
		s[t] = t
	}
	return t
}

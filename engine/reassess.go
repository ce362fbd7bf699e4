package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
)

// When a class or a policy changes, all objects it covers are evaluated again. When the mode of a view or resource changes or it
// moves, everything inside it may get another mode. For few items that is part of the same record. For many it would block
// the sequencer, so the record only has a mark that names the work. The change itself takes effect at once, and a bounded
// number of items follows in each turn. The last turn removes the mark. After a crash the next start continues.

// turnItems is the default of Config.Turn.
const turnItems = 500

// Prefixes of the names of marks.
const (
	classMark = "class " // evaluate the objects of the class
	itemMark  = "item "  // evaluate the content of the item with this id
	modeMark  = "cover " // set the mode of the item with this id and of its content
)

// evaluateClass evaluates the objects of a class again. The caller passes rest, if not empty, to Sequencer.reassessAll.
func (t *Tx) evaluateClass(name string) (rest string) {
	if cell := t.Tenant.Class(name); cell != nil && cell.Objects() > t.seq.turn {
		return t.addMark(classMark+name, "")
	}
	t.DeferRollup(func() {
		t.Tenant.ByClass(name, func(n *meta.Node) bool {
			if n.Kind == belfry.KindObject {
				t.evaluateObject(n)
			}
			return true
		})
	})
	return ""
}

// evaluatePlace does the same for an item, or, if content is set, for everything inside it.
func (t *Tx) evaluatePlace(id belfry.ID, content bool) (rest string) {
	n := t.seq.cfg.Tree.Node(id)
	switch {
	case n == nil || n.Removed != 0:
	case !content:
		t.rollUp(t.s.draft(n), t.Now)
	case t.tooMuchIn(n):
		t.rollUp(t.s.draft(n), t.Now)
		return t.addMark(reassessItem(id), "")
	default:
		t.DeferRollup(func() { t.evaluate(n) })
	}
	return ""
}

func reassessItem(id belfry.ID) string { return itemMark + strconv.FormatUint(uint64(id), 10) }

// tooMuchIn reports whether an item has more items inside than may still be changed in this record.
func (t *Tx) tooMuchIn(n *meta.Node) bool { return holdsMore(n, max(t.itemsLeft, 0)) < 0 }

// holdsMore subtracts the number of items inside an item from left, and stops below 0.
func holdsMore(n *meta.Node, left int) int {
	n.Children(func(c *meta.Node) bool {
		left = holdsMore(c, left-1)
		return left >= 0
	})
	return left
}

// applyModeLater adds a mark for a change of mode inside an item.
func (t *Tx) applyModeLater(c modeChange) string {
	how := "managed"
	if c.moved {
		how = "moved"
	}
	return t.addMark(modeMark+strconv.FormatUint(uint64(c.top.ID), 10), " "+how+" "+c.by)
}

// addMark adds a mark to the record. Its text differs from that of an earlier mark of the same name, also one of an earlier process.
func (t *Tx) addMark(what, how string) string {
	before := t.Tenant.Reassessment(what)
	text := before
	for text == before {
		t.seq.marks++
		text = fmt.Sprintf("%d %d%s", t.Now, t.seq.marks, how)
	}
	body, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can always be encoded
	}
	t.Document(belfry.Doc{Kind: belfry.DocReassess, Customer: t.Tenant.ID, Name: what, Body: body})
	t.s.marked = true
	return what
}

// Reassess continues the reassessments that were outstanding when the last process ended. Those that fail are retried later.
func (s *Sequencer) Reassess() (err error) {
	for _, c := range s.cfg.Tree.Access().Customers() {
		list := s.cfg.Tree.Documents().Reassessments(c.ID)
		if bad := s.reassessAll(c.ID, list); bad != nil {
			err = bad
			s.deferRest(c.ID, list)
		}
	}
	return err
}

// reassessing is the work of a mark.
type reassessing struct {
	what, mark string
	how        modeChange
	nodes      []*meta.Node // still to do
	ended      bool
}

// reassessAll does the work of marks in turns. It skips marks that no longer exist, and those that were replaced:
// the command that replaced a mark does its work.
func (s *Sequencer) reassessAll(c belfry.CustomerID, list []string) error {
	var work []*reassessing
	for {
		work = slices.DeleteFunc(work, func(r *reassessing) bool { return r.ended })
		items := 0
		for _, r := range work {
			items += len(r.nodes)
		}
		for ; items < s.turn && len(list) > 0; list = list[1:] {
			if r := s.toReassess(c, list[0]); r != nil {
				work = append(work, r)
				items += len(r.nodes)
			}
		}
		if len(work) == 0 {
			return nil
		}
		err := s.Do(&Command{Customer: c, Rows: s.turn, Alone: true, Decide: func(t *Tx) error {
			turn := turnBudget{left: s.turn, around: map[*meta.Node]bool{}}
			for _, r := range work {
				if t.reassess(r, &turn); !r.ended {
					break
				}
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
}

// toReassess lists the work of a mark; nil: the mark does not exist.
func (s *Sequencer) toReassess(c belfry.CustomerID, what string) *reassessing {
	r := &reassessing{what: what}
	var top *meta.Node
	outer := false
	s.cfg.Tree.Read(c, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		r.mark = e.Reassessment(what)
		if class, ok := strings.CutPrefix(what, classMark); ok {
			e.ByClass(class, func(n *meta.Node) bool { r.nodes = append(r.nodes, n); return true })
			return
		}
		_, number, _ := strings.Cut(what, " ")
		id, err := strconv.ParseUint(number, 10, 64)
		if n := s.cfg.Tree.Node(belfry.ID(id)); err == nil && n != nil && n.Customer == c && n.Removed == 0 {
			top, outer = n, n.State.Mode == settledMode(n)
		}
	})
	if r.mark == "" {
		return nil
	}
	if top == nil {
		return r
	}
	r.nodes = append([]*meta.Node{top}, s.cfg.Tree.Below(top)...)
	if !strings.HasPrefix(what, modeMark) {
		slices.Reverse(r.nodes)
		return r
	}
	if !outer { // else the item itself has its mode already, see applyMode
		slices.Reverse(r.nodes)
	}
	r.how = modeChange{top: top}
	if w := strings.SplitN(r.mark, " ", 4); len(w) == 4 {
		r.how.moved, r.how.by = w[2] == "moved", w[3]
	}
	return r
}

// settledMode is Tx.settledMode as of the tree.
func settledMode(n *meta.Node) (m belfry.Mode) {
	for ; n != nil; n = n.Parent {
		m = max(m, ownMode(&n.State.State))
	}
	return m
}

// turnBudget bounds the work of a turn. An item can change all views around it, so these count as well.
type turnBudget struct {
	left   int
	around map[*meta.Node]bool
}

// spend reports whether an item fits into this turn. The first one always does.
func (u *turnBudget) spend(n *meta.Node, most int) bool {
	if u.left <= 0 || len(u.around) >= most {
		return false
	}
	u.left--
	for p := n.Parent; p != nil && !u.around[p]; p = p.Parent {
		u.around[p] = true
	}
	return true
}

// reassess processes the items of a mark, as many as fit into this turn.
func (t *Tx) reassess(r *reassessing, turn *turnBudget) {
	if r.mark != t.Tenant.Reassessment(r.what) {
		r.ended = true
		return
	}
	r.how.at = t.Now
	t.DeferRollup(func() {
		for ; len(r.nodes) > 0 && turn.spend(r.nodes[0], t.seq.turn); r.nodes = r.nodes[1:] {
			n := r.nodes[0]
			switch {
			case n.Removed != 0:
			case strings.HasPrefix(r.what, modeMark):
				t.applyModeTo(n, r.how)
			case n.Kind == belfry.KindObject:
				t.evaluateObject(n)
			case n.Kind != belfry.KindElement:
				t.rollUp(t.s.draft(n), t.Now)
			}
		}
	})
	if r.ended = len(r.nodes) == 0; r.ended {
		t.Document(belfry.Doc{Kind: belfry.DocReassess, Customer: t.Tenant.ID, Name: r.what})
	}
}

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

// When a class or a policy changes, the new rules decide about all objects that they cover. When a view or resource is
// managed otherwise or moved, all that stands in it may get another mode. Of few items that is part of the same record. Of
// many it would hold the sequencer for long, so the record only has a mark that says what is to be done. The change itself
// counts from then on, and a bounded number of items follows it at a time. The last turn removes the mark. What was left
// undone by a crash is done after the next start.

// turnItems is how many items a large change deals with in a turn, if Config.Turn does not say otherwise.
const turnItems = 500

// Names of marks begin with what is to be done.
const (
	classMark = "class " // judge the objects of the class
	itemMark  = "item "  // judge what stands in the item of that number
	coverMark = "cover " // give the item, and what stands in it, the mode that follows
)

// judgeClass lets the rules of a class, as the round has them, decide anew about its objects. What it returns, if not
// empty, is to be handed to Sequencer.reassessAll.
func (t *Tx) judgeClass(name string) (rest string) {
	if cell := t.Tenant.Class(name); cell != nil && cell.Objects() > t.seq.turn {
		return t.judgeLater(classMark + name)
	}
	t.Together(func() {
		t.Tenant.ByClass(name, func(n *meta.Node) bool {
			if n.Kind == belfry.KindObject {
				t.judgeObject(n)
			}
			return true
		})
	})
	return ""
}

// judgePlace does the same for an item, and if content is set, for all that stands in it.
func (t *Tx) judgePlace(id belfry.ID, content bool) (rest string) {
	n := t.seq.cfg.Tree.Node(id)
	switch {
	case n == nil || n.Removed != 0:
	case !content:
		t.addUp(t.s.draft(n), t.Now)
	case t.tooMuchIn(n):
		if n.Kind != belfry.KindObject {
			t.addUp(t.s.draft(n), t.Now)
		}
		return t.judgeLater(reassessItem(id))
	default:
		t.Together(func() { t.judge(n) })
	}
	return ""
}

func reassessItem(id belfry.ID) string { return itemMark + strconv.FormatUint(uint64(id), 10) }

// tooMuchIn tells whether more stands in an item than may still be changed in this record.
func (t *Tx) tooMuchIn(n *meta.Node) bool { return holdsMore(n, max(t.left, 0)) < 0 }

// holdsMore takes what stands in an item off a number; below 0 it stops counting.
func holdsMore(n *meta.Node, left int) int {
	n.Children(func(c *meta.Node) bool {
		left = holdsMore(c, left-1)
		return left >= 0
	})
	return left
}

// judgeLater makes the record say what is to be reassessed.
func (t *Tx) judgeLater(what string) string { return t.mark(what, "") }

// coverLater makes the record say that what stands in an item is still to get its mode.
func (t *Tx) coverLater(c covering) string {
	how := "managed"
	if c.moved {
		how = "moved"
	}
	return t.mark(coverMark+strconv.FormatUint(uint64(c.top.ID), 10), " "+how+" "+c.by)
}

// mark puts a mark into the record. Its text begins with what tells it from the one before of the same name, which may be of an
// earlier process.
func (t *Tx) mark(what, how string) string {
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

// Reassess does what was left undone when the process ended. What cannot be stored now is tried again later.
func (s *Sequencer) Reassess() (err error) {
	for _, c := range s.cfg.Tree.Customers() {
		list := s.cfg.Tree.Reassessments(c.ID)
		if bad := s.reassessAll(c.ID, list); bad != nil {
			err = bad
			s.finishLater(c.ID, list)
		}
	}
	return err
}

// reassessing is what a mark asks for.
type reassessing struct {
	what, mark string
	how        covering
	nodes      []*meta.Node // that are still to come
	ended      bool
}

// reassessAll does what marks ask for, in turns. Marks that are not there any more are passed over. So is one that has been
// replaced meanwhile: whoever did that does all of it.
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

// toReassess finds out what a mark asks for; nil when there is none.
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
	if !strings.HasPrefix(what, coverMark) {
		slices.Reverse(r.nodes)
		return r
	}
	if !outer { // else the item itself has got its mode already, see cover
		slices.Reverse(r.nodes)
	}
	r.how = covering{top: top}
	if w := strings.SplitN(r.mark, " ", 4); len(w) == 4 {
		r.how.moved, r.how.by = w[2] == "moved", w[3]
	}
	return r
}

// settledMode is tx.settledMode as the tree has it.
func settledMode(n *meta.Node) (m belfry.Mode) {
	for ; n != nil; n = n.Parent {
		m = max(m, ownMode(&n.State.State))
	}
	return m
}

// turnBudget is what may still be done in a turn. An item may change all that is around it, so that counts, too.
type turnBudget struct {
	left   int
	around map[*meta.Node]bool
}

// spend tells whether an item can be dealt with in this turn. The first one always can.
func (u *turnBudget) spend(n *meta.Node, most int) bool {
	if u.left == 0 || len(u.around) >= most {
		return false
	}
	u.left--
	for p := n.Parent; p != nil && !u.around[p]; p = p.Parent {
		u.around[p] = true
	}
	return true
}

// reassess does what a mark asks for, each item by itself, as far as this turn goes.
func (t *Tx) reassess(r *reassessing, turn *turnBudget) {
	if r.mark != t.Tenant.Reassessment(r.what) {
		r.ended = true
		return
	}
	r.how.at = t.Now
	cover := strings.HasPrefix(r.what, coverMark)
	t.Together(func() {
		for ; len(r.nodes) > 0 && turn.spend(r.nodes[0], t.seq.turn); r.nodes = r.nodes[1:] {
			n := r.nodes[0]
			switch {
			case n.Removed != 0:
			case cover:
				t.coverOne(n, r.how)
			case n.Kind == belfry.KindObject:
				t.judgeObject(n)
			case n.Kind != belfry.KindElement:
				t.addUp(t.s.draft(n), t.Now)
			}
		}
	})
	if r.ended = len(r.nodes) == 0; r.ended {
		t.Document(belfry.Doc{Kind: belfry.DocReassess, Customer: t.Tenant.ID, Name: r.what})
	}
}

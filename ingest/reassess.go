package ingest

import (
	"fmt"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
)

// When a class or a policy changes, the new rules decide about all objects that they cover. Of few objects that is part of
// the same record. Of many it would hold the sequencer for long, so the record only says that it is to be done: the
// definition counts from then on, and the request goes on with a bounded number of items at a time until all of them
// follow it. What was left undone by a crash is done after the next start.

// reassessTurn is how many items are reassessed in a turn.
const reassessTurn = 500

// judgeClass lets the rules of a class, as the round has them, decide anew about its objects. What it returns, if not
// empty, is to be handed to Sequencer.reassess.
func (t *tx) judgeClass(name string) (rest string) {
	if cell := t.estate.Class(name); cell != nil && cell.Objects() > reassessTurn {
		return t.judgeLater("class " + name)
	}
	t.together(func() {
		t.estate.ByClass(name, func(n *meta.Node) bool {
			if n.Kind == belfry.KindObject {
				t.judgeObject(n)
			}
			return true
		})
	})
	return ""
}

// judgePlace does the same for an item, and if content is set, for all that stands in it.
func (t *tx) judgePlace(id belfry.ID, content bool) (rest string) {
	n := t.seq.cfg.Tree.Node(id)
	switch {
	case n == nil || n.Removed != 0:
	case !content:
		t.addUp(t.s.draft(n), t.now)
	case t.holdsMore(n, reassessTurn) < 0:
		if n.Kind != belfry.KindObject {
			t.addUp(t.s.draft(n), t.now)
		}
		return t.judgeLater(reassessItem(id))
	default:
		t.together(func() { t.judge(n) })
	}
	return ""
}

func reassessItem(id belfry.ID) string { return "item " + strconv.FormatUint(uint64(id), 10) }

// holdsMore takes what stands in an item off a number; below 0 it stops counting.
func (t *tx) holdsMore(n *meta.Node, left int) int {
	n.Children(func(c *meta.Node) bool {
		left = t.holdsMore(c, left-1)
		return left >= 0
	})
	return left
}

// judgeLater makes the record say what is to be reassessed. Its body tells it from a later one of the same name.
func (t *tx) judgeLater(what string) string {
	t.seq.marks++
	body := fmt.Sprintf(`"%d %d"`, t.now, t.seq.marks)
	t.document(belfry.Doc{Kind: belfry.DocReassess, Customer: t.estate.ID, Name: what, Body: []byte(body)})
	return what
}

// Reassess does what was left undone when the process ended.
func (s *Sequencer) Reassess() error {
	for _, c := range s.cfg.Tree.Customers() {
		if err := s.reassessAll(c.ID, s.cfg.Tree.Reassessments(c.ID)); err != nil {
			return err
		}
	}
	return nil
}

// reassessAll is reassess for several names.
func (s *Sequencer) reassessAll(c belfry.CustomerID, list []string) error {
	for _, what := range list {
		if err := s.reassess(c, what); err != nil {
			return err
		}
	}
	return nil
}

// reassess lets the rules decide anew about what judgeClass or judgePlace left to it, in turns.
func (s *Sequencer) reassess(c belfry.CustomerID, what string) error {
	if what == "" {
		return nil
	}
	mark, nodes := s.toReassess(c, what)
	for mark != "" {
		part := nodes[:min(reassessTurn, len(nodes))]
		nodes = nodes[len(part):]
		last := len(nodes) == 0
		err := s.do(&command{customer: c, rows: len(part), alone: true, decide: func(t *tx) error {
			t.reassess(part)
			if last && t.estate.Reassessment(what) == mark {
				t.document(belfry.Doc{Kind: belfry.DocReassess, Customer: c, Name: what})
			}
			return nil
		}})
		if err != nil || last {
			return err
		}
	}
	return nil
}

// toReassess lists the items, those that stand in others before these.
func (s *Sequencer) toReassess(c belfry.CustomerID, what string) (mark string, nodes []*meta.Node) {
	s.cfg.Tree.Read(c, func(e *meta.Estate) {
		if e == nil {
			return
		}
		mark = e.Reassessment(what)
		add := func(n *meta.Node) { nodes = append(nodes, n) }
		if class, ok := strings.CutPrefix(what, "class "); ok {
			e.ByClass(class, func(n *meta.Node) bool { add(n); return true })
			return
		}
		id, err := strconv.ParseUint(strings.TrimPrefix(what, "item "), 10, 64)
		if n := s.cfg.Tree.Node(belfry.ID(id)); err == nil && n != nil && n.Customer == c {
			inwards(n, add)
		}
	})
	return mark, nodes
}

// inwards calls f for all that stands in an item, and then for the item.
func inwards(n *meta.Node, f func(*meta.Node)) {
	n.Children(func(c *meta.Node) bool { inwards(c, f); return true })
	f(n)
}

// reassess lets the rules decide anew about some items, each by itself.
func (t *tx) reassess(nodes []*meta.Node) {
	t.together(func() {
		for _, n := range nodes {
			switch {
			case n.Removed != 0:
			case n.Kind == belfry.KindObject:
				t.judgeObject(n)
			case n.Kind != belfry.KindElement:
				t.addUp(t.s.draft(n), t.now)
			}
		}
	})
}

package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// noRules are those of items about which nothing has been said.
var noRules status.Rules

// rulebook remembers the rules of a class. Rows of one class mostly come together.
type rulebook struct {
	class *catalog.Class
	rules *status.Rules
}

func (b *rulebook) of(def *catalog.Class) *status.Rules {
	if def == b.class {
		return b.rules
	}
	b.class, b.rules = def, status.RulesOf(def)
	return b.rules
}

// rules are what decides about an item, as the tree has it.
func (s *Sequencer) rules(n *meta.Node) *status.Rules {
	if s.cfg.Tree.Policed() > 0 {
		return s.policyScope(n).rules(n, n.Class.Def, &s.classRules)
	}
	if n.Kind != belfry.KindObject || n.Class.Def == nil {
		return &noRules
	}
	return s.classRules.of(n.Class.Def)
}

// rules are what decides about an item, as the round has it.
func (t *Tx) rules(n *meta.Node) *status.Rules {
	if t.s.policed {
		return t.policedRules(n)
	}
	if n.Kind == belfry.KindObject && len(t.s.classes) > 0 {
		return t.seq.classRules.of(t.Find().Definition(n))
	}
	return t.seq.rules(n)
}

func (t *Tx) policedRules(n *meta.Node) *status.Rules {
	def := n.Class.Def
	if n.Kind == belfry.KindObject && len(t.s.classes) > 0 {
		def = t.Find().Definition(n)
	}
	return t.policyScope(n).rules(n, def, &t.seq.classRules)
}

// evaluate lets the rules decide again about an item and all that stands in it.
func (t *Tx) evaluate(n *meta.Node) {
	if n.Kind == belfry.KindObject {
		t.evaluateObject(n)
		return
	}
	t.eachInside(n, t.evaluate)
	t.rollUp(t.s.draft(n), t.Now)
}

// evaluateObject lets the rules decide again about an object, by its last values. The command must have its round to itself,
// so that no value has come in unseen.
func (t *Tx) evaluateObject(n *meta.Node) {
	i := t.s.draft(n)
	s, r := t.s.drafts[i].state, t.rules(n)
	was := s.OffHours
	s.OffHours = r.Watch.Quiet(t.Now)
	next, c := status.Reassess(s, r, status.LastValues{ItemState: &n.State}, n.State.LastData, t.seq.clock.since, t.Now)
	c.Kept = c.Kept || was != s.OffHours
	t.begin()
	t.apply(i, next, c, t.Now)
	t.s.wake = append(t.s.wake, n)
}

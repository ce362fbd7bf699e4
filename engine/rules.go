package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// noRules are the rules of items without class or policy.
var noRules status.Rules

// rulebook caches the rules of the last class, since rows of one class mostly come together.
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

// rules returns the rules of an item as of the tree.
func (s *Sequencer) rules(n *meta.Node) *status.Rules {
	if s.cfg.Tree.Documents().CountPolicies() > 0 {
		return s.policyScope(n).rules(n, n.Class.Def, &s.classRules)
	}
	if n.Kind != belfry.KindObject || n.Class.Def == nil {
		return &noRules
	}
	return s.classRules.of(n.Class.Def)
}

// rules returns the rules of an item as of the round.
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

// evaluate evaluates an item and everything inside it again.
func (t *Tx) evaluate(n *meta.Node) {
	if n.Kind == belfry.KindObject {
		t.evaluateObject(n)
		return
	}
	t.eachInside(n, t.evaluate)
	t.rollUp(t.s.draft(n), t.Now)
}

// evaluateObject evaluates an object by its last values. The command must be alone in its round, so that the tree has all values.
func (t *Tx) evaluateObject(n *meta.Node) {
	i := t.s.draft(n)
	s, r := t.s.drafts[i].state, t.rules(n)
	was := s.OffHours
	s.OffHours = r.Watch.OffHours(t.Now)
	next, c := status.Reassess(s, r, status.LastValues{ItemState: &n.State}, n.State.LastData, t.seq.clock.since, t.Now)
	c.Kept = c.Kept || was != s.OffHours
	t.resetCauses()
	t.apply(i, next, c, t.Now)
	t.s.wake = append(t.s.wake, n)
}

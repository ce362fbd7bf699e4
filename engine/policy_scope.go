package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
	"belfry/status/calendar"
)

// policyScope holds the policies in effect at a place in the tree. Items without policies of their own share the scope of
// their parent, so there are as many scopes as items with policies, and each composes the rules of a class once.
//
//	MAIN          ── none
//	 └ DMZ        ── scope of DMZ: its policies, outer none
//	    └ web01   ── the same
//	       ├ cpu  ── the same
//	       └ disk ── scope of disk: its policies, outer the scope of DMZ
type policyScope struct {
	item       belfry.ID     // that has the policies; 0: no item on the path has any
	outer      *policyScope  // scope of the nearest ancestor with policies; nil at the top
	placeRules *status.Rules // of the item itself if it is a view or resource
	watch      *status.Watch // of objects; the nearest counts
	last       classRules
	byClass    map[string]classRules // by class
	policies   []*meta.Policy        // on the item
}

// classRules are the rules of a class at a place.
type classRules struct {
	def   *catalog.Class
	rules *status.Rules
}

// policyScopes caches the scope of every item as of the tree.
type policyScopes struct {
	known   meta.SparseArray[*policyScope] // by item; nil: not computed yet
	none    policyScope
	watches map[*meta.Policy]*status.Watch
}

// policyScope returns the scope of an item as of the tree.
func (s *Sequencer) policyScope(n *meta.Node) *policyScope {
	m := &s.policyScopes
	if r := m.known.At(uint64(n.ID)); r != nil {
		return r
	}
	around := &m.none
	if n.Parent != nil {
		around = s.policyScope(n.Parent)
	}
	r := s.scopeUnder(around, n, s.cfg.Tree.Tenant(n.Customer).PoliciesOn(n.ID))
	m.known.Set(uint64(n.ID), r)
	return r
}

// policyScope returns the scope of an item as of this round. Unless the round has moved an item or changed a policy that is
// the scope in the tree; an item created in the round has the scope of its parent.
func (t *Tx) policyScope(n *meta.Node) *policyScope {
	if !t.s.policiesChanged() {
		for last := t.seq.cfg.Tree.LastID(); n.ID > last; {
			if n = t.Parent(n); n == nil {
				return &t.seq.policyScopes.none
			}
		}
		return t.seq.policyScope(n)
	}
	if r := t.s.scopes[n.ID]; r != nil {
		return r
	}
	around := &t.seq.policyScopes.none
	if p := t.Parent(n); p != nil {
		around = t.policyScope(p)
	}
	r := t.seq.scopeUnder(around, n, t.policiesOn(n))
	t.s.scopes[n.ID] = r
	return r
}

// policiesChanged reports whether the round has changed a policy or moved an item.
func (s *scratch) policiesChanged() bool { return len(s.parents)+len(s.policies) > 0 }

// policiesOn returns the policies on the item itself as of this round.
func (t *Tx) policiesOn(n *meta.Node) []*meta.Policy {
	if list, ok := t.s.policies[n.ID]; ok {
		return list
	}
	return t.Tenant.PoliciesOn(n.ID)
}

// scopeUnder returns a new scope for an item with policies, else the scope around it.
func (s *Sequencer) scopeUnder(around *policyScope, n *meta.Node, policies []*meta.Policy) *policyScope {
	if len(policies) == 0 {
		return around
	}
	r := &policyScope{item: n.ID, outer: around, placeRules: status.RulesOfPlace(policies), watch: around.watch, policies: policies, byClass: map[string]classRules{}}
	for _, p := range policies {
		if p.Period != nil {
			r.watch = s.watch(n.Customer, p)
		}
	}
	return r
}

// watch returns the monitoring period of a policy. It is parsed once and cached.
func (s *Sequencer) watch(c belfry.CustomerID, p *meta.Policy) *status.Watch {
	w, ok := s.policyScopes.watches[p]
	if ok {
		return w
	}
	period, err := calendar.ParsePeriod(p.Period, s.Zone(c))
	if err != nil { // it was right when it was set: this machine does not know its zone
		s.cfg.Log.Warn("a monitoring period cannot be read; its objects are monitored all the time", "policy", p.Name, "err", err)
	} else {
		w = status.NewWatch(period)
	}
	if s.policyScopes.watches == nil {
		s.policyScopes.watches = map[*meta.Policy]*status.Watch{}
	}
	s.policyScopes.watches[p] = w
	return w
}

// dropPolicyScopes clears the cache after a round that changed policies or moved items.
func (s *Sequencer) dropPolicyScopes() {
	if !s.scratch.policiesChanged() {
		return
	}
	m := &s.policyScopes
	m.known = meta.SparseArray[*policyScope]{}
	if len(m.watches) > 2*s.cfg.Tree.Documents().CountPolicies()+16 {
		m.watches = nil // most are of policies that have been replaced
	}
}

// rules returns the rules of an item. def is its class if it is an object.
func (r *policyScope) rules(n *meta.Node, def *catalog.Class, book *rulebook) *status.Rules {
	switch {
	case n.Kind != belfry.KindObject:
		if r.item == n.ID {
			return r.placeRules
		}
		return &noRules
	case def == nil:
		return &noRules
	case r.item == 0:
		return book.of(def)
	case r.last.def == def:
		return r.last.rules
	}
	b := r.byClass[def.Name]
	if b.def != def {
		b = classRules{def, r.decide(def)}
		r.byClass[def.Name] = b
	}
	r.last = b
	return b.rules
}

// decide composes the rules of a class.
func (r *policyScope) decide(def *catalog.Class) *status.Rules {
	rules := *status.Compose(def, func(yield func([]*meta.Policy) bool) {
		for at := r; at != nil && yield(at.policies); at = at.outer {
		}
	})
	rules.Watch = r.watch
	return &rules
}

// same reports whether two scopes consist of the policies of the same items. It is for rounds that change no policy.
func (r *policyScope) same(o *policyScope) bool {
	for r != nil && o != nil && r.item == o.item {
		r, o = r.outer, o.outer
	}
	return r == nil && o == nil
}

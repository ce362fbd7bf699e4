package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// regime is what policies say at some place in the tree. Items about which nothing is said themselves share the one of the
// view around them, so that there are as many of them as items with policies, and each decides about a class once.
//
//	MAIN          ── none
//	 └ DMZ        ── regime of DMZ: its policies, around it none
//	    └ web01   ── the same
//	       ├ cpu  ── the same
//	       └ disk ── regime of disk: its policies, around it the regime of DMZ
type regime struct {
	item   belfry.ID     // about which something is said; 0: neither here nor farther up
	around *regime       // what is said farther up; nil at the top
	place  *status.Rules // of the item, when it is a view or resource
	watch  *status.Watch // of objects; the nearest counts
	last   booked
	book   map[string]booked // by class
	said   []*meta.Policy    // about the item
}

// booked are the rules of a class at a place.
type booked struct {
	def   *catalog.Class
	rules *status.Rules
}

// regimes remembers the regime of every item, as the tree has it.
type regimes struct {
	known   meta.Sparse[*regime] // by item; nil: not asked for yet
	none    regime
	watches map[*meta.Policy]*status.Watch
}

// regime is what policies say about an item, as the tree has it.
func (s *Sequencer) regime(n *meta.Node) *regime {
	m := &s.regimes
	if r := m.known.At(uint64(n.ID)); r != nil {
		return r
	}
	around := &m.none
	if n.Parent != nil {
		around = s.regime(n.Parent)
	}
	r := s.under(around, n, s.cfg.Tree.Tenant(n.Customer).PoliciesOn(n.ID))
	m.known.Set(uint64(n.ID), r)
	return r
}

// regime is what policies say about an item, as the round has it. As long as the round has neither moved anything nor
// changed a policy, that is what the tree says; an item made in the round is like the view it was made in.
func (t *Tx) regime(n *meta.Node) *regime {
	if !t.s.stirred() {
		for last := t.seq.cfg.Tree.LastID(); n.ID > last; {
			if n = t.Parent(n); n == nil {
				return &t.seq.regimes.none
			}
		}
		return t.seq.regime(n)
	}
	if r := t.s.regimes[n.ID]; r != nil {
		return r
	}
	around := &t.seq.regimes.none
	if p := t.Parent(n); p != nil {
		around = t.regime(p)
	}
	r := t.seq.under(around, n, t.policiesOn(n))
	t.s.regimes[n.ID] = r
	return r
}

// stirred tells whether the round has changed what policies say somewhere.
func (s *scratch) stirred() bool { return len(s.parents)+len(s.policies) > 0 }

// policiesOn lists the policies about an item itself, as the round has them.
func (t *Tx) policiesOn(n *meta.Node) []*meta.Policy {
	if list, ok := t.s.policies[n.ID]; ok {
		return list
	}
	return t.Tenant.PoliciesOn(n.ID)
}

// under gives the regime of an item about which something is said, or else the one around it.
func (s *Sequencer) under(around *regime, n *meta.Node, said []*meta.Policy) *regime {
	if len(said) == 0 {
		return around
	}
	r := &regime{item: n.ID, around: around, place: status.RulesOfPlace(said), watch: around.watch, said: said, book: map[string]booked{}}
	for _, p := range said {
		if p.Period != nil {
			r.watch = s.watch(n.Customer, p)
		}
	}
	return r
}

// watch gives the monitoring period of a policy. It is read once, for it is asked for all the time.
func (s *Sequencer) watch(c belfry.CustomerID, p *meta.Policy) *status.Watch {
	w, ok := s.regimes.watches[p]
	if ok {
		return w
	}
	period, err := status.ParsePeriod(p.Period, s.Zone(c))
	if err != nil { // it was right when it was set: this machine does not know its zone
		s.cfg.Log.Warn("a monitoring period cannot be read; its objects are monitored all the time", "policy", p.Name, "err", err)
	} else {
		w = status.NewWatch(period)
	}
	if s.regimes.watches == nil {
		s.regimes.watches = map[*meta.Policy]*status.Watch{}
	}
	s.regimes.watches[p] = w
	return w
}

// forget drops what followed from policies and places that a round has changed.
func (s *Sequencer) forget() {
	if !s.scratch.stirred() {
		return
	}
	m := &s.regimes
	m.known = meta.Sparse[*regime]{}
	if len(m.watches) > 2*s.cfg.Tree.Policed()+16 {
		m.watches = nil // most are of policies that have been replaced
	}
}

// rules are those of an item. def is its class when it is an object.
func (r *regime) rules(n *meta.Node, def *catalog.Class, book *rulebook) *status.Rules {
	switch {
	case n.Kind != belfry.KindObject:
		if r.item == n.ID {
			return r.place
		}
		return &noRules
	case def == nil:
		return &noRules
	case r.item == 0:
		return book.of(def)
	case r.last.def == def:
		return r.last.rules
	}
	b := r.book[def.Name]
	if b.def != def {
		b = booked{def, r.decide(def)}
		r.book[def.Name] = b
	}
	r.last = b
	return b.rules
}

// decide finds the rules of a class.
func (r *regime) decide(def *catalog.Class) *status.Rules {
	rules := *status.Compose(def, func(yield func([]*meta.Policy) bool) {
		for at := r; at != nil && yield(at.said); at = at.around {
		}
	})
	rules.Watch = r.watch
	return &rules
}

// same tells whether policies of the same items count at two places. It is for rounds that change no policy.
func (r *regime) same(o *regime) bool {
	for r != nil && o != nil && r.item == o.item {
		r, o = r.around, o.around
	}
	return r == nil && o == nil
}

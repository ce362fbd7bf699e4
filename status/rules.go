package status

import (
	"iter"
	"math"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// noRules are those of items about which nothing has been said.
var noRules Rules

// RulesOf are the rules of a class. They are shared: nobody may change them.
func RulesOf(def *catalog.Class) *Rules {
	every := def.Interval.Std().Microseconds()
	if every <= 0 && len(def.Rules()) == 0 {
		return &noRules
	}
	return &Rules{Thresholds: def.Rules(), Interval: belfry.Time(max(every, 0))}
}

// RulesFor are what decides about an item, as the tree has it, without its monitoring period. It is read under the tree's
// lock.
func RulesFor(e *meta.Tenant, n *meta.Node) *Rules {
	switch {
	case n.Kind != belfry.KindObject:
		return RulesOfPlace(e.PoliciesOn(n.ID))
	case n.Class.Def == nil:
		return &noRules
	}
	return Compose(n.Class.Def, func(yield func([]*meta.Policy) bool) {
		for at := n; at != nil && yield(e.PoliciesOn(at.ID)); at = at.Parent {
		}
	})
}

// RulesOfPlace are those of a view or resource about which policies say something.
func RulesOfPlace(said []*meta.Policy) *Rules {
	for _, p := range said {
		if n, ok := p.RollupNumber(); ok {
			return &Rules{Rollup: Rollup(n)}
		}
	}
	return &noRules
}

// Compose gives the rules of a class in some place. said gives the policies about the object, then those about the view
// around it, and so on: of all that is said about the same thing, the nearest counts.
func Compose(def *catalog.Class, said iter.Seq[[]*meta.Policy]) *Rules {
	others := map[int]*catalog.Override{}
	interval, paced := def.Interval, false
	for here := range said {
		for _, p := range here {
			for i := range p.Thresholds {
				if o := &p.Thresholds[i]; o.Class == def.Name && others[o.N] == nil {
					others[o.N] = o
				}
			}
		}
		if every, ok := paceOf(here, def.Name); ok && !paced {
			interval, paced = every, true
		}
	}
	if len(others) == 0 && !paced {
		return RulesOf(def)
	}
	rules := &Rules{Thresholds: def.Rules(), Interval: belfry.Time(max(interval.Std().Microseconds(), 0))}
	if len(others) > 0 {
		rules.Thresholds = def.Overridden(others)
	}
	return rules
}

// paceOf is what policies about one item say about the interval of a class: by name, or else of all.
func paceOf(said []*meta.Policy, class string) (every catalog.Duration, ok bool) {
	for _, p := range said {
		for _, pace := range p.Intervals {
			if pace.Class == class {
				return pace.Every, true
			}
			if pace.Class == "" {
				every, ok = pace.Every, true
			}
		}
	}
	return every, ok
}

// ruleSource says where a threshold of an item comes from.
func (e *sight) ruleSource(n *meta.Node, r *catalog.Rule) string {
	if r.Policy == "" {
		return "class " + n.Class.Name
	}
	for at := n; e.within.Has(at); at = at.Parent {
		for _, p := range e.PoliciesOn(at.ID) {
			if p.Name == r.Policy {
				return "policy " + r.Policy
			}
		}
	}
	return "policy" // of somebody else: its name is not for everybody
}

// LastValues are the last ones of an object.
type LastValues struct{ *belfry.ItemState }

// Number gives an indicator that is a number.
func (v LastValues) Number(n int) (float64, bool) {
	if n > len(v.Numbers) || math.IsNaN(v.Numbers[n-1]) {
		return 0, false
	}
	return v.Numbers[n-1], true
}

// Text gives an indicator that is a text.
func (v LastValues) Text(n int) (string, bool) {
	if n > len(v.Texts) || v.Texts[n-1] == "" {
		return "", false
	}
	return v.Texts[n-1], true
}

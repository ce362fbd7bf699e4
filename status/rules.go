package status

import (
	"iter"
	"math"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// noRules applies to items without class rules and policies.
var noRules Rules

// RulesOf returns the rules of a class. They are shared and must not be changed.
func RulesOf(def *catalog.Class) *Rules {
	every := def.Interval.Std().Microseconds()
	if every <= 0 && len(def.Rules()) == 0 {
		return &noRules
	}
	return &Rules{Thresholds: def.Rules(), Interval: belfry.Time(max(every, 0))}
}

// RulesFor returns the rules of an item in the tree, without its monitoring period. The caller holds the lock of the
// tree.
func RulesFor(e *meta.Tenant, n *meta.Node) *Rules {
	switch {
	case n.Kind != belfry.KindObject:
		return RulesOfPlace(e.PoliciesOn(n.ID))
	case n.Class.Def == nil:
		return &noRules
	}
	return Compose(n.Class.Def, func(yield func([]*meta.Policy) bool) {
		for a := n; a != nil && yield(e.PoliciesOn(a.ID)); a = a.Parent {
		}
	})
}

// RulesOfPlace returns the rules of a view or resource from the policies on it.
func RulesOfPlace(policies []*meta.Policy) *Rules {
	for _, p := range policies {
		if n, ok := p.RollupNumber(); ok {
			return &Rules{Rollup: Rollup(n)}
		}
	}
	return &noRules
}

// Compose returns the rules of a class for one object. policies iterates over the policies on the object, then those on
// the view that contains it, and so on: for each setting, the nearest policy wins.
func Compose(def *catalog.Class, policies iter.Seq[[]*meta.Policy]) *Rules {
	overrides := map[int]*catalog.Override{}
	interval, found := def.Interval, false
	for here := range policies {
		for _, p := range here {
			for i := range p.Thresholds {
				if o := &p.Thresholds[i]; o.Class == def.Name && overrides[o.N] == nil {
					overrides[o.N] = o
				}
			}
		}
		if every, ok := intervalOf(here, def.Name); ok && !found {
			interval, found = every, true
		}
	}
	if len(overrides) == 0 && !found {
		return RulesOf(def)
	}
	rules := &Rules{Thresholds: def.Rules(), Interval: belfry.Time(max(interval.Std().Microseconds(), 0))}
	if len(overrides) > 0 {
		rules.Thresholds = def.Overridden(overrides)
	}
	return rules
}

// intervalOf returns the interval that the policies on one item set for a class: by its name, or else for all classes.
func intervalOf(policies []*meta.Policy, class string) (every catalog.Duration, ok bool) {
	for _, p := range policies {
		for _, i := range p.Intervals {
			if i.Class == class {
				return i.Every, true
			}
			if i.Class == "" {
				every, ok = i.Every, true
			}
		}
	}
	return every, ok
}

// LastValues are the last values of an object.
type LastValues struct{ *belfry.ItemState }

// Number returns an indicator that is a number.
func (v LastValues) Number(n int) (float64, bool) {
	if n > len(v.Numbers) || math.IsNaN(v.Numbers[n-1]) {
		return 0, false
	}
	return v.Numbers[n-1], true
}

// Text returns an indicator that is a text.
func (v LastValues) Text(n int) (string, bool) {
	if n > len(v.Texts) || v.Texts[n-1] == "" {
		return "", false
	}
	return v.Texts[n-1], true
}

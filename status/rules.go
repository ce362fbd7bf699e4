package status

import (
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

// RulesFor are what decides about an item, as the tree has it. It is read under the tree's lock.
func RulesFor(n *meta.Node) *Rules {
	if n.Kind != belfry.KindObject || n.Class.Def == nil {
		return &noRules
	}
	return RulesOf(n.Class.Def)
}

// ruleSource says where a threshold of an item comes from.
func ruleSource(n *meta.Node, _ *catalog.Rule) string { return "class " + n.Class.Name }

// LastValues are the last ones of an object.
type LastValues struct{ *belfry.State }

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

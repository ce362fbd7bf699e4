package catalog

import (
	"fmt"
	"hash/fnv"

	"belfry"
)

// Rule is a threshold together with its indicator.
type Rule struct {
	Key    uint64 // hash of the rule; independent of other rules
	N      int    // of the indicator
	Name   string // of the indicator
	Unit   string
	Policy string // that defines it; empty: the class
	Threshold
}

// Rules lists the thresholds of all indicators.
func (c *Class) Rules() []Rule { return c.rules }

// rulesOf lists thresholds by indicator, those of an indicator in the order written.
func rulesOf(indicators []Indicator) (rules []Rule) {
	seen := map[uint64]bool{}
	for i := range indicators {
		ind := &indicators[i]
		for _, th := range ind.Thresholds {
			key := ruleKey(ind, th)
			if seen[key] {
				continue // a duplicate
			}
			seen[key] = true
			rules = append(rules, Rule{Key: key, N: ind.N, Name: ind.Name, Unit: ind.Unit, Threshold: th})
		}
	}
	return rules
}

func ruleKey(ind *Indicator, th Threshold) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d|%t|%s|%d|%s|%d", ind.N, ind.Text, th.When, th.Status, th.Recover, th.After)
	return h.Sum64()
}

// Holds reports whether the rule is in force after that many consecutive values have met it.
func (r *Rule) Holds(count uint16) bool { return int(count) >= max(r.After, 1) }

// Count returns how many consecutive values have met the rule after one more: the number n, or the text for a text
// indicator. While the rule is in force the count stays until it ends.
func (r *Rule) Count(before uint16, n float64, text string) uint16 {
	switch met := r.When.meets(n, text); {
	case r.Holds(before) && (met || !r.Recover.IsZero() && !r.Recover.meets(n, text)):
		return before
	case !r.Holds(before) && met:
		return before + 1
	}
	return 0
}

func (c Condition) meets(n float64, text string) bool {
	if c.IsText {
		return c.MetText(text)
	}
	return c.Met(n)
}

// Describe says in words that a value meets the rule. An empty value means that it is not known.
func (r *Rule) Describe(value string) string {
	if value == "" {
		return r.name() + " " + r.When.String()
	}
	return r.Value(value) + " (" + r.When.String() + ")"
}

// Value returns a value of the indicator with name and unit: "Used 97 %".
func (r *Rule) Value(value string) string {
	if r.Unit != "" {
		value += " " + r.Unit
	}
	return r.name() + " " + value
}

func (r *Rule) name() string {
	if r.Name != "" {
		return r.Name
	}
	return belfry.IndicatorColumn(r.N)
}

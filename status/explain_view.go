package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
)

// ExplainedRollup says how a view or resource adds up.
type ExplainedRollup struct {
	Rule   string           `json:"rule" help:"worst, best, or a number: so many must be at least that bad."`
	Counts map[string]int32 `json:"counts" help:"Items directly in it, by the name of their status."`
	Items  int32            `json:"items" schema:"minimum=0"`
	Count  int32            `json:"count" help:"Items that are not Unknown." schema:"minimum=0"`
}

func explainRollup(n *meta.Node, r *Rules) *ExplainedRollup {
	out := &ExplainedRollup{Rule: r.Rollup.String(), Counts: map[string]int32{}}
	for s, count := range n.Counts() {
		if out.Items += count; count == 0 {
			continue
		}
		out.Counts[belfry.Status(s).Name()] = count
		if belfry.Status(s) != belfry.Unknown {
			out.Count += count
		}
	}
	return out
}

// String is worst, best, or the number.
func (r Rollup) String() string {
	switch {
	case r == Best:
		return "best"
	case r <= 1:
		return "worst"
	}
	return strconv.Itoa(int(r))
}

// ExplainedStep is an item on the way down, and others beside it that are as bad.
type ExplainedStep struct {
	ExplainedItem
	AsBad     []ExplainedItem `json:"asbad,omitempty" help:"Others beside it that are as bad." schema:"maxItems=10"`
	AsBadMore int             `json:"asbadmore,omitempty" help:"How many others there are." schema:"minimum=1"`
}

const (
	maxChain = 64 // levels
	maxAsBad = 10
)

// chain goes from a view or resource down to what decides: at each level the item that makes the one around it what it
// is, the one that has been so for the longest time first. Where nothing is wrong there is no way to go.
func (e *sight) chain(n *meta.Node) (steps []ExplainedStep) {
	for len(steps) < maxChain && n.Kind != belfry.KindObject && n.State.Own.IsError() {
		first, count := e.culprits(n)
		if len(first) == 0 {
			break
		}
		step := ExplainedStep{ExplainedItem: e.item(first[0]), AsBadMore: count - len(first)}
		for _, c := range first[1:] {
			step.AsBad = append(step.AsBad, e.item(c))
		}
		steps = append(steps, step)
		n = first[0]
	}
	return steps
}

// culprits finds the items directly in a view that are as bad as it is, or worse where several are needed: the first of
// them, and how many there are.
func (e *sight) culprits(n *meta.Node) (first []*meta.Node, count int) {
	best := RulesFor(e.Tenant, n).Rollup == Best
	n.Children(func(c *meta.Node) bool {
		if c.State.Status < n.State.Own || best && c.State.Status > n.State.Own {
			return true
		}
		count++
		at, _ := slices.BinarySearchFunc(first, c, before)
		if at <= maxAsBad {
			first = slices.Insert(first, at, c)
			first = first[:min(len(first), 1+maxAsBad)]
		}
		return true
	})
	return first, count
}

// before orders what is as bad: the worst, then the longest, then by name.
func before(a, b *meta.Node) int {
	return cmp.Or(cmp.Compare(b.State.Status, a.State.Status), cmp.Compare(a.State.Since, b.State.Since),
		strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

package explain

import (
	"cmp"
	"slices"
	"strings"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// ExplainedRollup describes how the status of a view or resource is rolled up.
type ExplainedRollup struct {
	Rule   string           `json:"rule" help:"worst, best, or a number: how many items must be at least that bad."`
	Counts map[string]int32 `json:"counts" help:"Items directly in it, by the name of their status."`
	Items  int32            `json:"items" schema:"minimum=0"`
	Count  int32            `json:"count" help:"Items that are not Unknown." schema:"minimum=0"`
}

func explainRollup(n *meta.Node, r *status.Rules) *ExplainedRollup {
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

// ExplainedStep is an item on the path down, with its siblings that are as bad.
type ExplainedStep struct {
	ExplainedItem
	AsBad     []ExplainedItem `json:"asbad,omitempty" help:"Other items at the same level with the same status." schema:"maxItems=10"`
	AsBadMore int             `json:"asbadmore,omitempty" help:"Number of further such items." schema:"minimum=1"`
}

const (
	maxChain = 64 // levels
	maxAsBad = 10
)

// chain descends from a view or resource to the item that decides its status. At each level it picks the item that
// determines the status of the one above, the one that has been so for the longest time first. It is empty if there is
// no error.
func (e *scopedTenant) chain(n *meta.Node) (steps []ExplainedStep) {
	for len(steps) < maxChain && n.Kind != belfry.KindObject && n.State.Evaluated.IsError() {
		first, count := e.causes(n)
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

// causes returns the items directly in a view that are as bad as it is, or worse if the roll-up needs several: the first
// of them, and how many there are.
func (e *scopedTenant) causes(n *meta.Node) (first []*meta.Node, count int) {
	best := status.RulesFor(e.Tenant, n).Rollup == status.Best
	n.Children(func(c *meta.Node) bool {
		if c.State.Status < n.State.Evaluated || best && c.State.Status > n.State.Evaluated {
			return true
		}
		count++
		i, _ := slices.BinarySearchFunc(first, c, compareCauses)
		if i <= maxAsBad {
			first = slices.Insert(first, i, c)
			first = first[:min(len(first), 1+maxAsBad)]
		}
		return true
	})
	return first, count
}

// compareCauses orders items by status, worst first, then by how long they have had it, then by name.
func compareCauses(a, b *meta.Node) int {
	return cmp.Or(cmp.Compare(b.State.Status, a.State.Status), cmp.Compare(a.State.Since, b.State.Since),
		strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

package explain

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// ExplainedValue is an indicator with its last value and its thresholds.
type ExplainedValue struct {
	N          int             `json:"n" schema:"minimum=1,maximum=100"`
	Name       string          `json:"name"`
	Unit       string          `json:"unit,omitempty"`
	Value      any             `json:"value,omitempty" help:"The last one; absent when there was none." schema:"type=number|string"`
	Thresholds []ExplainedRule `json:"thresholds"`
}

// ExplainedRule is a threshold and its current state.
type ExplainedRule struct {
	When       string `json:"when"`
	Status     string `json:"status" schema:"enum=1|2|3"`
	StatusName string `json:"statusname"`
	Recover    string `json:"recover,omitempty"`
	Met        bool   `json:"met" help:"Whether the last value meets it."`
	Count      int    `json:"count" help:"Number of consecutive values that met it, at most the number needed." schema:"minimum=0"`
	After      int    `json:"after" help:"Number of consecutive values needed." schema:"minimum=1"`
	InForce    bool   `json:"inforce" help:"Whether it was reached and has not ended."`
	Decides    bool   `json:"decides" help:"Whether it determines the status of the object."`
	Source     string `json:"source" help:"Where the threshold comes from."`
}

// values lists the indicators of an object: those of its class and those for which it has values.
func (e *scopedTenant) values(n *meta.Node, r *status.Rules) []ExplainedValue {
	last, decides := status.LastValues{ItemState: &n.State}, deciding(&n.State.State, r)
	out := []ExplainedValue{}
	for i := 1; i <= belfry.MaxIndicators; i++ {
		v := ExplainedValue{N: i, Name: belfry.IndicatorColumn(i), Thresholds: []ExplainedRule{}}
		known := false
		if n.Class.Def != nil {
			if def := n.Class.Def.Indicator(i); def != nil {
				v.Name, v.Unit, known = def.Name, def.Unit, true
			}
		}
		if number, ok := last.Number(i); ok {
			v.Value, known = number, true
		} else if text, ok := last.Text(i); ok {
			v.Value, known = text, true
		}
		for k := range r.Thresholds {
			if rule := &r.Thresholds[k]; rule.N == i {
				v.Thresholds, known = append(v.Thresholds, e.rule(n, rule, last, k == decides)), true
			}
		}
		if known {
			out = append(out, v)
		}
	}
	return out
}

func (e *scopedTenant) rule(n *meta.Node, r *catalog.Rule, last status.LastValues, decides bool) ExplainedRule {
	count := status.Count(n.State.Marks, r.Key)
	out := ExplainedRule{
		When: r.When.String(), Status: r.Status.String(), StatusName: r.Status.Name(), Count: int(count), After: max(r.After, 1),
		InForce: r.Holds(count), Decides: decides, Source: e.ruleSource(n, r),
	}
	if !r.Recover.IsZero() {
		out.Recover = r.Recover.String()
	}
	if r.When.IsText {
		text, ok := last.Text(r.N)
		out.Met = ok && r.When.MetText(text)
	} else {
		number, ok := last.Number(r.N)
		out.Met = ok && r.When.Met(number)
	}
	return out
}

// ruleSource returns where a threshold of an item comes from.
func (e *scopedTenant) ruleSource(n *meta.Node, r *catalog.Rule) string {
	if r.Policy == "" {
		return "class " + n.Class.Name
	}
	for a := n; e.within.Has(a); a = a.Parent {
		for _, p := range e.PoliciesOn(a.ID) {
			if p.Name == r.Policy {
				return "policy " + r.Policy
			}
		}
	}
	return "policy" // outside the scope: its name must not be shown
}

// deciding returns the index of the threshold that decides the object's status, or -1 if none does.
func deciding(s *belfry.State, r *status.Rules) int {
	i := status.DecidingRule(s.Marks, r.Thresholds)
	if i >= 0 && r.Thresholds[i].Status != s.Evaluated {
		return -1 // no response, or no data for too long
	}
	return i
}

// ExplainedInterval says when an object becomes Unknown for lack of data.
type ExplainedInterval struct {
	Interval  string `json:"interval" help:"Expected between two rows, as 1m0s."`
	LastSeen  string `json:"heard,omitempty" help:"Time of the newest data, or of the newest report of no response." schema:"format=date-time"`
	UnknownAt string `json:"unknownat,omitempty" help:"When it becomes Unknown if no more data arrive." schema:"format=date-time"`
	Overdue   bool   `json:"overdue" help:"Whether the data are overdue."`
}

func explainInterval(s *belfry.State, r *status.Rules, since, now belfry.Time) *ExplainedInterval {
	if r.Interval == 0 {
		return nil
	}
	stale := status.Stale(*s, r, since, now)
	return &ExplainedInterval{
		Interval: formatDuration(r.Interval), LastSeen: formatTime(s.LastSeen), UnknownAt: formatTime(stale),
		Overdue: s.LastSeen != 0 && s.Evaluated == belfry.Unknown || stale != 0 && now >= stale,
	}
}

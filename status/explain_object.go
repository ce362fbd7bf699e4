package status

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// ExplainedValue is an indicator with its last value and what is said about it.
type ExplainedValue struct {
	N          int             `json:"n"`
	Name       string          `json:"name"`
	Unit       string          `json:"unit,omitempty"`
	Value      any             `json:"value,omitempty"` // a number or a text; absent when there was none yet
	Thresholds []ExplainedRule `json:"thresholds"`
}

// ExplainedRule is a threshold and how far it is met.
type ExplainedRule struct {
	When       string `json:"when"`
	Status     string `json:"status"`
	StatusName string `json:"statusname"`
	Recover    string `json:"recover,omitempty"`
	Met        bool   `json:"met"`     // by the last value
	Count      int    `json:"count"`   // so many values in a row have met it
	After      int    `json:"after"`   // so many are needed
	InForce    bool   `json:"inforce"` // they have been reached, and nothing has ended it
	Decides    bool   `json:"decides"` // it is why the object has its status
	Source     string `json:"source"`  // where the threshold comes from
}

// values lists the indicators of an object: those of its class and those that it has values of.
func (e *sight) values(n *meta.Node, r *Rules) []ExplainedValue {
	last, decides := LastValues{&n.State}, deciding(&n.State.State, r)
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

func (e *sight) rule(n *meta.Node, r *catalog.Rule, last Values, decides bool) ExplainedRule {
	count := count(n.State.Marks, r.Key)
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

// deciding finds the threshold by which an object has its status; -1 when none is the reason.
func deciding(s *belfry.State, r *Rules) int {
	worst, status := -1, belfry.OK
	for i := range r.Thresholds {
		if rule := &r.Thresholds[i]; rule.Holds(count(s.Marks, rule.Key)) && rule.Status > status {
			worst, status = i, rule.Status
		}
	}
	if status != s.Evaluated {
		return -1 // no response, or nothing heard for too long
	}
	return worst
}

// ExplainedInterval says when an object is given up.
type ExplainedInterval struct {
	Interval  string `json:"interval"`            // between two rows
	Heard     string `json:"heard,omitempty"`     // of the newest data, or report that there was no response
	UnknownAt string `json:"unknownat,omitempty"` // when nothing more is heard
	Overdue   bool   `json:"overdue"`             // it has been given up
}

func explainInterval(s *belfry.State, r *Rules, since, now belfry.Time) *ExplainedInterval {
	if r.Interval == 0 {
		return nil
	}
	stale := Stale(*s, r, since, now)
	return &ExplainedInterval{
		Interval: duration(r.Interval), Heard: moments(s.LastSeen), UnknownAt: moments(stale),
		Overdue: s.LastSeen != 0 && s.Evaluated == belfry.Unknown || stale != 0 && now >= stale,
	}
}

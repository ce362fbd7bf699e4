package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"belfry/client"
	"belfry/status/explain"
)

type explainCmd struct {
	serverFlags
	Kind     string `arg:"" help:"Kind of the item: object, resource or view."`
	Name     string `arg:"" help:"Name of the item."`
	Resource string `name:"resname" help:"Resource of the item, if several resources have one of that name." placeholder:"NAME"`
	JSON     bool   `name:"json" help:"Print the response of the server unchanged."`
}

// Run prints why an item has its status.
func (c *explainCmd) Run(s streams) error {
	out := newConsole(s, "", true)
	cl, err := c.open(nil, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	text, err := cl.Explain(ctx, c.Kind, c.Name, c.Resource)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = s.out.Write(text)
		return err
	}
	var e explain.Explanation
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("read the response of the server: %w", err)
	}
	_, err = fmt.Fprint(s.out, explanationText(&e))
	return err
}

// explanationText formats the sentence and, below it, the details.
func explanationText(e *explain.Explanation) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(client.Printable(fmt.Sprintf(format, args...)) + "\n") }
	line("%s", e.Text)
	for depth, step := range e.Chain {
		line("%s%s %s: %s since %s%s", strings.Repeat("  ", depth+1), step.Kind, step.Name, step.StatusName, step.Since, after(": ", step.Info))
		for _, other := range step.AsBad {
			line("%s%s %s: %s since %s%s", strings.Repeat("  ", depth+1), other.Kind, other.Name, other.StatusName, other.Since, after(": ", other.Info))
		}
		if step.AsBadMore > 0 {
			line("%sand %d more", strings.Repeat("  ", depth+1), step.AsBadMore)
		}
	}
	for _, v := range e.Indicators {
		value := "no value yet"
		if v.Value != nil {
			value = fmt.Sprint(v.Value) + after(" ", v.Unit)
		}
		line("  %s: %s", v.Name, value)
		for _, t := range v.Thresholds {
			line("    %s %s%s: %s (%s)", t.StatusName, t.When, after(" until ", t.Recover), force(t), t.Source)
		}
	}
	if i := e.Staleness; i != nil && i.UnknownAt != "" {
		line("  expected every %s; without data Unknown at %s", i.Interval, i.UnknownAt)
	}
	if e.Note != "" {
		line("  note: %s", e.Note)
	}
	return b.String()
}

// force returns how far a threshold is met.
func force(t explain.ExplainedRule) string {
	switch {
	case t.InForce && t.Decides:
		return "in force, and decides"
	case t.InForce:
		return "in force"
	case t.Count > 0:
		return fmt.Sprintf("met by %d of %d values in a row", t.Count, t.After)
	}
	return "not met"
}

// after returns text with lead before it; empty if text is.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

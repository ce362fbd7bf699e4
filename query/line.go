package query

import (
	"context"
	"strings"
)

// Line is one line of an explanation: the part of the plan it is about, and what it says.
type Line struct{ Part, Text string }

// Lines gives what Explain prints, line by line.
func (p *Plan) Lines() []Line {
	var list []Line
	for line := range strings.Lines(p.Explain()) {
		part, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		list = append(list, Line{part, strings.TrimLeft(text, " ")})
	}
	return list
}

// Explainer is a Source that can say how it would answer a plan: which files, summaries and indexes it would read.
type Explainer interface {
	Explain(ctx context.Context, p *Plan) ([]Line, error)
}

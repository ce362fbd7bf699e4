package encode

import (
	"io"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Explanation is the answer with the plan of a query.
type Explanation struct {
	Missing []string      `json:"missing,omitempty" help:"Days that would be missing from a partial answer."`
	Plan    explainedPlan `json:"plan"`
}

// explainedPlan is a plan for programs.
type explainedPlan struct {
	Collection string           `json:"collection"`
	Historical bool             `json:"historical"`
	From       string           `json:"from,omitempty" help:"Absent when the span has no beginning." schema:"format=date-time"`
	To         string           `json:"to,omitempty" help:"Absent when the span has no end." schema:"format=date-time"`
	Latest     int              `json:"latest,omitempty" help:"How many rows are read, the most recent ones that meet the conditions, before they are grouped or put in order; absent when it is all of the span, and when the rows come newest first, where the limit says it." schema:"minimum=1"`
	Items      *int             `json:"items,omitempty" help:"How many items have the names that the query gives." schema:"minimum=0"`
	Order      []explainedOrder `json:"order"`
	Limit      int              `json:"limit" schema:"minimum=0"`
	Offset     int              `json:"offset" schema:"minimum=0"`
	Notes      []string         `json:"notes" help:"Assumptions of the plan."`
	Lines      []explainedLine  `json:"lines" help:"The whole plan for human readers, and what would be read for it. New versions may add parts."`
}

type explainedOrder struct {
	Field      string `json:"field"`
	Descending bool   `json:"descending"`
}

type explainedLine struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

// Explain describes a plan; lines are all of it for people.
func Explain(p *query.Plan, lines []query.Line) Explanation {
	e := explainedPlan{
		Collection: p.Collection.Name, Historical: p.Collection.Historical, Latest: p.Latest, Limit: p.Limit, Offset: p.Offset,
		Order: []explainedOrder{}, Notes: append([]string{}, p.Notes...),
	}
	if p.From > 0 {
		e.From = p.From.String()
	}
	if p.To < query.Forever {
		e.To = p.To.String()
	}
	if p.ItemsKnown {
		n := len(p.Items)
		e.Items = &n
	}
	for _, o := range p.Order {
		e.Order = append(e.Order, explainedOrder{o.Column.Name, o.Desc})
	}
	for _, l := range lines {
		e.Lines = append(e.Lines, explainedLine{l.Part, l.Text})
	}
	return Explanation{Missing: p.Partial.Days(), Plan: e}
}

// lineRows are the lines of an explanation as rows.
type lineRows struct {
	lines []query.Line
	row   [2]belfry.Value
}

// LineRows returns the lines of an explanation as rows.
func LineRows(lines []query.Line) query.Rows { return &lineRows{lines: lines} }

func (r *lineRows) Columns() []query.Output {
	return []query.Output{{Name: "part", Column: query.Column{Type: catalog.Text}}, {Name: "text", Column: query.Column{Type: catalog.Text}}}
}

func (r *lineRows) Next() ([]belfry.Value, error) {
	if len(r.lines) == 0 {
		return nil, io.EOF
	}
	r.row = [2]belfry.Value{{Type: belfry.TextValue, Text: r.lines[0].Part}, {Type: belfry.TextValue, Text: r.lines[0].Text}}
	r.lines = r.lines[1:]
	return r.row[:], nil
}

func (r *lineRows) Close() error { return nil }

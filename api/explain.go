package api

import (
	"context"
	"io"
	"net/http"

	"belfry"
	"belfry/api/encode"
	"belfry/catalog"
	"belfry/query"
)

// explain answers with the plan of a query instead of its rows: for programs an object of what is worth a look-up, and
// for people every part of it as a line. In CSV and NDJSON it is the lines alone.
func (s *Server) explain(clock *stopwatch, w *answer, r *request, q *sqlQuery) error {
	if q.format != encode.JSON {
		lines, err := compute(r, func() ([]query.Line, error) { return s.lines(clock, r, q.plan) })
		if err != nil {
			return err
		}
		_, err = s.stream(clock, w, r, q, len(lines), &lineRows{lines: lines})
		return err
	}
	text, err := compute(r, func() ([]byte, error) {
		lines, err := s.lines(clock, r, q.plan)
		if err != nil {
			return nil, err
		}
		return encodeJSON(explanation{Missing: q.plan.Partial.Days(), Plan: explainedPlanOf(q.plan, lines)})
	})
	if err != nil {
		return err
	}
	writeBody(w, http.StatusOK, text)
	return nil
}

// lines are the parts of a plan, and how it would be answered.
func (s *Server) lines(ctx context.Context, r *request, plan *query.Plan) ([]query.Line, error) {
	lines := plan.Lines()
	e, ok := s.Source(plan.Collection).(query.Explainer)
	if !ok {
		return lines, nil
	}
	more, err := e.Explain(ctx, plan)
	if err != nil {
		return nil, err
	}
	// Which files an engine would read depends on the rows of all customers.
	if r.level == belfry.LevelInstance && !r.scope().Limited() {
		lines = append(lines, more...)
	}
	return lines, nil
}

// explanation is the answer with the plan of a query.
type explanation struct {
	Missing []string      `json:"missing,omitempty" help:"Days that a partial answer would be without."`
	Plan    explainedPlan `json:"plan"`
}

// explainedPlan is a plan as a program reads it.
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
	Notes      []string         `json:"notes" help:"What the plan took for granted."`
	Lines      []explainedLine  `json:"lines" help:"The whole plan for people, and what would be read for it. New parts may come with new versions."`
}

type explainedOrder struct {
	Field      string `json:"field"`
	Descending bool   `json:"descending"`
}

type explainedLine struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

func explainedPlanOf(p *query.Plan, lines []query.Line) explainedPlan {
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
	return e
}

// lineRows are the lines of an explanation as rows.
type lineRows struct {
	lines []query.Line
	row   [2]belfry.Value
}

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

package api

import (
	"context"
	"io"
	"net/http"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// explain answers with the plan of a query instead of its rows: for programs an object of what is worth a look-up, and
// for people every part of it as a line. In CSV and NDJSON it is the lines alone.
func (s *Server) explain(clock *stopwatch, w *answer, r *request, q *asked) error {
	if q.wt != "json" {
		lines, err := compute(r, func() ([]query.Line, error) { return s.lines(clock, r, q.plan) })
		if err != nil {
			return err
		}
		_, err = s.stream(clock, w, r, q.wt, len(lines), &lineRows{lines: lines}, q.plan.Partial, nil)
		return err
	}
	text, err := compute(r, func() ([]byte, error) {
		lines, err := s.lines(clock, r, q.plan)
		if err != nil {
			return nil, err
		}
		body := map[string]any{"plan": explanationOf(q.plan, lines)}
		if days := q.plan.Partial.Days(); len(days) > 0 {
			body["missing"] = days
		}
		return encodeJSON(body)
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

// explanation is a plan as a program reads it.
type explanation struct {
	Collection string           `json:"collection"`
	Historical bool             `json:"historical"`
	From       string           `json:"from,omitempty"`
	To         string           `json:"to,omitempty"`
	Latest     int              `json:"latest,omitempty"` // how many of the most recent rows are read
	Items      *int             `json:"items,omitempty"`  // found by the names that the query gives
	Order      []explainedOrder `json:"order"`
	Limit      int              `json:"limit"`
	Offset     int              `json:"offset"`
	Notes      []string         `json:"notes"`
	Lines      []explainedLine  `json:"lines"`
}

type explainedOrder struct {
	Field      string `json:"field"`
	Descending bool   `json:"descending"`
}

type explainedLine struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

func explanationOf(p *query.Plan, lines []query.Line) explanation {
	e := explanation{
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

package api

import (
	"io"
	"net/http"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// explain answers with the plan of a query instead of its rows: for programs an object of what is worth a look-up, and
// for people every part of it as a line. In CSV and NDJSON it is the lines alone.
func (s *Server) explain(clock *stopwatch, w *answer, r *request, wt string, plan *query.Plan) error {
	lines := plan.Lines()
	if e, ok := s.Source(plan.Collection).(query.Explainer); ok {
		more, err := e.Explain(clock, plan)
		if err != nil {
			return err
		}
		// Which files an engine would read depends on the rows of all customers.
		if r.level == belfry.LevelInstance && !r.scope().Limited() {
			lines = append(lines, more...)
		}
	}
	if wt != "json" {
		_, err := s.stream(clock, w, r, wt, len(lines), &lineRows{lines: lines}, plan.Partial)
		return err
	}
	body := map[string]any{"plan": explanationOf(plan, lines)}
	if days := plan.Partial.Days(); len(days) > 0 {
		body["missing"] = days
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

// explanation is a plan as a program reads it.
type explanation struct {
	Collection string           `json:"collection"`
	Historical bool             `json:"historical"`
	From       string           `json:"from,omitempty"`
	To         string           `json:"to,omitempty"`
	Items      *int             `json:"items,omitempty"` // found by the names that the query gives
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
		Collection: p.Collection.Name, Historical: p.Collection.Historical, Limit: p.Limit, Offset: p.Offset,
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

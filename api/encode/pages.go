package encode

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"belfry"
	"belfry/query"
)

// A query can be answered in pages, with the parameter after: empty for the first, then the next of the page before. That
// text holds the position of the last row, and the NOW of the first page, so that the span of the query stays the same. A
// client that has the timestamp and the id of the last row may send these instead.

// Cursor is where a page begins.
type Cursor struct {
	Now  belfry.Time // when the first page was requested; 0: unknown
	Mark []string    // position of the row before the page; nil for the first page
}

// ParseCursor reads a cursor as a page gives it, or timestamp,id of a row.
func ParseCursor(text string) (c Cursor, err error) {
	switch {
	case text == "":
		return c, nil
	case strings.Contains(text, ","):
		return Cursor{Mark: strings.Split(text, ",")}, nil
	}
	var list []string
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil || len(list) < 2 {
		return c, query.ErrMark
	}
	now, err := time.Parse(belfry.TimeFormat, list[0])
	if err != nil {
		return c, query.ErrMark
	}
	return Cursor{belfry.At(now), list[1:]}, nil
}

// String is the text that ParseCursor reads. It needs no escaping in header fields and addresses.
func (c Cursor) String() string {
	raw, _ := json.Marshal(append([]string{c.Now.String()}, c.Mark...)) // texts always encode
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Page is a page of rows: those of a marked plan without their marks. It remembers the mark of the last row that is written.
type Page struct {
	query.Rows
	Plan *query.Plan
	Now  belfry.Time
	n    int
	mark []string
}

// Columns implements query.Rows.
func (p *Page) Columns() []query.Output {
	all := p.Rows.Columns()
	return all[:len(all)-len(p.Plan.Order)]
}

// Next implements query.Rows.
func (p *Page) Next() ([]belfry.Value, error) {
	row, err := p.Rows.Next()
	if err != nil {
		return nil, err
	}
	if p.n++; p.n != p.Plan.Limit {
		return row[:len(row)-len(p.Plan.Order)], nil
	}
	row, p.mark = p.Plan.Mark(row)
	return row, nil
}

// next is the cursor of the page after these rows; empty when there is none.
func (p *Page) next() string {
	if p.mark == nil {
		return ""
	}
	return Cursor{p.Now, p.mark}.String()
}

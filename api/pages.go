package api

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"belfry"
	"belfry/query"
)

// An answer can be asked for in pages, with the parameter after: empty for the first, then what the page before gave as
// next. That text says where its last row stands, and what NOW was for the first page, so that the span of a query stays
// where it was. A client that has the timestamp and the id of the last row may write these instead.

// cursor is where a page begins.
type cursor struct {
	now  belfry.Time // when the first page was asked for; 0 when that is not known
	mark []string    // of the row before the page; nil for the first page
}

// readCursor reads the parameter after; nil when the answer is not asked for in pages.
func readCursor(params params) (*cursor, error) {
	text := params.Get("after")
	switch {
	case !params.Has("after"):
		return nil, nil
	case text == "":
		return &cursor{}, nil
	case strings.Contains(text, ","):
		return &cursor{mark: strings.Split(text, ",")}, nil
	}
	var list []string
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil || len(list) < 2 {
		return nil, query.ErrMark
	}
	now, err := time.Parse(belfry.TimeFormat, list[0])
	if err != nil {
		return nil, query.ErrMark
	}
	return &cursor{belfry.At(now), list[1:]}, nil
}

// cursorText is what readCursor reads. Header fields and addresses take it as it is.
func cursorText(now belfry.Time, mark []string) string {
	raw, _ := json.Marshal(append([]string{now.String()}, mark...)) // texts can always be written
	return base64.RawURLEncoding.EncodeToString(raw)
}

// markedRows takes the mark off the rows of a marked plan, and keeps that of the last row that the client gets.
type markedRows struct {
	query.Rows
	plan *query.Plan
	n    int
	mark []string
}

func (r *markedRows) Columns() []query.Output {
	all := r.Rows.Columns()
	return all[:len(all)-len(r.plan.Order)]
}

func (r *markedRows) Next() ([]belfry.Value, error) {
	row, err := r.Rows.Next()
	if err != nil {
		return nil, err
	}
	if r.n++; r.n != r.plan.Limit {
		return row[:len(row)-len(r.plan.Order)], nil
	}
	row, r.mark = r.plan.Mark(row)
	return row, nil
}

// next tells where the page after these rows begins, empty when none can be asked for; nil where the answer is not in pages.
func (q *asked) next(rows query.Rows) func() string {
	if !q.pages {
		return nil
	}
	return func() string {
		if r, ok := rows.(*markedRows); ok && r.mark != nil {
			return cursorText(q.now, r.mark)
		}
		return ""
	}
}

package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/query"
	"belfry/store"
)

// evaluated is a source of rows in memory that notes the spans it was asked for.
type evaluated struct {
	store.Store
	rows  []event
	spans [][2]belfry.Time
}

// event is a row of events with a time and an id.
type event struct {
	at belfry.Time
	id int64
}

func (e event) Value(field string) belfry.Value {
	switch field {
	case "timestamp":
		return belfry.Value{Type: belfry.TimeValue, Int: int64(e.at)}
	case "id":
		return belfry.Value{Type: belfry.IDValue, Int: e.id}
	case "info":
		return belfry.Value{Type: belfry.TextValue, Text: "a,\"b\"\nno " + strconv.FormatInt(e.id, 10)}
	}
	return belfry.Value{}
}

func (s *evaluated) Select(_ context.Context, p *query.Plan) (query.Rows, error) {
	s.spans = append(s.spans, [2]belfry.Time{p.From, p.To})
	return query.Eval(p, func(yield func(query.Row) bool) {
		for _, r := range s.rows {
			if !yield(r) {
				return
			}
		}
	})
}

// TestAnswerInPages: the pages of an answer have every row once, however the client asks for the next, while rows come in,
// and the span stays where it was for the first page.
func TestAnswerInPages(t *testing.T) {
	r := newRig(t)
	source := &evaluated{}
	r.Rows = store.NewMover(source, store.MoverOptions{})
	start := belfry.At(time.Now().Add(-time.Minute))
	for id := range int64(10) {
		source.rows = append(source.rows, event{start + belfry.Time(id/4), id + 1})
	}
	type page struct {
		ids        []string
		last, next string
		more       bool
		header     http.Header
	}
	ask := func(wt, order, after string) (p page) {
		t.Helper()
		q := url.QueryEscape("SELECT timestamp, id, info FROM events WHERE timestamp > 'NOW-1HOUR'" + order)
		res := r.do("GET", "/api/sql?rows=3&span=1h&q="+q+"&wt="+wt+"&after="+url.QueryEscape(after), "", "X-Api-Key: "+readKey)
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != 200 {
			t.Fatalf("%s after %q: %s", wt, after, text)
		}
		p.header, p.next, p.more = res.Header, res.Trailer.Get(nextTrailer), res.Trailer.Get(moreTrailer) == "true"
		var got struct {
			Rows []struct{ ID, Timestamp string }
			More bool
			Next string
		}
		switch wt {
		case "json":
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			p.next, p.more = got.Next, got.More
		case "ndjson":
			for line := range strings.Lines(string(text)) {
				got.Rows = append(got.Rows, struct{ ID, Timestamp string }{})
				if err := json.Unmarshal([]byte(line), &got.Rows[len(got.Rows)-1]); err != nil {
					t.Fatal(err)
				}
			}
		default:
			records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range records[1:] {
				got.Rows = append(got.Rows, struct{ ID, Timestamp string }{record[1], record[0]})
			}
		}
		for _, row := range got.Rows {
			p.ids, p.last = append(p.ids, row.ID), row.Timestamp+","+row.ID
		}
		return p
	}
	for _, order := range []string{"", " ORDER BY timestamp", " ORDER BY timestamp, id DESC"} {
		for _, wt := range []string{"csv", "ndjson", "json"} {
			for _, byHand := range []bool{false, true} {
				source.spans = nil
				var ids []string
				for after := ""; ; {
					p := ask(wt, order, after)
					ids = append(ids, p.ids...)
					if p.more != (p.next != "") || p.more != (len(ids) < 10) {
						t.Fatalf("%s: after %d rows more is %v, and the next page %q", wt, len(ids), p.more, p.next)
					}
					if wt == "csv" && (p.header.Get("X-Limit") != "3" || p.header.Get("Content-Disposition") != `inline; filename="events.csv"`) {
						t.Errorf("header: %v", p.header)
					}
					if !p.more {
						break
					}
					if after = p.next; byHand {
						after = p.last
					}
					source.rows = append(source.rows, event{belfry.At(time.Now().Add(time.Hour)), int64(len(source.rows)) + 100})
				}
				if slices.Sort(ids); len(slices.Compact(ids)) != 10 {
					t.Errorf("%s%s: %v", wt, order, ids)
				}
				end := min(1, len(order)) // the other end of the span is where the page begins
				for _, s := range source.spans {
					if !byHand && s[end] != source.spans[0][end] {
						t.Errorf("%s%s: the span moves: %v", wt, order, source.spans)
					}
				}
			}
		}
	}
}

// TestPagesRefused: what cannot be had in pages is refused, with what to do instead; without after nothing is.
func TestPagesRefused(t *testing.T) {
	r := newRig(t)
	r.Rows = store.NewMover(&evaluated{}, store.MoverOptions{})
	f := func(q, params, code, want string) {
		t.Helper()
		res := r.do("GET", "/api/sql?q="+url.QueryEscape(q)+params, "", "X-Api-Key: "+readKey)
		text, _ := io.ReadAll(res.Body)
		if !strings.Contains(string(text), `"code":"`+code+`"`) || !strings.Contains(string(text), want) {
			t.Errorf("%s%s: %s, want %s %q", q, params, text, code, want)
		}
		for _, name := range ofRows {
			if res.Header.Get(name) != "" {
				t.Errorf("%s%s: an error with the header %s", q, params, name)
			}
		}
	}
	const q = "SELECT id FROM events"
	f(q, "&rows=5&after=nonsense", "bad_parameter", "as 2026-11-15T08:30:00.000000Z,00000000000001a4")
	f(q, "&rows=5&after=WyJub3ciXQ", "bad_parameter", "after is empty for the first page")
	f(q, "&rows=5&after=WyJub3ciLCJhIiwiYiJd", "bad_parameter", "after is empty for the first page")
	f(q, "&rows=5&after=2026-11-15,1", "bad_parameter", "after is empty for the first page")
	f(q, "&after=", "time_span_required", "events is historical")
	f(q+" LIMIT 5", "&after=", "bad_query", "LIMIT does not go with pages")
	f("SELECT * FROM objectdata", "&rows=5&wt=csv&after=", "bad_parameter", "name the fields, or ask for wt=ndjson")
	f(q+" ORDER BY info", "&rows=5&after=2026-11-15T08:30:00Z,00000000000001a4", "bad_parameter", "ORDER BY timestamp")
}

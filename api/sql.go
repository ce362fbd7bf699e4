package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/query"
)

// maxQuery is the longest body of POST /api/sql.
const maxQuery = 1 << 20

// queryWeight is how many times the length of its text a query takes, with what is read from it.
const queryWeight = 8

func (s *Server) sqlGet(w *answer, r *request) error {
	q, err := compute(r, func() (*asked, error) { return s.asked(r, r.params) })
	if err != nil {
		return err
	}
	return s.sql(w, r, q)
}

func (s *Server) sqlPost(w *answer, r *request) error {
	typ, err := mediaType(r.Request, "application/x-www-form-urlencoded", "application/json")
	if err != nil {
		return err
	}
	text, err := readWhole(w, r, maxQuery, queryWeight)
	if err != nil {
		return err
	}
	q, err := compute(r, func() (*asked, error) {
		params, err := bodyParams(typ, text)
		if err != nil {
			return nil, err
		}
		params = append(params, r.params...) // those in the address count too
		if err := params.check(sqlParams); err != nil {
			return nil, err
		}
		return s.asked(r, params)
	})
	if err != nil {
		return err
	}
	return s.sql(w, r, q)
}

// bodyParams reads the parameters in a body.
func bodyParams(typ string, text []byte) (params, error) {
	if typ == "application/json" {
		return jsonParams(text)
	}
	list, proper := parseParams(strings.TrimSpace(string(text)))
	if !proper {
		return nil, errEncoding
	}
	return list, nil
}

// jsonParams reads {"q": "…", "rows": 10}.
func jsonParams(text []byte) (list params, err error) {
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&fields); err != nil || dec.More() {
		return nil, belfry.Errorf(belfry.BadJSON, `the body must be one JSON object, as in {"q": "SELECT …", "rows": 10}`)
	}
	for name, v := range fields {
		switch v[0] {
		case '"':
			var text string
			json.Unmarshal(v, &text) // the decoder has seen that it is one
			list = append(list, param{name, text})
		case 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			list = append(list, param{name, string(v)})
		case 'n': // null
		default:
			return nil, belfry.Errorf(belfry.BadParameter, "%s must be a string or a number", mask(name))
		}
	}
	return list, nil
}

// asked is a query as somebody asks it.
type asked struct {
	params  params
	wt      string
	explain bool
	pages   bool
	now     belfry.Time
	plan    *query.Plan
}

// trimmed gives the parameters without blanks around their values, and without those that have none: they count as left out. Only after says
// something without a value. The texts of queries stay as they are, since errors tell places in them.
func trimmed(list params) (out params) {
	for _, p := range list {
		value := strings.TrimSpace(p.value)
		if value == "" && p.name != "after" {
			continue
		}
		if p.name != "q" && p.name != "fq" {
			p.value = value
		}
		out = append(out, p)
	}
	return out
}

// asked reads and plans a query.
func (s *Server) asked(r *request, params params) (*asked, error) {
	params = trimmed(params)
	q := &asked{params: params, wt: strings.ToLower(params.Get("wt"))}
	if q.wt == "" {
		q.wt = "json"
	}
	if _, ok := formats[q.wt]; !ok {
		return nil, belfry.Errorf(belfry.BadParameter, "wt must be json, csv or ndjson, got %q", params.Get("wt"))
	}
	var err error
	if q.explain, err = params.flag("explain"); err != nil {
		return nil, err
	}
	if q.wt, err = safeForm(params, q.wt); err != nil {
		return nil, err
	}
	partial, err := params.flag("partial")
	if err != nil {
		return nil, err
	}
	if err := s.plan(r, q); err != nil {
		return nil, err
	}
	if q.pages && q.plan.Open() && q.wt != "json" && q.wt != "ndjson" {
		return nil, belfry.Errorf(belfry.BadParameter, "pages of CSV must have the same columns, and * of %s has as many as the rows of a page; name the fields, or ask for wt=ndjson", q.plan.Collection.Name)
	}
	if partial {
		q.plan.Partial = new(query.Partial)
	}
	return q, nil
}

// sql answers a query.
func (s *Server) sql(w *answer, r *request, q *asked) (err error) {
	place, took := s.take(r, &s.queries, r.limits.Queries)
	if !took {
		return belfry.Errorf(belfry.RateLimited, "%d queries run already and none ended in time; try again shortly", r.limits.Queries)
	}
	defer place.leave()
	place.abort = func() { http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now()) }
	r.place = place
	clock, cancel := newStopwatch(r.ctx(), r.limits.QueryTime)
	defer cancel()
	if q.explain {
		err = s.explain(clock, w, r, q)
	} else {
		err = s.answer(clock, w, r, q)
	}
	if err != nil && errors.Is(clock.Err(), context.DeadlineExceeded) && belfry.CodeOf(err) != belfry.StorageUnavailable { // whatever an engine calls it
		return belfry.Errorf(belfry.Overloaded, "the query took longer than %s; ask for a shorter span or fewer items", r.limits.QueryTime)
	}
	return err
}

// safeForm reads the parameter safe, which makes safe CSV of CSV.
func safeForm(params params, wt string) (string, error) {
	safe, err := params.flag("safe")
	switch {
	case err != nil || !safe:
		return wt, err
	case wt != "csv":
		return "", belfry.Errorf(belfry.BadParameter, "safe is for spreadsheets and goes with wt=csv, not with wt=%s", wt)
	}
	return safeCSV, nil
}

// answer runs the plan and sends its rows. While the client takes them, the time of the query stands still.
func (s *Server) answer(clock *stopwatch, w *answer, r *request, q *asked) (err error) {
	plan := q.plan
	done, began := s.meter.queries.begin(plan.Collection.Name), s.Now()
	count := 0
	defer func() {
		done(count, w.gone, clock, err)
		s.noteQuery(r, q.params, began, count, err)
	}()
	marked := q.pages && plan.Resumable()
	if marked {
		plan = plan.Marked()
	}
	rows, err := s.Source(plan.Collection).Select(clock, plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	if marked {
		rows = &markedRows{Rows: rows, plan: plan}
	}
	if form := formOf(q.wt); form.ending != "" {
		w.Header().Set(limitHeader, strconv.Itoa(plan.Limit))
		w.Header().Set("Content-Disposition", `inline; filename="`+plan.Collection.Name+form.ending+`"`)
	}
	count, err = s.stream(clock, w, r, q.wt, plan.Limit, rows, plan.Partial, q.next(rows))
	return err
}

// What an answer that has no other place for it tells in header fields: how many rows it has at most, and which days a partial
// answer is without; and in trailers, as it is known at the end: whether there are more rows, and where the next page begins.
const (
	limitHeader   = "X-Limit"
	missingHeader = "X-Missing"
	moreTrailer   = "X-More"
	nextTrailer   = "X-Next"
)

// stream sends rows in the form of wt, packed if the client takes that.
func (s *Server) stream(clock *stopwatch, w *answer, r *request, wt string, limit int, rows query.Rows, partial *query.Partial, next func() string) (count int, err error) {
	h := w.Header()
	h.Set("Content-Type", formOf(wt).mediaType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if wt != "json" {
		partial.Seal()
		if days := partial.Days(); len(days) > 0 {
			h.Set(missingHeader, strings.Join(days, ", "))
		}
	}
	if r.Method == http.MethodHead {
		return 0, nil
	}
	if wt != "json" {
		h.Set("Trailer", moreTrailer)
		if next != nil {
			h.Add("Trailer", nextTrailer)
		}
	}
	out := s.packers.open(outside{w, clock, r.place}, w, r.Header.Get("Accept-Encoding"))
	defer out.release()
	tail, err := write(out, wt, limit, rows, partial, next)
	if err != nil {
		return tail.count, err
	}
	if wt != "json" {
		h.Set(moreTrailer, strconv.FormatBool(tail.more))
		if tail.next != "" {
			h.Set(nextTrailer, tail.next)
		}
	}
	return tail.count, out.Close()
}

// plan turns the text of a query and the parameters beside it into a plan.
func (s *Server) plan(r *request, q *asked) error {
	params, scope := q.params, r.scope()
	if !params.Has("q") {
		return belfry.Errorf(belfry.BadParameter, "the parameter q is missing; give it a query, as SELECT name, status FROM objectstatus")
	}
	o := query.Options{Customer: scope.Customer, Views: scope.Views, Now: s.Engine.Now(), Filter: params.Get("fq")}
	page, err := readCursor(params)
	if err != nil {
		return err
	}
	if page != nil && page.now != 0 {
		o.Now = min(o.Now, page.now)
	}
	o.Pages = page != nil
	q.pages, q.now = o.Pages, o.Now
	if o.Location, err = s.queryZone(scope.Customer, params); err != nil {
		return err
	}
	if params.Has("rows") {
		if o.Rows, err = query.ParseRows(params.Get("rows")); err != nil {
			return err
		}
	}
	if o.From, o.To, err = span(params, o.Now, o.Location); err != nil {
		return err
	}
	text, err := query.Parse(params.Get("q"))
	if err != nil {
		return err
	}
	if err := r.mayRead(s.Tree.Catalog().Collection(text.From.Text)); err != nil {
		return err
	}
	if q.plan, err = query.Check(text, s.Tree.Catalog(), o); err != nil {
		return err
	}
	if page != nil && page.mark != nil {
		if q.plan, err = q.plan.Resume(page.mark); err != nil {
			return err
		}
	}
	return q.plan.Resolve(r.ctx(), s.Tree)
}

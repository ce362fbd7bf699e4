package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

var sqlParams = []string{"q", "rows", "wt", "from", "to", "span"}

// maxQuery is the longest body of POST /api/sql.
const maxQuery = 1 << 20

func (s *Server) sqlGet(w *answer, r *request) error { return s.sql(w, r, r.params) }

func (s *Server) sqlPost(w *answer, r *request) error {
	typ, err := mediaType(r.Request, "application/x-www-form-urlencoded", "application/json")
	if err != nil {
		return err
	}
	body, err := openBody(w, r, maxQuery)
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var params params
	proper := true
	if typ == "application/json" {
		params, err = jsonParams(text)
	} else if params, proper = parseParams(strings.TrimSpace(string(text))); !proper {
		err = errEncoding
	}
	if err != nil {
		return err
	}
	params = append(params, r.params...) // those in the address count too
	if err := params.check(sqlParams); err != nil {
		return err
	}
	return s.sql(w, r, params)
}

// jsonParams reads {"q": "…", "rows": 10}.
func jsonParams(text []byte) (list params, err error) {
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil || dec.More() {
		return nil, belfry.Errorf(belfry.BadJSON, `the body must be one JSON object, as in {"q": "SELECT …", "rows": 10}`)
	}
	for name, v := range fields {
		switch v := v.(type) {
		case string:
			list = append(list, param{name, v})
		case json.Number:
			list = append(list, param{name, v.String()})
		case bool:
			list = append(list, param{name, strconv.FormatBool(v)})
		default:
			return nil, belfry.Errorf(belfry.BadParameter, "%s must be a string or a number", mask(name))
		}
	}
	return list, nil
}

// sql answers a query.
func (s *Server) sql(w *answer, r *request, params params) error {
	wt := strings.ToLower(params.Get("wt"))
	if wt == "" {
		wt = "json"
	}
	if _, ok := formats[wt]; !ok {
		return belfry.Errorf(belfry.BadParameter, "wt must be json, csv or ndjson, got %q", params.Get("wt"))
	}
	plan, err := s.plan(r.customer, params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.QueryTime)
	defer cancel()
	if !s.turn(r, &s.queries, r.customer, r.limits.Queries) {
		return belfry.Errorf(belfry.RateLimited, "%d queries run already and none ended in time; try again shortly", r.limits.Queries)
	}
	defer s.queries.leave(r.customer)
	err = s.answer(ctx, w, r, wt, plan)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && r.ctx().Err() == nil { // whatever an engine calls it
		return belfry.Errorf(belfry.Overloaded, "the query took longer than %s; ask for a shorter span or fewer items", r.limits.QueryTime)
	}
	return err
}

func (s *Server) answer(ctx context.Context, w *answer, r *request, wt string, plan *query.Plan) error {
	rows, err := s.Source(plan.Collection).Select(ctx, plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", formats[wt].mediaType)
		return nil
	}
	return stream(w, wt, plan.Limit, rows)
}

// plan turns the text of a query and the parameters beside it into a plan.
func (s *Server) plan(c belfry.CustomerID, params params) (*query.Plan, error) {
	if strings.TrimSpace(params.Get("q")) == "" {
		return nil, belfry.Errorf(belfry.BadParameter, "the parameter q is missing; give it a query, as SELECT name, status FROM objectstatus")
	}
	o := query.Options{Customer: c, Now: belfry.At(s.Now())}
	var err error
	if params.Has("rows") {
		if o.Rows, err = query.ParseRows(params.Get("rows")); err != nil {
			return nil, err
		}
	}
	if o.From, o.To, err = span(params, o.Now); err != nil {
		return nil, err
	}
	text, err := query.Parse(params.Get("q"))
	if err != nil {
		return nil, err
	}
	plan, err := query.Check(text, s.Catalog(), o)
	if err != nil {
		return nil, err
	}
	plan.Resolve(s.Names)
	return plan, nil
}

// span reads the parameters from, to and span; any two of them say everything, one of them reaches to now.
func span(params params, now belfry.Time) (from, to belfry.Time, err error) {
	for _, p := range []struct {
		name string
		into *belfry.Time
	}{{"from", &from}, {"to", &to}} {
		if !params.Has(p.name) {
			continue
		}
		if *p.into, err = query.ParseTime(params.Get(p.name), now, time.UTC); err != nil {
			return 0, 0, belfry.Errorf(belfry.BadParameter, "%s must be a time, as 2026-03-01T12:00:00Z or NOW-1HOUR, got %q", p.name, params.Get(p.name))
		}
	}
	if !params.Has("span") {
		return from, to, checkSpan(from, to)
	}
	length, err := catalog.ParseDuration(strings.ToLower(params.Get("span")))
	switch {
	case err != nil:
		return 0, 0, belfry.Errorf(belfry.BadParameter, "span must be a whole number with s, m, h or d, as 1h, got %q", params.Get("span"))
	case from != 0 && to != 0:
		return 0, 0, belfry.Errorf(belfry.BadParameter, "from, to and span are one too many; leave one out")
	case from != 0:
		return from, from + belfry.Time(length.Std().Microseconds()), nil
	case to == 0:
		to = now
	}
	return to - belfry.Time(length.Std().Microseconds()), to, nil
}

func checkSpan(from, to belfry.Time) error {
	if from != 0 && to != 0 && to < from {
		return belfry.Errorf(belfry.BadParameter, "the span ends before it begins: from is %s, to is %s", from, to)
	}
	return nil
}

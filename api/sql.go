package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/api/encode"
	"belfry/api/input"
	"belfry/api/limit"
	"belfry/query"
)

// maxQuery is the longest body of POST /api/sql.
const maxQuery = 1 << 20

// queryWeight is how many times the length of its text a query takes, with what is read from it.
const queryWeight = 8

// sql answers a query, whose text is in the address or, with POST, in the body.
func (s *Server) sql(w *answer, r *request) (err error) {
	q, err := s.readQuery(w, r)
	if err != nil {
		return err
	}
	slots := &s.queries
	if q.plan.Present() {
		slots = &s.present
	}
	if !s.admitTo(r, slots, r.limits.Queries) {
		return belfry.Errorf(belfry.RateLimited, "%d queries run already and none ended in time; try again shortly", r.limits.Queries)
	}
	defer r.slot.Release()
	r.slot.OnBreak(func() { http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now()) })
	clock, cancel := limit.NewStopwatch(r.ctx(), r.limits.QueryTime) // paused while the client reads rows
	defer cancel()
	defer func() { err = timeLimitError(clock, r, err) }()
	if q.explain {
		return s.explain(clock, w, r, q)
	}
	done, began, count := s.meter.Queries.Begin(q.plan.Collection.Name), s.Now(), 0
	defer func() {
		done(count, w.gone, clock, err)
		s.noteQuery(r, q.params, began, count, err)
	}()
	if err := s.QueryReady(); err != nil {
		return err
	}
	plan, rows := q.plan, query.Rows(nil)
	if q.marked() {
		plan = plan.Marked()
	}
	if plan.Collection.Historical {
		rows, err = s.Rows.Select(clock, plan)
	} else {
		rows, err = s.Present.Select(clock, plan)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	count, err = s.sendRows(clock, w, r, q, plan, rows)
	return err
}

// timeLimitError returns the error of a query, whatever the engine says about it if it took too long.
func timeLimitError(clock *limit.Stopwatch, r *request, err error) error {
	if err != nil && errors.Is(clock.Err(), context.DeadlineExceeded) && belfry.CodeOf(err) != belfry.StorageUnavailable {
		return belfry.Errorf(belfry.Overloaded, "the query took longer than %s; ask for a shorter span or fewer items", r.limits.QueryTime)
	}
	return err
}

// readQuery reads the query of a request and makes a plan of it.
func (s *Server) readQuery(w *answer, r *request) (*sqlQuery, error) {
	if r.Method != http.MethodPost {
		return computeIn(&s.planning, r, func() (*sqlQuery, error) { return s.plan(r, r.params) })
	}
	typ, err := mediaType(r.Request, "application/x-www-form-urlencoded", "application/json")
	if err != nil {
		return nil, err
	}
	text, err := readWhole(w, r, maxQuery, queryWeight)
	if err != nil {
		return nil, err
	}
	return computeIn(&s.planning, r, func() (*sqlQuery, error) {
		params, err := bodyParams(typ, text)
		if err != nil {
			return nil, err
		}
		params = append(params, r.params...) // URL parameters also apply
		if err := params.check(sqlParams); err != nil {
			return nil, err
		}
		return s.plan(r, params)
	})
}

// bodyParams reads parameters from a body.
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
	if err := input.CheckJSON(text); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&fields); err != nil || dec.More() {
		return nil, belfry.Errorf(belfry.BadJSON, `the body must be one JSON object, as in {"q": "SELECT …", "rows": 10}`)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // of several errors always the same one is reported
		v := fields[name]
		switch v[0] {
		case '"':
			var text string
			json.Unmarshal(v, &text) // the decoder has seen that it is one
			list = append(list, param{name, text})
		case 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			list = append(list, param{name, string(v)})
		case 'n': // null
		default:
			return nil, belfry.Errorf(belfry.BadParameter, "%s must be a string or a number", input.Mask(name))
		}
	}
	return list, nil
}

// sqlQuery is a query with the parameters beside it.
type sqlQuery struct {
	params  params
	format  encode.Format
	explain bool
	pages   bool // the answer is a page
	now     belfry.Time
	plan    *query.Plan
}

// marked reports whether the rows carry the mark from which the next page starts.
func (q *sqlQuery) marked() bool { return q.pages && q.plan.Resumable() }

// trimmed removes blanks around values, and parameters without a value, which count as not given. Only after has a meaning without
// a value. The texts of queries stay as they are, since errors give positions in them.
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

// plan turns the text of a query and the parameters beside it into a plan.
func (s *Server) plan(r *request, params params) (*sqlQuery, error) {
	params = trimmed(params)
	q := &sqlQuery{params: params}
	var err error
	if q.explain, err = params.flag("explain"); err != nil {
		return nil, err
	}
	if q.format, err = rowsFormat(params); err != nil {
		return nil, err
	}
	partial, err := params.flag("partial")
	if err != nil {
		return nil, err
	}
	if err := s.compile(r, q); err != nil {
		return nil, err
	}
	if q.pages && q.plan.Open() && (q.format == encode.CSV || q.format == encode.SafeCSV) {
		return nil, belfry.Errorf(belfry.BadParameter, "pages of CSV must have the same columns, and * of %s has as many as the rows of a page; name the fields, or ask for wt=ndjson", q.plan.Collection.Name)
	}
	if partial {
		q.plan.Partial = new(query.Partial)
	}
	return q, nil
}

// rowsFormat reads the parameters wt and safe.
func rowsFormat(params params) (encode.Format, error) {
	wt := cmp.Or(strings.ToLower(params.Get("wt")), "json")
	format, ok := encode.Formats[wt]
	if !ok {
		return format, belfry.Errorf(belfry.BadParameter, "wt must be json, csv or ndjson, got %q", params.Get("wt"))
	}
	safe, err := params.flag("safe")
	switch {
	case err != nil || !safe:
		return format, err
	case format != encode.CSV:
		return format, belfry.Errorf(belfry.BadParameter, "safe is for spreadsheets and goes with wt=csv, not with wt=%s", wt)
	}
	return encode.SafeCSV, nil
}

// sendRows sends the rows of a plan.
func (s *Server) sendRows(clock *limit.Stopwatch, w *answer, r *request, q *sqlQuery, plan *query.Plan, rows query.Rows) (count int, err error) {
	if q.marked() {
		rows = &encode.Page{Rows: rows, Plan: plan, Now: q.now}
	}
	if q.format.Extension != "" {
		w.Header().Set(limitHeader, strconv.Itoa(plan.Limit))
		w.Header().Set("Content-Disposition", `inline; filename="`+plan.Collection.Name+q.format.Extension+`"`)
	}
	return s.stream(clock, w, r, q, plan.Limit, rows)
}

// Headers and trailers of CSV and NDJSON, which have no other place for these: the limit, the days that a partial answer is
// without, and, known at the end, whether there are more rows, and the cursor of the next page.
const (
	limitHeader   = "X-Limit"
	missingHeader = "X-Missing"
	moreTrailer   = "X-More"
	nextTrailer   = "X-Next"
	backupTrailer = "X-Backup" // of a backup: the number of the job that has made it
)

// stream sends rows in the format of the query, compressed if the client accepts that.
func (s *Server) stream(clock *limit.Stopwatch, w *answer, r *request, q *sqlQuery, limit int, rows query.Rows) (count int, err error) {
	partial := q.plan.Partial
	h := w.Header()
	h.Set("Content-Type", q.format.MediaType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	if q.format != encode.JSON {
		partial.Freeze()
		if days := partial.Days(); len(days) > 0 {
			h.Set(missingHeader, strings.Join(days, ", "))
		}
	}
	if r.Method == http.MethodHead {
		return 0, nil
	}
	if q.format != encode.JSON {
		h.Set("Trailer", moreTrailer)
		if q.pages && !q.explain {
			h.Add("Trailer", nextTrailer)
		}
	}
	out := s.compressors.Open(clientWriter{w, clock, r}, h, r.Header.Get("Accept-Encoding"))
	defer out.Release()
	tail, err := q.format.Write(out, limit, rows, partial)
	if err != nil {
		return tail.Count, err
	}
	if q.format != encode.JSON {
		h.Set(moreTrailer, strconv.FormatBool(tail.More))
		if tail.Next != "" {
			h.Set(nextTrailer, tail.Next)
		}
	}
	return tail.Count, out.Close()
}

// compile compiles the text of a query.
func (s *Server) compile(r *request, q *sqlQuery) error {
	params, scope := q.params, r.scope()
	if !params.Has("q") {
		return belfry.Errorf(belfry.BadParameter, "the parameter q is missing; give it a query, as SELECT name, status FROM objectstatus")
	}
	o := query.Options{Customer: scope.Customer, Views: scope.Views, Now: s.Engine.Now(), Filter: params.Get("fq")}
	page, err := encode.ParseCursor(params.Get("after"))
	if err != nil {
		return err
	}
	o.Pages = params.Has("after")
	if page.Now != 0 {
		o.Now = min(o.Now, page.Now)
	}
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
	if page.Mark != nil {
		if q.plan, err = q.plan.Resume(page.Mark); err != nil {
			return err
		}
	}
	return q.plan.Resolve(r.ctx(), s.Tree.History())
}

// clientWriter writes to a client and pauses the stopwatch of the query while it does.
type clientWriter struct {
	w       io.Writer
	clock   *limit.Stopwatch
	request *request // its place is lost while the client reads nothing
}

func (o clientWriter) Write(b []byte) (n int, err error) {
	o.clock.Pause()
	defer o.clock.Resume()
	if o.request == nil {
		return o.w.Write(b)
	}
	if err := o.request.checkRights(); err != nil {
		return 0, err
	}
	if lost := o.request.slot.Wait(func() { n, err = o.w.Write(b) }); lost != nil && err == nil {
		err = lost
	}
	return n, err
}

// explain answers with the plan of a query instead of its rows: as an object for programs, with every part of it as a line for
// people. In CSV and NDJSON only the lines are sent.
func (s *Server) explain(clock *limit.Stopwatch, w *answer, r *request, q *sqlQuery) error {
	if q.format != encode.JSON {
		lines, err := computeIn(&s.planning, r, func() ([]query.Line, error) { return s.lines(clock, r, q.plan) })
		if err != nil {
			return err
		}
		_, err = s.stream(clock, w, r, q, len(lines), encode.LineRows(lines))
		return err
	}
	text, err := computeIn(&s.planning, r, func() ([]byte, error) {
		lines, err := s.lines(clock, r, q.plan)
		if err != nil {
			return nil, err
		}
		return encodeJSON(encode.Explain(q.plan, lines))
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
	if s.QueryReady() != nil {
		return lines, nil
	}
	explain := s.Present.Explain
	if plan.Collection.Historical {
		explain = s.Rows.Explain
	}
	more, err := explain(ctx, plan)
	if err != nil {
		return nil, err
	}
	// Which files an engine would read depends on the rows of all customers.
	if r.level == belfry.LevelInstance && !r.scope().Limited() {
		lines = append(lines, more...)
	}
	return lines, nil
}

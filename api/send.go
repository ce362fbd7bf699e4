package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"belfry"
	"belfry/api/body"
	"belfry/api/encode"
	"belfry/api/input"
	"belfry/api/limit"
	"belfry/engine"
	"belfry/intake"
)

var (
	dryRun    = Param{Name: "dryrun", Schema: flagSchema, Help: "Returns the same answer and changes nothing. `dryrun` without a value means true."}
	allOrNone = Param{Name: "atomic", Schema: flagSchema, Help: "If one row is wrong, none is applied."}

	bulkHeaders = []Param{idempotencyKey}
	bulkErrors  = []belfry.Code{belfry.AllRowsRejected, belfry.AtomicRejected, belfry.RateLimited, belfry.Overloaded}
	bulkAnswers = []Answer{
		answers(200, "All rows were accepted.", belfry.Report{}),
		answers(207, "Some rows were wrong; `errors` lists them, the others were accepted.", belfry.Report{}),
		answers(400, "The request could not be read, or no row was accepted. In the second case the body contains the report as well as the error.", AnyOf{errorAnswer{}, refusedReport{}}),
	}

	packageName        = []Param{{Name: "package", Help: "Name of the package."}}
	provisioningRoutes = []Route{
		{
			Method: "GET", Path: "/api/provisioning/{package}", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).export,
			ID: "export", Tag: "items",
			Help:      "Exports everything created with a package as CSV that POST accepts; with `broken`, only links and shortcuts whose ends have been removed, as CSV that DELETE accepts.",
			Wildcards: packageName,
			Params: []Param{{
				Name: "broken", Schema: flagSchema,
				Help: "Export only links or shortcuts whose ends have been removed, with the columns that DELETE accepts. Otherwise they are not exported. `broken` without a value means true.",
			}},
			Answers: []Answer{{Status: 200, Help: "CSV, parents first.", Body: []Media{{Type: "text/csv"}}}},
			Errors:  []belfry.Code{belfry.UnknownPackage, belfry.StorageUnavailable},
		},
		{
			Method: "POST", Path: "/api/provisioning/{package}", Level: belfry.LevelReadWrite, Limited: true, serve: (*Server).provision,
			ID: "provision", Tag: "items", Help: "Creates or changes items of a package: resources, views, objects or graphical elements.",
			Detail:    "The columns are those of the package, see `/api/packages/{type}`.",
			Wildcards: packageName,
			Params: []Param{dryRun, allOrNone, {
				Name: "create", Schema: flagSchema, Help: "True by default. With `false` only existing items are changed, and a row about an item that does not exist is refused.",
			}, {
				Name: "update", Schema: flagSchema, Help: "True by default. With `false` items are only created, and a row about an item that exists is refused with `name_in_use`.",
			}},
			Headers: bulkHeaders,
			Body:    []Media{{Type: "text/csv"}},
			Answers: bulkAnswers,
			Errors:  append(slices.Clip(bulkErrors), belfry.UnknownPackage),
		},
		{
			Method: "DELETE", Path: "/api/provisioning/{package}", Level: belfry.LevelReadWriteDelete, Limited: true, serve: (*Server).remove,
			ID: "remove", Tag: "items", Help: "Removes items of a package.",
			Detail:    "Columns `name` and `view`; `resname` for objects and views.",
			Wildcards: packageName,
			Params: []Param{dryRun, allOrNone, {
				Name: "recursive", Schema: flagSchema, Help: "`*` also matches items in nested views, and views are removed with their content.",
			}},
			Headers: bulkHeaders,
			Body:    []Media{{Type: "text/csv"}},
			Answers: bulkAnswers,
			Errors:  append(slices.Clip(bulkErrors), belfry.UnknownPackage),
		},
	}

	sendRoutes = []Route{{
		Method: "POST", Path: "/api/send", Level: belfry.LevelReadWrite, Limited: true, Sending: true, serve: (*Server).send,
		ID: "send", Tag: "rows", Help: "Stores data and log rows and creates missing objects, or stores rows of the given collection.",
		Params: []Param{dryRun, allOrNone, {
			Name: "collection", Example: "voip",
			Help: "Historical collection of the rows, whose columns are then its fields: `timestamp` is optional, `resname` fills `resource`, and there is no `id`. `objectdata` and `objectlog` mean data and log rows. Without it the column `type` of each row says what it is.",
		}},
		Headers: bulkHeaders,
		Body:    []Media{{Type: "text/csv"}, {Type: "application/json", Of: []sendRow{}}, {Type: "application/x-ndjson", Help: "One row per line."}},
		Answers: bulkAnswers,
		Errors:  append(slices.Clip(bulkErrors), belfry.UnknownCollection, belfry.ReadOnlyCollection),
	}}
)

// sendRow is a row in JSON. Package intake reads it, see intake/header.go.
type sendRow struct {
	Type       string `json:"type" schema:"enum=data|log|createview"`
	Resource   string `json:"resname,omitempty"`
	Object     string `json:"object,omitempty"`
	Class      string `json:"class,omitempty"`
	View       string `json:"view,omitempty"`
	ParentView string `json:"parentview,omitempty"`
	IP         string `json:"ip,omitempty"`
	Host       string `json:"host,omitempty"`
	Object1    string `json:"object_1,omitempty"`
	Object2    string `json:"object_2,omitempty"`
	Object3    string `json:"object_3,omitempty"`
	Object4    string `json:"object_4,omitempty"`
	Object5    string `json:"object_5,omitempty"`
	Log        string `json:"log,omitempty"`
	Timestamp  any    `json:"timestamp,omitempty" schema:"type=string|number"`
	Indicators any    `json:"^i([1-9][0-9]?|100)$,omitempty" schema:"type=number|string"` // a pattern of names
}

// refusedReport is the report of a request of which nothing was applied.
type refusedReport struct {
	Error errorBody `json:"error"`
	belfry.Report
}

// send stores the rows of a body.
func (s *Server) send(w *answer, r *request) error {
	o := intake.Options{}
	if name := r.params.Get("collection"); name != "" {
		var err error
		if o.Collection, err = intake.InputCollection(s.Tree.Catalog(), name); err != nil {
			return err
		}
	}
	typ, err := mediaType(r.Request, "text/csv", "application/json", "application/x-ndjson")
	if err != nil {
		return err
	}
	formats := map[string]belfry.Format{"application/json": belfry.JSON, "application/x-ndjson": belfry.NDJSON}
	o.Format = formats[typ]
	rows, err := s.openRows(w, r, &o, s.Ready())
	if err != nil {
		return inFormat(o.Format, err)
	}
	defer rows.close()
	status, text, err := s.Intake.Send(r.slot.Context(), rows.sender, rows, o)
	if err != nil {
		return inFormat(o.Format, err)
	}
	s.writeReport(w, status, text)
	return nil
}

// inFormat sets the code of a body that could not be read by its format.
func inFormat(f belfry.Format, err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok && f != belfry.CSV && e.Code == belfry.BadCSV {
		return belfry.Errorf(belfry.BadJSON, "%s", e.Message)
	}
	return err
}

func (s *Server) provision(w *answer, r *request) error {
	name, err := s.packageName(r)
	if err != nil {
		return err
	}
	if _, err := mediaType(r.Request, "text/csv"); err != nil {
		return err
	}
	o := intake.Options{}
	if o.ChangeOnly, err = r.params.off("create"); err != nil {
		return err
	}
	if o.CreateOnly, err = r.params.off("update"); err != nil {
		return err
	}
	if o.ChangeOnly && o.CreateOnly {
		return belfry.Errorf(belfry.BadParameter, "create and update are both false, so nothing could be done; leave one of them out")
	}
	rows, err := s.openRows(w, r, &o, s.Ready())
	if err != nil {
		return err
	}
	defer rows.close()
	status, text, err := s.Intake.Provision(r.slot.Context(), rows.sender, name, rows, o)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

func (s *Server) remove(w *answer, r *request) error {
	name, err := s.packageName(r)
	if err != nil {
		return err
	}
	o := intake.Options{}
	if o.Recursive, err = r.flag("recursive"); err != nil {
		return err
	}
	ready := s.Ready()
	if belfry.CodeOf(ready) == belfry.Overloaded {
		ready = nil // a removal makes room
	}
	if _, err := mediaType(r.Request, "text/csv"); err != nil {
		return err
	}
	rows, err := s.openRows(w, r, &o, ready)
	if err != nil {
		return err
	}
	defer rows.close()
	status, text, err := s.Intake.Remove(r.slot.Context(), rows.sender, name, rows, o)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

func (s *Server) export(w *answer, r *request) error {
	name, err := s.packageName(r)
	if err != nil {
		return err
	}
	broken, err := r.flag("broken")
	if err != nil {
		return err
	}
	if err := s.Ready(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", encode.CSV.MediaType)
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	return s.Intake.Export(r.scope(), name, broken, w)
}

// packageName is the package in the path of a request.
func (s *Server) packageName(r *request) (string, error) {
	pt, err := s.findPackage(r.PathValue("package"))
	if err != nil {
		return "", err
	}
	return pt.Name, nil
}

// countRefused counts a request that is refused before its rows are read, unless it is a dry run, and returns the error.
func (s *Server) countRefused(r *request, dryRun bool, err error) error {
	if !dryRun {
		s.Intake.CountRefused(r.customer, err)
	}
	return err
}

// rowsBody is the open body of a bulk request, which has its place among the bulk requests until it is closed.
type rowsBody struct {
	io.Reader
	sender  engine.Sender // may wait, see engine.Sender.Wait
	request *request
	stopped func() bool // ends the watch for the end of the service
	turns   *body.Turns // in which the body is decoded
	sent    io.Closer   // the body as the client sends it; nil: it was not opened
	held    *body.Held  // the same, read to its end; nil: it is not held
}

// openRows reads the parameters of a bulk request into o and opens its body, unless ready has the reason why the service
// cannot take rows now. The body must be closed.
func (s *Server) openRows(w *answer, r *request, o *intake.Options, ready error) (*rowsBody, error) {
	limit := r.limits.Body
	var err error
	if o.Atomic, err = r.flag("atomic"); err != nil {
		return nil, err
	}
	if o.DryRun, err = r.flag("dryrun"); err != nil {
		return nil, err
	}
	o.Repeat.Key = r.Header.Get("Idempotency-Key")
	if err := input.CheckIdempotencyKey(o.Repeat.Key); err != nil {
		return nil, err
	}
	if o.Atomic || o.Repeat.Key != "" {
		limit = min(limit, r.limits.BodyHeld)
	}
	if ready != nil {
		return nil, s.countRefused(r, o.DryRun, ready) // before the body is sent
	}
	if !s.admitTo(r, &s.bulk, r.limits.BulkRequests) {
		return nil, s.countRefused(r, o.DryRun, belfry.Errorf(belfry.Overloaded, "%d bulk requests are being served already; try again shortly", r.limits.BulkRequests))
	}
	b := &rowsBody{sender: r.sender(), request: r, turns: s.turnsFor(r, o.Atomic || o.DryRun)}
	b.sender.Wait = func(f func(context.Context) error) error {
		b.turns.Pause()
		return r.withoutSlot(f)
	}
	b.stopped = s.whenEnded(func() { r.slot.Stop(intake.ErrStopped) })
	opened := false
	defer func() {
		if !opened {
			b.close()
		}
	}()
	if err := b.open(s, w, limit, o); err != nil {
		return nil, s.countRefused(r, o.DryRun, intake.Stopped(r.slot.Context(), err))
	}
	opened = true
	return b, nil
}

// open opens the body. One with an Idempotency-Key is read to its end first, for its digest.
func (b *rowsBody) open(s *Server, w *answer, limit int64, o *intake.Options) error {
	r := b.request
	sent, err := openBody(w, r, limit, b.turns)
	if err != nil {
		return err
	}
	b.Reader, b.sent = sent, sent
	if o.Repeat.Key == "" {
		return nil
	}
	if b.held, err = body.Hold(sent, s.Spool, r.Method+" "+r.URL.Path+"?"+r.params.Encode()); err != nil {
		return err
	}
	b.turns.Pause()
	b.turns = s.turnsFor(r, true)
	b.turns.Reader = b.held
	b.Reader, o.Repeat.Digest = checkedReader{b.turns, r}, b.held.Digest
	return nil
}

// close closes the body and gives up its place.
func (b *rowsBody) close() {
	if b.held != nil {
		b.held.Close()
	}
	if b.sent != nil {
		b.sent.Close()
	}
	b.turns.Pause()
	b.stopped()
	b.request.slot.Release()
}

// turnsFor returns the turns in which a body of rows is decoded. One that is applied in parts needs them while other customers are
// active; one that is applied as a whole always does, since more of them would be no faster.
func (s *Server) turnsFor(r *request, whole bool) *body.Turns {
	t := &body.Turns{Limiter: &s.computing, Context: r.slot.Context(), Customer: r.customer, Plain: true, Last: !whole}
	if !whole {
		t.Alone = s.Engine
	}
	return t
}

// writeReport answers with a rendered report.
func (s *Server) writeReport(w *answer, status int, text []byte) {
	if status != http.StatusOK {
		text = s.Tree.Access().MaskKeys(text) // errors repeat values of the client
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

// admitTo waits a moment for a place in a limiter. It is lost again while the request waits for its client.
func (s *Server) admitTo(r *request, l *limit.Limiter, places int) (ok bool) {
	r.slot, ok = l.Acquire(r.ctx(), r.customer, places, r.limits.Wait, r.limits.Idle, &s.waits)
	return ok
}

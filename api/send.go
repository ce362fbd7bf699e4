package api

import (
	"context"
	"errors"
	"net/http"

	"belfry"
	"belfry/intake"
)

var (
	bulkParams   = []string{"dryrun", "atomic"}
	removeParams = []string{"dryrun", "atomic", "recursive"}
	exportParams = []string{"broken"}
)

// maxIdempotencyKey is the longest Idempotency-Key taken, in bytes.
const maxIdempotencyKey = 255

func (s *Server) send(w *answer, r *request) error {
	typ, err := mediaType(r.Request, "text/csv", "application/json", "application/x-ndjson")
	if err != nil {
		return err
	}
	formats := map[string]belfry.Format{"application/json": belfry.JSON, "application/x-ndjson": belfry.NDJSON}
	return inFormat(formats[typ], s.rows(w, r, Bulk{Format: formats[typ]}))
}

// inFormat gives a body that could not be read the code of its format.
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
	return s.csvRows(w, r, Bulk{Package: name})
}

func (s *Server) remove(w *answer, r *request) error {
	name, err := s.packageName(r)
	if err != nil {
		return err
	}
	recursive, err := r.flag("recursive")
	if err != nil {
		return err
	}
	return s.csvRows(w, r, Bulk{Package: name, Remove: true, Recursive: recursive})
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
	w.Header().Set("Content-Type", formats["csv"].mediaType)
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	return s.Export(r.scope(), name, broken, w)
}

// packageName is the package in the path of a request.
func (s *Server) packageName(r *request) (string, error) {
	pt, err := s.findPackage(r.PathValue("package"))
	if err != nil {
		return "", err
	}
	return pt.Name, nil
}

// csvRows takes a body that can only be CSV.
func (s *Server) csvRows(w *answer, r *request, b Bulk) error {
	if _, err := mediaType(r.Request, "text/csv"); err != nil {
		return err
	}
	return s.rows(w, r, b)
}

// turnAway gives the error of a request that is refused before its rows are read. That of a trial is told to nobody else.
func (s *Server) turnAway(r *request, trial bool, err error) error {
	if s.TurnedAway != nil && !trial {
		s.TurnedAway(r.customer, err)
	}
	return err
}

// rows takes a body of rows.
func (s *Server) rows(w *answer, r *request, b Bulk) error {
	b.Scope, b.Key, b.Name, b.IsKey = r.scope(), r.key, r.who, r.login == nil
	b.IdempotencyKey = r.Header.Get("Idempotency-Key")
	limit := r.limits.Body
	var err error
	if b.Atomic, err = r.flag("atomic"); err != nil {
		return err
	}
	if b.DryRun, err = r.flag("dryrun"); err != nil {
		return err
	}
	if err := checkIdempotencyKey(b.IdempotencyKey); err != nil {
		return err
	}
	if b.Atomic || b.IdempotencyKey != "" {
		limit = min(limit, r.limits.BodyHeld)
	}
	if err := s.Ready(); err != nil && !(b.Remove && belfry.CodeOf(err) == belfry.Overloaded) {
		return s.turnAway(r, b.DryRun, err) // before the body travels in vain
	}
	var took bool
	if r.place, took = s.take(r, &s.bulk, r.limits.BulkRequests); !took {
		return s.turnAway(r, b.DryRun, belfry.Errorf(belfry.Overloaded, "%d bulk requests are being served already; try again shortly", r.limits.BulkRequests))
	}
	defer r.place.leave()
	defer s.whenEnded(r.place.end)()
	turns := s.turnsFor(r, b.Atomic || b.DryRun)
	defer func() { turns.pause() }()
	body, err := openInTurns(w, r, limit, turns)
	if err != nil {
		return s.turnAway(r, b.DryRun, intake.Stopped(r.place.ctx, err))
	}
	defer body.Close()
	b.Body = body
	if b.IdempotencyKey != "" {
		held, err := hold(body, s.Spool, r.Method+" "+r.URL.Path+"?"+r.params.Encode())
		if err != nil {
			return s.turnAway(r, b.DryRun, intake.Stopped(r.place.ctx, err))
		}
		defer held.Close()
		turns.pause()
		turns = s.turnsFor(r, true)
		turns.Reader = held
		b.Body, b.Digest = turns, held.digest
	}
	b.Wait = func(f func(context.Context) error) error {
		turns.pause()
		return r.rest(f)
	}
	status, text, err := s.Send(r.place.ctx, b)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

// turnsFor gives the turns in which a body of rows is decoded. One that is applied in parts needs them while others are at work; one that is
// applied as a whole always does, since nothing is gained by more.
func (s *Server) turnsFor(r *request, whole bool) *decoding {
	d := &decoding{turns: &s.computing, ctx: r.place.ctx, customer: r.customer, valid: r.stillMay, rows: true, last: !whole}
	if !whole {
		d.free = func() bool { return s.OthersActive == nil || !s.OthersActive(r.customer) }
	}
	return d
}

// writeReport answers with a report that has been rendered.
func (s *Server) writeReport(w *answer, status int, text []byte) {
	if status != http.StatusOK {
		text = s.Keys.MaskKeys(text) // an error repeats what it complains of
	}
	w.Header()["Content-Type"] = typeJSON
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(status)
	w.Write(text)
}

// take waits a moment for a place. It is lost again while the client keeps us waiting.
func (s *Server) take(r *request, l *limiter, places int) (*place, bool) {
	p := &place{limiter: l, customer: r.customer, places: places, maxWait: r.limits.Idle, waits: &s.waits, abort: func() {}, valid: r.stillMay}
	p.ctx, p.stop = context.WithCancelCause(r.ctx())
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	p.held = l.enter(ctx, r.customer, places)
	return p, p.held
}

func checkIdempotencyKey(k string) error {
	if len(k) > maxIdempotencyKey {
		return belfry.Errorf(belfry.BadParameter, "the Idempotency-Key has %d bytes; it may have %d", len(k), maxIdempotencyKey)
	}
	for i := range len(k) {
		if k[i] < 0x20 || k[i] == 0x7f {
			return belfry.Errorf(belfry.BadParameter, "the Idempotency-Key holds a control character; use letters, digits and signs")
		}
	}
	return nil
}

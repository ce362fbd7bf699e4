package api

import (
	"context"
	"strings"

	"belfry"
)

var bulkParams = []string{"dryrun", "atomic"}

// maxIdempotencyKey is the longest Idempotency-Key taken, in bytes.
const maxIdempotencyKey = 255

func (s *Server) send(w *answer, r *request) error { return s.rows(w, r, Bulk{}) }

func (s *Server) provision(w *answer, r *request) error {
	name := r.PathValue("package")
	if s.Catalog.Package(name) == nil {
		var names []string
		for _, pt := range s.Catalog.Packages() {
			names = append(names, pt.Name)
		}
		return belfry.Errorf(belfry.UnknownPackage, "there is no package %q; known are %s", mask(name), strings.Join(names, ", "))
	}
	return s.rows(w, r, Bulk{Package: name})
}

// rows takes a body of CSV rows.
func (s *Server) rows(w *answer, r *request, b Bulk) error {
	if _, err := mediaType(r.Request, "text/csv"); err != nil {
		return err
	}
	b.Customer, b.Key, b.Name, b.IdempotencyKey = r.customer, r.key.Hash, r.who, r.Header.Get("Idempotency-Key")
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
	if err := s.Ready(); err != nil {
		return err // before the body travels in vain
	}
	if !s.turn(r, &s.bulk, 0, r.limits.BulkRequests) {
		return belfry.Errorf(belfry.Overloaded, "%d bulk requests are being served already; try again shortly", r.limits.BulkRequests)
	}
	defer s.bulk.leave(0)
	body, err := openBody(w, r, limit)
	if err != nil {
		return err
	}
	defer body.Close()
	b.Body = body
	if b.IdempotencyKey != "" {
		held, err := hold(body, s.Spool, r.Method+" "+r.URL.Path+"?"+r.params.Encode())
		if err != nil {
			return err
		}
		defer held.Close()
		b.Body, b.Digest = held, held.digest
	}
	status, text, err := s.Send(r.ctx(), b)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(s.Keys.MaskKeys(text)) // an error repeats what it complains of
	return nil
}

// turn waits a moment for a place at a gate.
func (s *Server) turn(r *request, g *gate, c belfry.CustomerID, places int) bool {
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	return g.enter(ctx, c, places)
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

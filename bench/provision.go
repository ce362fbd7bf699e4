package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"
)

const (
	pingPackage = "network-ping"
	pingViews   = 100
)

// step is one request about all resources, with what it cost the server.
type step struct {
	seconds float64 // until the answer was there
	bytes   int     // of the larger of request and answer
	cpu     float64 // seconds, until both stores had caught up
	peak    float64 // MiB, since the server started
}

// provisioned is the life of many resources, each step in one request.
type provisioned struct {
	resources                      int
	create, export, resend, remove step
}

// pingViewNames is the body that makes the views in which the resources stand.
func pingViewNames() []byte {
	b := []byte("name,view\n")
	for i := range pingViews {
		b = fmt.Appendf(b, "site%02d,MAIN\n", i)
	}
	return b
}

// pingResources is the body that makes resources. Their addresses are all of this machine: whoever pings them one day
// bothers nobody.
func pingResources(n int) []byte {
	b := []byte("name,ip_address_fqdn,view\n")
	for i := range n {
		b = fmt.Appendf(b, "host%06d,127.%d.%d.%d,site%02d\n", i, i>>16&255, i>>8&255, i&255, i%pingViews)
	}
	return b
}

// pingRemoval is the body that removes them, view by view.
func pingRemoval() []byte {
	b := []byte("name,view\n")
	for i := range pingViews {
		b = fmt.Appendf(b, "*,site%02d\n", i)
	}
	return b
}

// provision makes many resources in one request, exports them, sends the export back, and removes them.
func (b *bench) provision(ctx context.Context) (err error) {
	r := &provisioned{resources: 100_000}
	if b.quick {
		r.resources = 10_000
	}
	s, err := b.startServer(ctx, filepath.Join(b.tmp, "provision"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := s.provision(ctx, http.MethodPost, "view", pingViewNames()); err != nil {
		return err
	}
	b.say("provisioning %d resources", r.resources)
	if err := r.live(ctx, s); err != nil {
		return errors.Join(err, s.tail())
	}
	b.say("made in %.2f s, exported in %.2f s, sent back in %.2f s, removed in %.2f s", r.create.seconds, r.export.seconds, r.resend.seconds, r.remove.seconds)
	b.res.provisioned = r
	return nil
}

// live is the way of the resources through all steps. A report that is not exactly as it must be ends the run: a fast
// wrong answer is no figure.
func (r *provisioned) live(ctx context.Context, s *server) error {
	n := r.resources
	made := verdict{Accepted: n, Created: created{Resources: n, Objects: n}}
	if err := s.step(ctx, &r.create, http.MethodPost, pingResources(n), made); err != nil {
		return fmt.Errorf("make: %w", err)
	}
	export, err := s.export(ctx, &r.export, n)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := s.step(ctx, &r.resend, http.MethodPost, export, verdict{Accepted: n, Unchanged: n}); err != nil {
		return fmt.Errorf("send the export back: %w", err)
	}
	if err := s.step(ctx, &r.remove, http.MethodDelete, pingRemoval(), verdict{Accepted: pingViews, Removed: n}); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	if _, err := s.export(ctx, &step{}, 0); err != nil {
		return fmt.Errorf("export after the removal: %w", err)
	}
	return nil
}

// verdict is what a report says about the rows.
type verdict struct {
	Accepted, Rejected, Discarded int
	Created                       created
	Updated, Unchanged, Removed   int
}

type created struct{ Resources, Views, Objects, Elements int }

// step sends rows, measures, and holds the report against what it must be.
func (s *server) step(ctx context.Context, st *step, method string, rows []byte, want verdict) error {
	answer, err := s.measure(ctx, st, func() ([]byte, error) { return s.provision(ctx, method, pingPackage, rows) })
	if err != nil {
		return err
	}
	st.bytes = len(rows)
	return want.check(answer)
}

// check holds a report against what it must be.
func (v verdict) check(report []byte) error {
	var got verdict
	if err := json.Unmarshal(report, &got); err != nil {
		return fmt.Errorf("report %.300s: %w", report, err)
	}
	if got != v {
		return fmt.Errorf("the report must say %+v, and says %.300s", v, report)
	}
	return nil
}

// export asks for all resources, and holds their number against what it must be.
func (s *server) export(ctx context.Context, st *step, want int) ([]byte, error) {
	rows, err := s.measure(ctx, st, func() ([]byte, error) { return s.get(ctx, s.addr, "/api/provisioning/"+pingPackage) })
	if err != nil {
		return nil, err
	}
	st.bytes = len(rows)
	if n := bytes.Count(rows, []byte("\n")) - 1; n != want { // no cell of theirs holds a line break
		return nil, fmt.Errorf("it has %d resources and must have %d: %.300s", n, want, rows)
	}
	return rows, nil
}

// measure times one request.
func (s *server) measure(ctx context.Context, st *step, request func() ([]byte, error)) ([]byte, error) {
	before, err := s.cpu()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	answer, err := request()
	if err != nil {
		return nil, err
	}
	st.seconds = time.Since(start).Seconds()
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	after, err := s.cpu()
	if err != nil {
		return nil, err
	}
	st.cpu = after - before
	_, st.peak, err = s.memory()
	return answer, err
}

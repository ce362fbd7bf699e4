package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"belfry"
	"belfry/api/input"
	"belfry/api/meter"
)

// record writes the access log and counts the request.
func (s *Server) record(w *answer, r *http.Request) {
	dur := s.Now().Sub(w.start)
	route := w.route
	if route == "" {
		route = "none"
	}
	s.meter.Request(route, w.status, dur)
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("request", "request", w.id, "method", input.Mask(r.Method), "url", input.Mask(r.URL.RequestURI()), "status", w.status,
		"bytes", w.bytes, "dur", dur, "peer", r.RemoteAddr)
}

// noteQuery notes a query that took long.
func (s *Server) noteQuery(r *request, params params, began time.Time, rows int, err error) {
	now := s.Now()
	took := now.Sub(began)
	if took < meter.SlowAtLeast {
		return
	}
	s.slow.Add(r.customer, meter.SlowQuery{
		Query: s.keyless(params.Get("q")), Filter: s.keyless(params.Get("fq")), By: r.who, At: belfry.At(began).String(),
		Seconds: took.Seconds(), Rows: rows, Failed: err != nil,
	}, now)
}

// slowText is how many bytes of a slow query are kept.
const slowText = 2000

// keyless returns a text of a query without keys.
func (s *Server) keyless(text string) string {
	text = string(s.Tree.Access().MaskKeys([]byte(text)))
	text = input.HideKeys(text)
	if len(text) > slowText {
		text = strings.ToValidUTF8(text[:slowText], "") + "…"
	}
	return text
}

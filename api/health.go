package api

import (
	"errors"
	"net/http"

	"belfry"
	"belfry/api/browser"
)

var pageRoutes = []Route{
	{Method: "GET", Path: "/{$}", serve: (*Server).root, Help: "Redirects to the web interface."},
	{Method: "GET", Path: "/ui/", Params: anyParams, serve: (*Server).ui, Help: "The web interface."},
	{Method: "GET", Path: "/healthz", serve: (*Server).health, Help: "200 while the process runs."},
	{Method: "GET", Path: "/readyz", serve: (*Server).ready, Help: "200 while data can be sent and queried, otherwise 503 with the reason."},
	{
		Method: "GET", Path: "/metrics", Params: anyParams, serve: (*Server).metrics,
		Help: "Counters of the service in Prometheus format; only for callers on the same machine, or on `--admin-listen`.",
	},
	{
		Method: "GET", Path: "/api/version", serve: (*Server).version,
		ID: "version", Tag: "service", Help: "Name and version of the program.",
		Answers: []Answer{answers(200, "The version.", Version{})},
	},
}

func (s *Server) root(w *answer, r *request) error {
	http.Redirect(w, r.Request, "/ui/", http.StatusFound)
	return nil
}

func (s *Server) ui(w *answer, r *request) error {
	s.UI.ServeHTTP(w, r.Request)
	return nil
}

func (s *Server) health(w *answer, _ *request) error {
	writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
	return nil
}

func (s *Server) ready(w *answer, _ *request) error {
	if err := s.Ready(); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
	return nil
}

func (s *Server) version(w *answer, _ *request) error {
	writeJSON(w, http.StatusOK, s.Version)
	return nil
}

// metrics serves the counters to callers on this machine. A proxy on this machine forwards for others, and is recognised by the
// headers it adds; a browser on this machine may request for another site, which shows in Host.
func (s *Server) metrics(w *answer, r *request) error {
	if s.Metrics == nil || !browser.Local(r.Request) || !browser.OwnHost(r.Request, s.Hosts...) {
		return unknownPath(r.Request)
	}
	s.Metrics.ServeHTTP(w, r.Request)
	return nil
}

// Starting serves while the service reads its own state: /healthz answers, all else fails with the reason why it is not ready.
func Starting(ready func() error) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := &answer{ResponseWriter: rw, id: newID()}
		w.Header().Set("X-Request-Id", w.id)
		browser.Protect(w.Header(), r)
		if r.URL.Path == "/healthz" {
			writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
			return
		}
		err := belfry.Errorf(belfry.StorageUnavailable, "the service is starting; try again shortly")
		if e, ok := errors.AsType[*belfry.Error](ready()); ok {
			err = e
		}
		writeError(w, err)
	})
}

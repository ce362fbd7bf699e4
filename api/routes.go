package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"belfry"
	"belfry/api/input"
)

// Routes are all endpoints. A new endpoint is a handler with its Route beside it, in the list of its subject; a new subject has its line here.
var Routes = slices.Concat(
	pageRoutes, provisioningRoutes, openapiRoutes, packageRoutes, classRoutes, sessionRoutes, userRoutes, customerRoutes, keyRoutes, policyRoutes,
	healthRoutes, backupRoutes, settingRoutes, pictureRoutes, auditRoutes, sendRoutes, explainRoutes, actionRoutes, receiverRoutes, legacyRoutes, queryRoutes, treeRoutes, streamRoutes,
)

// anyParams accepts all parameters.
var anyParams = []Param{{Name: anyParam}}

const anyParam = "*"

// methods are the routes of one path.
type methods map[string]Route

// route finds the route of a request and returns the request with the wildcards of its path. The request is nil if the mux
// has answered it.
func (s *Server) route(w *answer, r *http.Request) (*http.Request, Route, error) {
	if p := r.URL.EscapedPath(); !strings.HasPrefix(p, "/") || p != "/" && p != path.Clean(p) && p != path.Clean(p)+"/" {
		return nil, Route{}, unknownPath(r) // the mux would redirect, in HTML
	}
	r = s.withoutSlash(r)
	s.mux.ServeHTTP(w, r)
	m := w.methods
	switch {
	case m == nil && w.status != 0:
		return nil, Route{}, nil
	case m == nil:
		return nil, Route{}, unknownPath(r)
	}
	rt, ok := m[r.Method]
	if !ok && r.Method == http.MethodHead {
		rt, ok = m[http.MethodGet]
		ok = ok && !rt.KeyOnly() // a HEAD must not change anything
	}
	w.route = m.path()
	if !ok {
		w.Header().Set("Allow", m.allowed())
		return nil, Route{}, belfry.Errorf(belfry.MethodNotAllowed, "%s takes %s, not %s", input.Mask(r.URL.Path), m.allowed(), input.Mask(r.Method))
	}
	return r, rt, nil
}

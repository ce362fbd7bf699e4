package api

import (
	"net/http"
	"slices"

	"belfry"
	"belfry/api/input"
)

// Routes are all endpoints. A new endpoint is a handler with its Route beside it, in the list of its subject; a new subject has its line here.
var Routes = slices.Concat(
	pageRoutes, provisioningRoutes, openapiRoutes, packageRoutes, classRoutes, sessionRoutes, userRoutes, customerRoutes, keyRoutes, policyRoutes,
	healthRoutes, settingRoutes, pictureRoutes, auditRoutes, sendRoutes, explainRoutes, actionRoutes, receiverRoutes, legacyRoutes, queryRoutes, treeRoutes, streamRoutes,
)

// anyParams accepts all parameters.
var anyParams = []Param{{Name: anyParam}}

const anyParam = "*"

// methods are the routes of one path.
type methods map[string]Route

// dispatch refuses what can be refused without reading the body, in one order for all endpoints, and calls the handler.
func (s *Server) dispatch(w *answer, r *http.Request, m methods) {
	rt, ok := m[r.Method]
	if !ok && r.Method == http.MethodHead {
		rt, ok = m[http.MethodGet]
		ok = ok && !rt.KeyOnly() // a HEAD must not change anything
	}
	w.route = m.path()
	if !ok {
		w.Header().Set("Allow", m.allowed())
		s.fail(w, r, belfry.Errorf(belfry.MethodNotAllowed, "%s takes %s, not %s", input.Mask(r.URL.Path), m.allowed(), input.Mask(r.Method)))
		return
	}
	req, err := s.admit(r, rt)
	if err == nil {
		defer req.end()
		req.id = w.id
		s.renew(w, req)
		if rt.InTurn {
			err = s.inTurn(w, req, rt.serve)
		} else {
			err = rt.serve(s, w, req)
		}
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

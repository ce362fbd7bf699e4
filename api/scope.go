package api

import (
	"slices"

	"belfry"
	"belfry/catalog"
)

// scoped are the routes whose handlers keep to the sub-trees of a limited user, or tell and change nothing that belongs
// to anybody else. Every other route refuses limited users: one that is added and forgotten here is closed to them.
var scoped = []string{
	"GET /api/session", "PUT /api/session", "GET /api/sessions", "DELETE /api/sessions/{id}", // the own account
	"GET /api/tree",
	"GET /api/sql", "POST /api/sql",
	"GET /api/stream",
	"GET /api/explain/{kind}/{name...}",
	"POST /api/ackmanagenote/{kind}",
	"GET /api/windows",
	"GET /api/provisioning/{package}", "POST /api/provisioning/{package}", "DELETE /api/provisioning/{package}",
	"POST /api/send",
	"POST /api/receivers/{resource}/try",
	"GET /api/pictures/{name...}",                   // that are drawn where they may look
	"GET /api/packages", "GET /api/packages/{type}", // of the instance
	"GET /api/classes", "GET /api/classes/{name...}", // of all items: what their values mean is no secret
	"GET /d", "GET /l", "GET /cv", // for keys alone
}

// sends are the routes open to a key that may only send. Their answers are the report of the rows that were sent.
var sends = []string{"POST /api/send", "GET /d", "GET /l", "GET /cv"}

// scope is what of the customer may be seen and touched.
func (r *request) scope() belfry.Scope {
	s := belfry.Scope{Customer: r.customer, Views: r.narrowed.Views}
	if r.login != nil {
		s.Views = r.login.User.Views
	}
	return s
}

// Scoped tells whether users and keys who are limited to sub-trees may use the route. One that asks for nobody's name is open to
// everybody.
func (rt Route) Scoped() bool {
	return rt.Level == belfry.LevelNone || slices.Contains(scoped, rt.Method+" "+rt.Path)
}

// Sends tells whether a key that may only send may use the route. One that needs no key is open to everybody.
func (rt Route) Sends() bool {
	return rt.Level == belfry.LevelNone || slices.Contains(sends, rt.Method+" "+rt.Path)
}

func (r *request) outOfScope(rt Route) error {
	if r.login == nil {
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s concerns the whole customer, and this key is limited to some views; use a key that is not", rt.Method, rt.Path)
	}
	return belfry.Errorf(belfry.InsufficientLevel, "%s %s concerns the whole customer, and this user is limited to some views; ask an administrator who is not", rt.Method, rt.Path)
}

func sendsOnly(rt Route) error {
	return belfry.Errorf(belfry.InsufficientLevel, "%s %s is closed to this key, which is restricted with only: send; it may use POST /api/send, GET /d, GET /l and GET /cv, and reads nothing", rt.Method, rt.Path)
}

// recount lets a class count the objects that a limited user sees.
func (s *Server) recount(r *request, l *catalog.Listed) {
	if r.scope().Limited() {
		l.Objects = s.Tree.ObjectsOfClass(r.scope(), l.Name)
	}
}

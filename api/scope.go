package api

import (
	"belfry"
	"belfry/catalog"
)

// scope is the part of the customer that the request may read and change.
func (r *request) scope() belfry.Scope {
	s := belfry.Scope{Customer: r.customer, Views: r.narrowed.Views}
	if r.login != nil {
		s.Views = r.login.User.Views
	}
	return s
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

// recount counts the objects of a class that a limited user sees.
func (s *Server) recount(r *request, l *catalog.Listed) {
	if r.scope().Limited() {
		l.Objects = s.Tree.ObjectsOfClass(r.scope(), l.Name)
	}
}

package api

import (
	"belfry"
	"belfry/catalog"
)

// scope is what of the customer may be seen and touched. Keys are not limited.
func (r *request) scope() belfry.Scope {
	s := belfry.Whole(r.customer)
	if r.login != nil {
		s.Views = r.login.User.Views
	}
	return s
}

func outOfScope(rt Route) error {
	return belfry.Errorf(belfry.InsufficientLevel, "%s %s concerns the whole customer, and this user is limited to some views; ask an administrator who is not", rt.Method, rt.Path)
}

// recount lets a class count the objects that a limited user sees.
func (s *Server) recount(r *request, l *catalog.Listed) {
	if r.scope().Limited() {
		l.Objects = s.Tree.ObjectsOfClass(r.scope(), l.Name)
	}
}

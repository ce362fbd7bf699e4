package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
)

// CustomerHeader names the customer in which the local administrator acts, in the encoding of a path; without it, that is
// the default customer, or another if that was removed. It counts in requests that come through Local, and nowhere else.
const CustomerHeader = "X-Belfry-Customer"

type localKey struct{}

// Local serves the same routes with the rights of an instance administrator. It is for the socket that only the owner of the
// data folder can open: keys and cookies do not count there, and browsers cannot reach it.
func (s *Server) Local() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

// isLocal reports whether a request came through Local.
func isLocal(r *http.Request) bool { return r.Context().Value(localKey{}) != nil }

// identifyLocal identifies a request as the local administrator.
func (s *Server) identifyLocal(r *request) error {
	given := r.Header.Get(CustomerHeader)
	name, err := url.PathUnescape(cmp.Or(given, belfry.DefaultCustomer))
	if err != nil {
		return belfry.Errorf(belfry.BadParameter, "the header %s must be the name of a customer in the encoding of a path", CustomerHeader)
	}
	c, ok := s.Tree.Access().CustomerNamed(name)
	if all := s.Tree.Access().Customers(); !ok && given == "" && len(all) > 0 {
		c, ok = all[0], true // the default customer was removed
	}
	if !ok {
		return belfry.Errorf(belfry.UnknownItem, "there is no customer %.255q; see belfry customer list", input.Mask(name))
	}
	r.local, r.customer, r.home, r.level, r.who = true, c.ID, c.ID, belfry.LevelInstance, accounts.LocalName
	r.key = belfry.HashOf("local " + accounts.LocalName).String() // that of no key and no user
	return nil
}

package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// request is a request that may be served: its key or session is valid and high enough, its parameters are known.
type request struct {
	*http.Request
	id       string
	customer belfry.CustomerID
	level    belfry.Level
	who      string     // the name of the key, or of the user, for events
	key      belfry.Key // zero for routes that need none; for a session, what it is worth, under a hash of its own
	login    meta.Login // of a session; its zero value with a key
	params   url.Values // query parameters, without the key
	limits   Limits
}

// ctx ends when the client goes away.
func (r *request) ctx() context.Context { return r.Request.Context() }

func (m methods) path() string {
	for _, rt := range m {
		return strings.TrimSuffix(rt.Path, "{$}")
	}
	return ""
}

func (m methods) allowed() string {
	var names []string
	for name, rt := range m {
		names = append(names, name)
		if name == http.MethodGet && !rt.KeyOnly() {
			names = append(names, http.MethodHead)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// admit finds who asks and checks that against the route, then the names of the parameters.
func (s *Server) admit(r *http.Request, rt Route) (*request, error) {
	params, malformed := url.ParseQuery(r.URL.RawQuery)
	req := &request{Request: r, params: params, limits: *s.limits.Load()}
	if rt.Level > belfry.LevelNone {
		if err := s.identify(req, rt); err != nil {
			return nil, err
		}
		if req.level < rt.Level {
			return nil, req.tooLow(rt)
		}
	}
	if malformed != nil {
		return nil, belfry.Errorf(belfry.BadParameter, "the query string is not properly URL-encoded; write %%25 for a percent sign and %%3B for a semicolon")
	}
	if rt.Method == http.MethodGet {
		params.Del("apikey")
	}
	return req, checkParams(params, rt.Params)
}

// identify finds the key or the session of a request. A key that is given counts, right or wrong; only without one is
// the cookie looked at.
func (s *Server) identify(r *request, rt Route) error {
	if text := secret(r.Request, rt, r.params); text != "" {
		k := s.Keys.Key(belfry.HashOf(strings.TrimSpace(text)))
		now := belfry.At(s.Now())
		if k == nil || (k.Expires != 0 && k.Expires <= now) {
			return errNobody()
		}
		k.Used(now)
		r.key, r.customer, r.level, r.who = k.Key, k.Customer, k.Level, k.Name
		return nil
	}
	if hash, ok := cookie(r.Request); !ok || rt.KeyOnly() || !s.recognise(r, hash) {
		return errNobody()
	}
	return s.sameSite(r.Request)
}

// errNobody is all that is said to whoever is not known, whatever the reason.
func errNobody() error {
	return belfry.Errorf(belfry.InvalidKey, "this needs a valid API key, in the header x-api-key or, on GET, in the parameter apikey; or a session of the web interface")
}

func (r *request) tooLow(rt Route) error {
	switch {
	case rt.Level == belfry.LevelAdministrator:
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a session of an administrator; no key has that level", rt.Method, rt.Path)
	case rt.Level > belfry.LevelAdministrator:
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a session of an instance administrator; no key has that level", rt.Method, rt.Path)
	case r.login.User.Name != "":
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs level %s, this session has level %s", rt.Method, rt.Path, rt.Level, r.level)
	}
	return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a key of level %s, this one has level %s", rt.Method, rt.Path, rt.Level, r.level)
}

// secret is the key as the client sent it. In an address it is taken on GET alone: bodies go with headers. Only its hash
// is compared, so the time that takes says nothing about the keys there are.
func secret(r *http.Request, rt Route, params url.Values) string {
	if k := r.Header.Get("X-Api-Key"); k != "" || rt.Method != http.MethodGet {
		return k
	}
	return params.Get("apikey")
}

func checkParams(params url.Values, known []string) error {
	if slices.Equal(known, anyParams) {
		return nil
	}
	for name, values := range params {
		switch {
		case name == "apikey":
			return belfry.Errorf(belfry.BadParameter, "the parameter apikey is for GET alone; send the key in the header x-api-key")
		case !knows(known, name):
			return unknownParam(name, known)
		case len(values) > 1:
			return belfry.Errorf(belfry.BadParameter, "the parameter %s is given %d times; give it once", name, len(values))
		}
	}
	return nil
}

func knows(params []string, name string) bool {
	if slices.Contains(params, name) {
		return true
	}
	_, ok := indicator(name)
	return ok && slices.Contains(params, anyIndicator)
}

func unknownParam(name string, known []string) error {
	if len(known) == 0 {
		return belfry.Errorf(belfry.BadParameter, "unknown parameter %q; this path takes none", mask(name))
	}
	hint := ""
	if near := catalog.Nearest(name, known); near != "" {
		hint = ", did you mean " + near + "?"
	}
	return belfry.Errorf(belfry.BadParameter, "unknown parameter %q; known are %s%s", mask(name), strings.Join(known, ", "), hint)
}

// flag reads a parameter that is true or false; given without a value it is true.
func (r *request) flag(name string) (bool, error) {
	if !r.params.Has(name) {
		return false, nil
	}
	switch strings.ToLower(r.params.Get(name)) {
	case "", "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, belfry.Errorf(belfry.BadParameter, "%s must be true or false, got %q", name, r.params.Get(name))
}

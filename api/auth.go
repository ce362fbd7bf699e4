package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"belfry"
	"belfry/catalog"
)

// request is a request that may be served: its key is valid and high enough, its parameters are known.
type request struct {
	*http.Request
	id     string
	key    belfry.Key // zero for routes that need none
	params url.Values // query parameters, without the key
	limits Limits
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
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// admit finds the key of a request and checks it against the route, then the names of the parameters.
func (s *Server) admit(r *http.Request, rt Route) (*request, error) {
	params, malformed := url.ParseQuery(r.URL.RawQuery)
	req := &request{Request: r, params: params, limits: *s.limits.Load()}
	if rt.Level > belfry.LevelNone {
		key, ok := s.key(secret(r, rt, params))
		if !ok {
			return nil, belfry.Errorf(belfry.InvalidKey, "this needs a valid API key, in the header x-api-key or, on GET, in the parameter apikey")
		}
		if key.Level < rt.Level {
			return nil, belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a key of level %s, this one has level %s", rt.Method, rt.Path, rt.Level, key.Level)
		}
		req.key = key
	}
	if malformed != nil {
		return nil, belfry.Errorf(belfry.BadParameter, "the query string is not properly URL-encoded; write %%25 for a percent sign and %%3B for a semicolon")
	}
	if rt.Method == http.MethodGet {
		params.Del("apikey")
	}
	return req, checkParams(params, rt.Params)
}

// secret is the key as the client sent it. In an address it is taken on GET alone: bodies go with headers.
func secret(r *http.Request, rt Route, params url.Values) string {
	if k := r.Header.Get("X-Api-Key"); k != "" || rt.Method != http.MethodGet {
		return k
	}
	return params.Get("apikey")
}

// key looks a secret up. Only its hash is compared, so the time it takes says nothing about the keys there are.
func (s *Server) key(secret string) (belfry.Key, bool) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	k, ok := s.Keys.Key(hex.EncodeToString(sum[:]))
	if !ok || secret == "" || (k.Expires != 0 && k.Expires <= belfry.At(s.Now())) {
		return belfry.Key{}, false
	}
	return k, true
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

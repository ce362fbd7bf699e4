package api

import (
	"context"
	"net/http"
	"sort"
	"strings"

	"belfry"
	"belfry/api/limit"
	"belfry/intake"
	"belfry/meta"
)

// request is an admitted request: its key or session is valid and has the level, its parameters are known.
type request struct {
	*http.Request
	id              string
	customer        belfry.CustomerID
	home            belfry.CustomerID // that of the user; differs when an instance administrator acts in another customer
	level           belfry.Level
	who             string           // name of the key or user
	key             string           // hash of the key, or one of the user; empty for routes that need neither
	hash            belfry.Hash      // of the key; zero with a session
	login           *meta.Login      // of a session; nil with a key
	local           bool             // it came through Local
	narrowed        belfry.Narrowing // of the key
	customerRemoved bool             // the session acts in a customer that was removed
	params          params           // query parameters, without the key
	limits          *Limits
	slot            *limit.Slot // nil: it has none
	server          *Server
	held            *intake.HeldBody // memory that its body takes; nil: none
}

// memory counts the memory that the body takes until the request ends.
func (r *request) memory() *intake.HeldBody {
	if r.held == nil {
		r.held = r.server.Intake.Hold(r.customer)
	}
	return r.held
}

// end releases the memory that was counted.
func (r *request) end() {
	if r.held != nil {
		r.held.Release()
	}
}

// ctx ends when the client disconnects.
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

// admit identifies the client and checks its rights for the route, then the names of the parameters.
func (s *Server) admit(r *http.Request, rt Route) (*request, error) {
	params, proper := parseParams(r.URL.RawQuery)
	req := &request{Request: r, params: params, limits: s.limits.Load(), server: s}
	if rt.Level > belfry.LevelNone {
		if err := s.identify(req, rt); err != nil {
			return nil, err
		}
		if req.level < rt.Level {
			return nil, req.tooLow(rt)
		}
		if rt.Command != "" && !req.local {
			return nil, belfry.Errorf(belfry.InsufficientLevel, "%s %s is possible only on the machine of the service, with %s", rt.Method, rt.Path, rt.Command)
		}
		if req.scope().Limited() && !rt.Scoped() {
			return nil, req.outOfScope(rt)
		}
		if req.narrowed.SendsOnly() && !rt.Sends() {
			return nil, sendsOnly(rt)
		}
		s.Engine.Active(req.customer)
	}
	if !proper {
		return nil, errEncoding
	}
	if rt.Method == http.MethodGet {
		req.params = params.without("apikey")
	}
	return req, req.params.check(rt.Params)
}

// identify finds the key or session of a request. A cookie counts only without a key, even if the key is invalid.
func (s *Server) identify(r *request, rt Route) error {
	if isLocal(r.Request) {
		return s.identifyLocal(r)
	}
	if text := secret(r.Request, rt, r.params); text != "" {
		r.hash = belfry.HashOf(strings.TrimSpace(text))
		k := s.validKey(r)
		if k == nil {
			return errUnidentified()
		}
		r.key, r.customer, r.level, r.who, r.narrowed = k.Identity(), k.Customer, k.Level, k.Name, k.Narrowing
		return nil
	}
	if hash, ok := cookie(r.Request); !ok || rt.KeyOnly() || !s.recognise(r, hash) {
		return errUnidentified()
	}
	if err := s.sameSite(r.Request); err != nil {
		return err
	}
	if r.customerRemoved && !rt.RemovedCustomer {
		return errCustomerRemoved(r.login.Session)
	}
	return nil
}

// errUnidentified is the error of every request without a valid key or session, whatever the reason.
func errUnidentified() error {
	return belfry.Errorf(belfry.InvalidKey, "this needs a valid API key, in the header x-api-key or, on GET, in the parameter apikey; or a session of the web interface")
}

func (r *request) tooLow(rt Route) error {
	switch {
	case rt.Level == belfry.LevelAdministrator:
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a session of an administrator; no key has that level", rt.Method, rt.Path)
	case rt.Level > belfry.LevelAdministrator:
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a session of an instance administrator; no key has that level", rt.Method, rt.Path)
	case r.login != nil:
		return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs level %s, this session has level %s", rt.Method, rt.Path, rt.Level, r.level)
	}
	return belfry.Errorf(belfry.InsufficientLevel, "%s %s needs a key of level %s, this one has level %s", rt.Method, rt.Path, rt.Level, r.level)
}

// secret is the key as the client sent it. The parameter counts on GET only. Only the hash of a key is compared, so the time of
// the comparison reveals nothing about valid keys.
func secret(r *http.Request, rt Route, params params) string {
	if k := r.Header.Get("X-Api-Key"); k != "" || rt.Method != http.MethodGet {
		return k
	}
	return params.Get("apikey")
}

// flag reads a parameter that is true or false; without a value it is true.
func (r *request) flag(name string) (bool, error) { return r.params.flag(name) }

func (p params) flag(name string) (bool, error) {
	if !p.Has(name) {
		return false, nil
	}
	switch strings.ToLower(p.Get(name)) {
	case "", "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, belfry.Errorf(belfry.BadParameter, "%s must be true or false, got %q", name, p.Get(name))
}

// off reports whether a flag that is set unless it is given as false is given so.
func (p params) off(name string) (bool, error) {
	if !p.Has(name) {
		return false, nil
	}
	set, err := p.flag(name)
	return !set, err
}

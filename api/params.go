package api

import (
	"net/url"
	"slices"
	"strings"

	"belfry"
	"belfry/api/input"
	"belfry/catalog"
)

// params are the parameters of a request, in their order. They are few, so a list is cheaper than a map, which counts on the
// legacy paths: there each row is a request.
type params []param

type param struct{ name, value string }

// parseParams parses a query string or a form; ok is false when it is not properly encoded.
func parseParams(raw string) (list params, ok bool) {
	if raw == "" {
		return nil, true
	}
	list = make(params, 0, strings.Count(raw, "&")+1)
	ok = true
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, nameOK := unescape(name)
		value, valueOK := unescape(value)
		if !nameOK || !valueOK {
			ok = false // the other parameters may hold the key
			continue
		}
		list = append(list, param{name, value})
	}
	return list, ok
}

// unescape decodes URL-encoding; most texts have none.
func unescape(s string) (plain string, ok bool) {
	if !strings.ContainsAny(s, "%+;") {
		return s, true
	}
	if strings.Contains(s, ";") { // some programs treat it as a separator, so it must be escaped
		return "", false
	}
	plain, err := url.QueryUnescape(s)
	return plain, err == nil
}

// Get is the value of a parameter; empty when it is not given.
func (p params) Get(name string) string {
	for i := range p {
		if p[i].name == name {
			return p[i].value
		}
	}
	return ""
}

// Has reports whether a parameter is given.
func (p params) Has(name string) bool {
	return slices.ContainsFunc(p, func(q param) bool { return q.name == name })
}

// without removes a parameter.
func (p params) without(name string) params {
	return slices.DeleteFunc(p, func(q param) bool { return q.name == name })
}

// Encode writes the parameters sorted by name.
func (p params) Encode() string {
	values := url.Values{}
	for _, q := range p {
		values.Add(q.name, q.value)
	}
	return values.Encode()
}

// check refuses unknown parameters and those that are given twice.
func (p params) check(known []Param) error {
	if knows(known, anyParam) {
		return nil
	}
	for i, q := range p {
		switch {
		case q.name == "apikey":
			return belfry.Errorf(belfry.BadParameter, "the parameter apikey is only for GET; send the key in the header x-api-key")
		case !knows(known, q.name):
			return unknownParam(q.name, known)
		case p[:i].Has(q.name):
			return belfry.Errorf(belfry.BadParameter, "the parameter %s is given more than once; give it once", q.name)
		}
	}
	return nil
}

func knows(known []Param, name string) bool {
	_, numbered := indicator(name)
	return slices.ContainsFunc(known, func(k Param) bool { return k.Name == name || numbered && k.Name == anyIndicator })
}

func unknownParam(name string, known []Param) error {
	if len(known) == 0 {
		return belfry.Errorf(belfry.BadParameter, "unknown parameter %q; this path takes none", input.Mask(name))
	}
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].Name
	}
	hint := ""
	if near := catalog.Nearest(name, names); near != "" {
		hint = ", did you mean " + near + "?"
	}
	return belfry.Errorf(belfry.BadParameter, "unknown parameter %q; known are %s%s", input.Mask(name), strings.Join(names, ", "), hint)
}

var errEncoding = belfry.Errorf(belfry.BadParameter, "the query string is not properly URL-encoded; write %%25 for a percent sign and %%3B for a semicolon")

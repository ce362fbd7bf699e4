package api

import (
	"net/http"
	"slices"

	"belfry"
)

// Route is an endpoint: how it is served, and its documentation. The reference page, openapi.json and the types of
// the web interface are generated from it; make gen writes them.
type Route struct {
	Method          string
	Path            string       // pattern of net/http, without a method
	Level           belfry.Level // that a key or session needs; LevelNone: neither is needed
	Limited         bool         // users who are limited to some views may use it: its handler respects the scope
	Sending         bool         // a key with only: send may use it
	RemovedCustomer bool         // it works in a session that acts in a customer which was removed
	Command         string       // that alone may use it, through the socket of the local administrator; empty: everyone who has the level
	InTurn          bool         // a GET whose answer grows with what the customer has, see inTurn
	serve           handler

	ID     string // operationId of the document; a route without one is not part of it
	Tag    string
	Help   string // one sentence
	Detail string // further sentences

	Wildcards []Param // of the path
	Params    []Param // of the query string; others are refused, so that a misspelt one is not ignored
	Headers   []Param
	Body      []Media
	Answers   []Answer
	Errors    []belfry.Code // beside those that follow from the fields above, see Codes
}

// Param is a parameter of the path, of the query string or a header.
type Param struct {
	Name     string
	Help     string
	Required bool
	Schema   string // JSON Schema of the value, in the form of the struct tag schema; empty: any text
	Example  string
}

// Media is the form of a body. The document describes the type of Of: a struct by its fields, with the tags json, help and
// schema; AnyOf as alternatives; []Param as an object with these fields; nil as text, or as bytes when it is a picture.
type Media struct {
	Type string
	Of   any
	Help string
}

// AnyOf are the types that a body may have.
type AnyOf []any

// Answer is what a route answers with one status.
type Answer struct {
	Status  int
	Help    string
	Body    []Media
	Headers []Param
}

// answers describes a JSON answer.
func answers(status int, help string, of any) Answer {
	return Answer{Status: status, Help: help, Body: inJSON(of)}
}

func inJSON(of any) []Media { return []Media{{Type: "application/json", Of: of}} }

// inYAML describes a definition, which may be written in JSON or YAML.
func inYAML(of any) []Media {
	return []Media{{Type: "application/json", Of: of}, {Type: "application/yaml", Of: of}, {Type: "application/x-yaml", Of: of}, {Type: "text/yaml", Of: of}}
}

// flagSchema is that of a parameter that is set or not.
const flagSchema = "enum=true|false|1|0|yes|no|"

// idempotencyKey is the header that makes a change safe to repeat.
var idempotencyKey = Param{
	Name: "Idempotency-Key", Schema: "maxLength=255",
	Help: "Makes the request safe to repeat within 24 hours: a repeat gets the first answer and changes nothing. It is scoped to the API key, or to the user of a session: with another API key of the same customer it identifies another request.",
}

// listParams are those of all lists that are answered in pages.
var listParams = []Param{
	{Name: "limit", Schema: "type=integer,minimum=1,maximum=1000,default=100", Help: "Entries per page."},
	{Name: "after", Help: "The page begins after this name: the last one of the previous page."},
}

// KeyOnly reports whether the cookie of a session is ignored: on a GET that writes. Any page of any site can make a browser
// follow a link and send the cookie with it.
func (rt Route) KeyOnly() bool {
	return rt.Method == http.MethodGet && (rt.Level == belfry.LevelReadWrite || rt.Level == belfry.LevelReadWriteDelete)
}

// Scoped reports whether users who are limited to sub-trees may use the route. Routes without a level are open to all.
func (rt Route) Scoped() bool { return rt.Level == belfry.LevelNone || rt.Limited }

// Sends reports whether a key that may only send may use the route.
func (rt Route) Sends() bool { return rt.Level == belfry.LevelNone || rt.Sending }

// Codes are the error codes of the route, sorted.
func (rt Route) Codes() []belfry.Code {
	codes := append([]belfry.Code{belfry.BadParameter, belfry.Internal}, rt.Errors...)
	if rt.Level > belfry.LevelNone {
		codes = append(codes, belfry.InvalidKey)
		if rt.Level > belfry.LevelRead || !rt.Limited || !rt.RemovedCustomer {
			codes = append(codes, belfry.InsufficientLevel)
		}
		if rt.Method != http.MethodGet {
			codes = append(codes, belfry.CrossSite, belfry.StorageUnavailable)
		}
	}
	if rt.InTurn {
		codes = append(codes, belfry.RateLimited, belfry.Overloaded)
	}
	if len(rt.Wildcards) > 0 {
		codes = append(codes, belfry.UnknownPath) // when the name is empty
	}
	if len(rt.Body) > 0 {
		codes = append(codes, belfry.UnsupportedMediaType, belfry.BodyTooLarge)
	}
	for _, m := range rt.Body {
		if m.Type == "text/csv" {
			codes = append(codes, belfry.BadCSV, belfry.BadHeader)
		} else { // also what breaks off
			codes = append(codes, belfry.BadJSON)
		}
	}
	if slices.ContainsFunc(rt.Headers, func(p Param) bool { return p.Name == idempotencyKey.Name }) {
		codes = append(codes, belfry.IdempotencyMismatch, belfry.BodyTooLarge)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

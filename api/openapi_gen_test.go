package api

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"belfry"
)

// documentHead is what the document says beside paths and components.
const documentHead = `{
	"openapi": "3.1.0",
	"info": {
		"title": "Belfry", "version": "0.1.0",
		"description": "Monitoring with a REST API. Clients ignore fields of answers that they do not know: there may be more in a later version. Every GET also answers HEAD.",
		"license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
	},
	"servers": [{"url": "/"}],
	"tags": [
		{"name": "rows", "description": "Data in, answers out."},
		{"name": "items", "description": "What exists: resources, views, objects, graphical elements."},
		{"name": "kinds", "description": "What kinds of them there are: packages and classes, and policies that say otherwise."},
		{"name": "access", "description": "Keys and sessions."},
		{"name": "service", "description": "The service itself."}
	]
}`

const securitySchemes = `{
	"header": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "An API key."},
	"query": {"type": "apiKey", "in": "query", "name": "apikey", "description": "An API key; on GET alone."},
	"cookie": {"type": "apiKey", "in": "cookie", "name": "belfry_session", "description": "The session of a user, from POST /api/session."}
}`

// errorResponses are the answers with an error that operations share, by status.
var errorResponses = []struct {
	status     int
	name, help string
}{
	{400, "BadRequest", "Something is wrong with the request; the message says what, and what would be right."},
	{401, "Unauthorized", "No valid key or session, or a login that does not fit."},
	{403, "Forbidden", "The key or session may not do this, its rights were changed while the request was in progress, it acts in a customer that was removed, or a browser sent it for another site."},
	{404, "NotFound", "There is nothing of that name."},
	{409, "Conflict", "The Idempotency-Key was used for another request."},
	{413, "TooLarge", "The body is above the limit."},
	{415, "UnsupportedMediaType", "The path does not read this type or encoding."},
	{429, "TooManyRequests", "More than this customer's share."},
	{500, "Internal", "An internal error of the service."},
	{503, "Unavailable", "Not at the moment."},
}

var contentEncoding = Param{Name: "Content-Encoding", Schema: "enum=gzip|x-gzip|zstd|identity", Help: "How the body is packed."}

// sharedParams are parameters of many operations, by their names among the components.
var sharedParams = []struct {
	name, in string
	Param
}{
	{"dryrun", "query", dryRun},
	{"atomic", "query", allOrNone},
	{"limit", "query", listParams[0]},
	{"after", "query", listParams[1]},
	{"IdempotencyKey", "header", idempotencyKey},
	{"ContentEncoding", "header", contentEncoding},
}

// TestOpenAPIPage holds openapi.json to the routes, and the types of the web interface to openapi.json.
func TestOpenAPIPage(t *testing.T) {
	d := &document{t: t, types: map[string]string{}, schemas: map[string]object{}}
	doc := append(parseObject(t, documentHead), member{"paths", d.paths()}, member{"components", d.components()})
	golden(t, "openapi.json", layout(doc, "")+"\n")
	golden(t, filepath.Join("..", "web", "ui", "src", "api.gen.ts"), d.typescript())
}

// golden compares a generated file with what it should be, or writes it.
func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not up to date (%v); run make gen", path, err)
	}
}

// document gathers the components that the paths need.
type document struct {
	t       *testing.T
	types   map[string]string // Go types by the names of their schemas
	schemas map[string]object
}

// documented tells whether a route is part of the document, and gives its path there.
func documented(rt Route) (path string, ok bool) {
	return strings.Replace(rt.Path, "...}", "}", 1), rt.ID != ""
}

func (d *document) paths() (paths object) {
	for _, rt := range Routes {
		path, ok := documented(rt)
		if !ok {
			continue
		}
		i := slices.IndexFunc(paths, func(m member) bool { return m.name == path })
		if i < 0 {
			i = len(paths)
			paths = append(paths, member{path, object{}})
		}
		paths[i].value = append(paths[i].value.(object), member{strings.ToLower(rt.Method), d.operation(rt)})
	}
	return paths
}

func (d *document) operation(rt Route) object {
	summary, more, _ := strings.Cut(strings.TrimSuffix(rt.Help, "."), "; ")
	detail := rt.Detail
	if more != "" {
		detail = strings.TrimSpace(rt.Help + " " + detail)
	}
	op := object{{"tags", []string{rt.Tag}}, {"operationId", rt.ID}, {"summary", summary}}
	if detail != "" {
		op = append(op, member{"description", detail})
	}
	if rt.Level > belfry.LevelNone {
		op = append(op, member{"x-level", rt.Level.String()})
	}
	op = append(op, member{"x-errors", texts(rt.Codes())}, member{"security", security(rt)})
	if params := d.parameters(rt); len(params) > 0 {
		op = append(op, member{"parameters", params})
	}
	if len(rt.Body) > 0 {
		op = append(op, member{"requestBody", object{{"required", true}, {"content", d.content(rt.Body, true)}}})
	}
	return append(op, member{"responses", d.responses(rt)})
}

func texts(codes []belfry.Code) (list []string) {
	for _, c := range codes {
		list = append(list, string(c))
	}
	return list
}

// security is where a route looks for a key or a session.
func security(rt Route) []any {
	list := []any{}
	add := func(scheme string) { list = append(list, object{{scheme, []string{}}}) }
	if rt.Level == belfry.LevelNone {
		return list
	}
	if rt.Level <= belfry.LevelReadWriteDelete {
		add("header")
		if rt.Method == http.MethodGet {
			add("query")
		}
	}
	if !rt.KeyOnly() {
		add("cookie")
	}
	return list
}

func (d *document) parameters(rt Route) (list []any) {
	var names []string
	for _, p := range rt.Wildcards {
		names = append(names, p.Name)
		p.Required, p.Schema = true, cmp.Or(p.Schema, "minLength=1")
		list = append(list, d.parameter("path", p))
	}
	for i, m := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(rt.Path, -1) {
		if i >= len(names) || names[i] != m[1] {
			d.t.Errorf("%s %s: the wildcards are %s; describe each, in their order", rt.Method, rt.Path, names)
			break
		}
	}
	for _, p := range rt.Params {
		if p.Name != anyParam {
			list = append(list, d.parameter("query", p))
		}
	}
	for _, p := range rt.Headers {
		list = append(list, d.parameter("header", p))
	}
	if len(rt.Body) > 0 {
		list = append(list, d.parameter("header", contentEncoding))
	}
	return list
}

// indicatorsParam describes the parameters i1 to i100 of /d, which are one of the document.
const indicatorsParam = `{"style": "form", "explode": true,
	"schema": {"type": "object", "patternProperties": {"^i([1-9][0-9]?|100)$": {"type": "string"}}}, "example": {"i1": "12.5", "i2": "ok"}}`

func (d *document) parameter(in string, p Param) object {
	for _, s := range sharedParams {
		if s.Param == p && s.in == in {
			return object{{"$ref", "#/components/parameters/" + s.name}}
		}
	}
	return d.ownParameter(in, p)
}

func (d *document) ownParameter(in string, p Param) object {
	if p.Help == "" {
		d.t.Errorf("the parameter %s has no help", p.Name)
	}
	o := object{{"name", p.Name}, {"in", in}, {"description", p.Help}}
	if p.Required {
		o = append(o, member{"required", true})
	}
	if p.Name == anyIndicator {
		o[0].value = "indicators"
		return append(o, parseObject(d.t, indicatorsParam)...)
	}
	o = append(o, member{"schema", d.annotate(object{{"type", "string"}}, "", p.Schema)})
	if p.Example != "" {
		o = append(o, member{"example", p.Example})
	}
	return o
}

// responses are the answers of a route, and for every other status that its codes have, an error.
func (d *document) responses(rt Route) (list object) {
	for _, a := range rt.Answers {
		o := object{{"description", a.Help}, {"headers", d.headers(a.Headers)}}
		if len(a.Body) > 0 {
			o = append(o, member{"content", d.content(a.Body, false)})
		}
		list = append(list, member{fmt.Sprint(a.Status), o})
	}
	for _, e := range errorResponses {
		status := fmt.Sprint(e.status)
		has := slices.ContainsFunc(rt.Codes(), func(c belfry.Code) bool { i, _ := codeInfo(c); return i.Status == e.status })
		if has && !slices.ContainsFunc(list, func(m member) bool { return m.name == status }) {
			list = append(list, member{status, object{{"$ref", "#/components/responses/" + e.name}}})
		}
	}
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return list
}

func (d *document) headers(list []Param) object {
	o := object{{"X-Request-Id", object{{"$ref", "#/components/headers/RequestId"}}}}
	for _, p := range list {
		o = append(o, member{p.Name, object{{"description", p.Help}, {"schema", d.annotate(object{{"type", "string"}}, "", p.Schema)}}})
	}
	return o
}

func (d *document) components() object {
	errorSchema := d.content(inJSON(errorAnswer{}), false)
	var params, responses, schemas object
	for _, p := range sharedParams {
		params = append(params, member{p.name, d.ownParameter(p.in, p.Param)})
	}
	for _, e := range errorResponses {
		var headers []Param
		if e.status == 429 || e.status == 503 {
			headers = []Param{{Name: "Retry-After", Schema: "type=integer,minimum=1", Help: "Seconds after which to try again."}}
		}
		responses = append(responses, member{e.name, object{{"description", e.help}, {"headers", d.headers(headers)}, {"content", errorSchema}}})
	}
	for _, name := range d.schemaNames() {
		schemas = append(schemas, member{name, d.schemas[name]})
	}
	requestID := object{{"description", "Id of the request; the service's log has it too."}, {"schema", object{{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}}}}
	return object{
		{"securitySchemes", parseObject(d.t, securitySchemes)},
		{"headers", object{{"RequestId", requestID}}},
		{"parameters", params},
		{"responses", responses},
		{"schemas", schemas},
	}
}

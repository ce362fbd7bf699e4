package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"belfry"
	"belfry/api"
	"belfry/config"
)

// judge holds requests and answers to the document that the service gives of itself.
type judge struct {
	*running
	provider *testProvider
	doc      *openapi3.T
	keys     map[string]string
	seen     map[string]bool // "METHOD /path good" and "… bad"
}

func newJudge(t *testing.T) *judge {
	p := newTestProvider(t)
	backups := t.TempDir()
	j := &judge{running: startService(t, func(c *config.Config) { c.OIDC, c.Backup.Target = p.config(), backups }), provider: p, seen: map[string]bool{}}
	_, _, text := j.do("GET", "/api/openapi.json", "")
	var err error
	if j.doc, err = openapi3.NewLoader().LoadFromData(strictly(t, text)); err != nil {
		t.Fatal(err)
	}
	j.keys = map[string]string{
		"-": "", "wrong": "7b0c4f0e-1111-4aaa-8bbb-000000000001",
		"r": j.key("reader", belfry.LevelRead, ""), "rw": j.key("writer", belfry.LevelReadWrite, ""),
		"rwd": j.key("admin", belfry.LevelReadWriteDelete, ""),
	}
	plain := func(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		text, err := io.ReadAll(body)
		return string(text), err
	}
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", plain)
	openapi3filter.RegisterBodyDecoder("text/event-stream", plain)
	openapi3filter.RegisterBodyDecoder("text/csv", plain) // the one there is refuses what CSV allows
	openapi3filter.RegisterBodyDecoder("text/yaml", openapi3filter.YamlBodyDecoder)
	return j
}

// strictly makes the document say that there is nothing beyond what it describes. Clients must allow for more; for us, a
// field that is not in the document is one that somebody forgot to write down.
func strictly(t *testing.T, text []byte) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if props, ok := v["properties"].(map[string]any); ok && v["type"] == "object" && v["additionalProperties"] == nil && len(props) > 0 {
				v["additionalProperties"] = false
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
	strict, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return strict
}

// find gives the operation of a request. A path without a wildcard goes before one with.
// anotherSession is the id of a session of the same user that is not the one of the cookie.
func anotherSession(j *judge, cookie string) string {
	j.t.Helper()
	_, _, text := j.do("GET", "/api/sessions", "", cookie)
	var got struct {
		Sessions []struct {
			ID      string
			Current bool
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		j.t.Fatal(err)
	}
	for _, s := range got.Sessions {
		if !s.Current {
			return s.ID
		}
	}
	j.t.Fatalf("there is no other session in %s", text)
	return ""
}

func (j *judge) find(method string, u *url.URL) (*routers.Route, map[string]string) {
	j.t.Helper()
	paths := j.doc.Paths.InMatchingOrder()
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(a, "{") - strings.Count(b, "{") })
	for _, path := range paths {
		item := j.doc.Paths.Value(path)
		names := regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1)
		m := regexp.MustCompile("^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "([^/]+)") + "$").FindStringSubmatch(u.EscapedPath())
		if m == nil || item.GetOperation(method) == nil {
			continue
		}
		params := map[string]string{}
		for i, name := range names {
			params[name[1]], _ = url.PathUnescape(m[i+1])
		}
		return &routers.Route{Spec: j.doc, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}, params
	}
	j.t.Fatalf("%s %s is not in the document", method, u.EscapedPath())
	return nil, nil
}

// check sends a request and holds it and its answer to the document. A request that is answered well must be one that the
// document allows; an answer must be as described in any case.
func (j *judge) check(status int, key, method, path, body string, headers ...string) {
	j.t.Helper()
	if j.keys[key] != "" {
		headers = append(headers, "X-Api-Key: "+j.keys[key])
	}
	req, res, text := j.do(method, strings.ReplaceAll(path, "$R", j.keys["r"]), body, headers...)
	if res.StatusCode != status {
		j.t.Errorf("%s %s: %d, want %d: %s", method, path, res.StatusCode, status, text)
	}
	route, params := j.find(method, req.URL)
	asked, err := j.asked(req, body, route, params)
	verdict := "bad"
	if res.StatusCode < 400 {
		verdict = "good"
		if err != nil {
			j.t.Errorf("%s %s was answered with %d, but the document does not allow it: %v", method, path, res.StatusCode, err)
		}
	}
	j.seen[method+" "+route.Path+" "+verdict] = true
	j.code(method+" "+path, route.Operation, text)
	if err := j.answered(asked, res, text); err != nil {
		j.t.Errorf("%s %s: the answer is not as described: %v\n%s", method, path, err, text)
	}
}

// code holds the code of an error to those that the document lists for the operation. A request of a single row has the row's code.
func (j *judge) code(what string, op *openapi3.Operation, text []byte) {
	j.t.Helper()
	var got struct {
		Error  struct{ Code string }
		Errors []struct{ Code string }
	}
	json.Unmarshal(text, &got) // what is not JSON is no error
	listed, _ := op.Extensions["x-errors"].([]any)
	if c := got.Error.Code; c != "" && !slices.Contains(listed, any(c)) && (len(got.Errors) == 0 || got.Errors[0].Code != c) {
		j.t.Errorf("%s: the document does not list the code %s", what, c)
	}
}

var options = &openapi3filter.Options{
	IncludeResponseStatus: true, SkipSettingDefaults: true, MultiError: true,
	AuthenticationFunc: func(_ context.Context, in *openapi3filter.AuthenticationInput) error {
		r := in.RequestValidationInput.Request
		switch s := in.SecurityScheme; {
		case s.In == "header" && r.Header.Get(s.Name) != "", s.In == "query" && r.URL.Query().Get(s.Name) != "":
			return nil
		case s.In == "cookie":
			if _, err := r.Cookie(s.Name); err == nil {
				return nil
			}
		}
		return errors.New("no key where the document wants it")
	},
}

func (j *judge) asked(r *http.Request, body string, route *routers.Route, params map[string]string) (*openapi3filter.RequestValidationInput, error) {
	again := r.Clone(j.t.Context())
	again.Body = io.NopCloser(strings.NewReader(body))
	if route.Operation.RequestBody != nil && again.Header.Get("Content-Type") == "" { // what an absent type stands for
		for _, typ := range []string{"text/csv", "application/x-www-form-urlencoded", "application/json"} {
			if route.Operation.RequestBody.Value.Content[typ] != nil {
				again.Header.Set("Content-Type", typ)
				break
			}
		}
	}
	in := &openapi3filter.RequestValidationInput{Request: again, PathParams: params, Route: route, Options: options}
	return in, openapi3filter.ValidateRequest(j.t.Context(), in)
}

func (j *judge) answered(asked *openapi3filter.RequestValidationInput, res *http.Response, text []byte) error {
	return openapi3filter.ValidateResponse(j.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: res.StatusCode, Header: res.Header,
		Body: io.NopCloser(bytes.NewReader(text)), Options: options,
	})
}

// TestOpenAPI sends real requests, right and wrong, to every endpoint. A new endpoint is a few lines here; the end of the
// test tells which are missing.
func TestOpenAPI(t *testing.T) {
	j := newJudge(t)
	f := j.check
	const csv, yml, jsn = "Content-Type: text/csv", "Content-Type: application/yaml", "Content-Type: application/json"
	big := strings.Repeat("x", 140_000)

	f(200, "-", "GET", "/api/version", "")
	f(400, "-", "GET", "/api/version?x=1", "")
	f(200, "-", "GET", "/api/openapi.json", "")
	f(400, "-", "GET", "/api/openapi.json?x=1", "")

	f(200, "r", "GET", "/api/packages", "")
	f(200, "-", "GET", "/api/packages?apikey=$R", "")
	f(401, "-", "GET", "/api/packages", "")
	f(400, "r", "GET", "/api/packages?kind=view", "")
	f(200, "r", "GET", "/api/packages/network-ping", "")
	f(200, "r", "GET", "/api/packages/label", "")
	f(404, "r", "GET", "/api/packages/network-pin", "")
	f(404, "r", "GET", "/api/packages/"+strings.Repeat("x", 300), "")
	f(401, "wrong", "GET", "/api/packages/label", "")

	f(200, "rw", "POST", "/api/provisioning/custom", "name\nweb01\n", csv)
	f(200, "rw", "POST", "/api/provisioning/custom?dryrun=true", "name\nweb02\n")
	f(200, "rw", "POST", "/api/provisioning/custom", "name\nweb03\n", "Idempotency-Key: one")
	f(409, "rw", "POST", "/api/provisioning/custom", "name\nweb04\n", "Idempotency-Key: one")
	f(207, "rw", "POST", "/api/provisioning/custom", "name\nweb05\n*\n", csv)
	f(400, "rw", "POST", "/api/provisioning/custom", "name\n*\n", csv)
	f(400, "rw", "POST", "/api/provisioning/custom?atomic=true", "name\nweb06\n*\n", csv)
	f(400, "rw", "POST", "/api/provisioning/custom", "nam\nweb01\n", csv)
	f(404, "rw", "POST", "/api/provisioning/customs", "name\nweb01\n", csv)
	f(415, "rw", "POST", "/api/provisioning/custom", "name\nweb01\n", "Content-Type: image/png")
	f(401, "-", "POST", "/api/provisioning/custom", "name\nweb01\n", csv)
	f(403, "r", "POST", "/api/provisioning/custom", "name\nweb01\n", csv)

	f(200, "rw", "POST", "/api/send", "type,resname,object,class,view,i1\ndata,web01,cpu,load,web01,1\n", csv)
	f(200, "rw", "POST", "/api/send", "type,object,log\nlog,cpu,hello\n", csv)
	f(207, "rw", "POST", "/api/send", "type,object,i1\ndata,cpu,2\ndata,cpu,many\n", csv)
	f(400, "rw", "POST", "/api/send", "type,object,i1\ndata,nothing,2\n", csv)
	f(400, "rw", "POST", "/api/send", "typ\ndata\n", csv)
	f(401, "wrong", "POST", "/api/send", "type,object,i1\n", csv)
	f(403, "r", "POST", "/api/send", "type,object,i1\n", csv)
	f(415, "rw", "POST", "/api/send", "x", "Content-Encoding: br")

	f(200, "rw", "POST", "/api/send", `[{"type":"data","object":"cpu","i1":3}]`, jsn)
	f(200, "rw", "POST", "/api/send", `{"type":"data","object":"cpu","i1":3}`+"\n", "Content-Type: application/x-ndjson")
	f(400, "rw", "POST", "/api/send", `{`, jsn)

	const act = "/api/ackmanagenote/objects"
	f(200, "rw", "POST", act, `{"items":"cpu","note":"n"}`, jsn)
	f(200, "rw", "POST", act, `{"items":["cpu"],"resname":"web01","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,"unmanagenote":"x","fromdatetime":"2098-01-01T00:00","todatetime":"2098-01-01T01:00","rrule":"FREQ=DAILY","timezone":"UTC"}`, jsn, "Idempotency-Key: act")
	f(207, "rw", "POST", act, `{"items":"cpu|nope","isunmanaged":false,"unmanagenote":""}`, jsn)
	f(200, "rw", "GET", "/d?resname=web01&o=cpu&n=yes", "")
	f(200, "rw", "POST", act, `{"items":"cpu","ack":"seen","ackuntil":"2098-01-01T00:00:00Z","acksticky":"10m","ackuntilworse":true}`, jsn)
	f(200, "rw", "POST", "/api/ackmanagenote/resources", `{"items":"web01"}`, jsn)
	f(200, "rw", "POST", "/api/ackmanagenote/resources", `{"items":"web01","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true}`, jsn)
	f(200, "rw", "POST", act, `{"items":"cpu","isunmanaged":false}`, jsn) // unmanaged by what is around it
	f(409, "rw", "POST", act, `{"items":"cpu","ack":"unmanaged"}`, jsn)
	f(200, "rw", "POST", "/api/ackmanagenote/resources", `{"items":"web01","isunmanaged":false}`, jsn)
	f(404, "rw", "POST", act, `{"items":"nope"}`, jsn)
	f(404, "rw", "POST", "/api/ackmanagenote/object", `{"items":"cpu"}`, jsn)
	f(200, "rw", "POST", act, `{"items":"cpu","unack":true}`, jsn)
	f(200, "rw", "POST", act, `{"items":"cpu","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,"window":"w","fromdatetime":"2098-01-01T00:00","todatetime":"2098-01-02T00:00","rrule":"FREQ=WEEKLY"}`, jsn)
	f(200, "r", "GET", "/api/windows", "")
	f(200, "r", "GET", "/api/explain/objects/cpu", "")
	f(400, "r", "GET", "/api/windows?after=x", "")
	f(200, "rw", "POST", act, `{"items":"cpu","isunmanaged":false,"window":"w"}`, jsn)
	f(400, "rw", "POST", act, `{"items":"cpu","isunmanaged":true}`, jsn)
	f(400, "rw", "POST", act, `{"items":"cpu","isunmanaged":true,"unmanageifred":false,"collectunmanage":false,"collectorunmanage":false}`, jsn)
	f(400, "rw", "POST", act, `{`, jsn)
	f(409, "rw", "POST", act, `{"items":"cpu"}`, jsn, "Idempotency-Key: act")
	f(401, "-", "POST", act, `{"items":"cpu"}`, jsn)
	f(403, "r", "POST", act, `{"items":"cpu"}`, jsn)
	f(415, "rw", "POST", act, `{"items":"cpu"}`, csv)

	f(200, "r", "GET", "/api/provisioning/custom", "")
	f(200, "-", "GET", "/api/provisioning/view?apikey=$R", "")
	f(404, "r", "GET", "/api/provisioning/customs", "")
	f(401, "-", "GET", "/api/provisioning/custom", "")
	f(200, "rwd", "DELETE", "/api/provisioning/custom?recursive=true&dryrun=true", "name,view\n*,MAIN\n", csv)
	f(207, "rwd", "DELETE", "/api/provisioning/custom", "name\nweb05\nnope\n", csv)
	f(400, "rwd", "DELETE", "/api/provisioning/custom", "name\nnope\n", csv)
	f(400, "rwd", "DELETE", "/api/provisioning/custom", "nam\nnope\n", csv)
	f(403, "rw", "DELETE", "/api/provisioning/custom", "name\nweb05\n", csv)
	f(404, "rwd", "DELETE", "/api/provisioning/customs", "name\nweb05\n", csv)

	f(200, "rw", "GET", "/d?resname=web01&o=cpu&i1=1&i2=text&ip=192.0.2.1&h=h1&o1=a&o5=b", "")
	f(200, "rw", "GET", "/d?resname=web01&o=mem&c=load&v=Inner&p=web01&i1=1", "")
	f(200, "rw", "GET", "/d?resname=web01&o=cpu&n=yes", "")
	f(400, "rw", "GET", "/d?resname=web01&o=cpu", "")
	f(400, "rw", "GET", "/d?resname=web01&o=cpu&j1=1", "")
	f(401, "-", "GET", "/d?resname=web01&o=cpu&i1=1", "")
	f(403, "r", "GET", "/d?resname=web01&o=cpu&i1=1", "")
	f(200, "rw", "GET", "/l?resname=web01&o=cpu&l=a%09b", "")
	f(400, "rw", "GET", "/l?resname=web01&o=cpu", "")
	f(400, "rw", "GET", "/l?resname=web01&o=cpu&l=a&i1=1", "")
	f(200, "rw", "GET", "/cv?resname=web01&c=folder&v=Disks&p=web01&posx=10&posy=20&width=40&height=40&bg=map.png&ar=linear", "")
	f(400, "rw", "GET", "/cv?resname=web01&c=folder&v=Net&p=web01", "")
	f(401, "-", "GET", "/cv?resname=web01&c=folder&v=Net&p=Disks", "")

	f(201, "rwd", "PUT", "/api/classes/tank", "indicators:\n  - {n: 1, name: Level, unit: \"%\", thresholds: [{when: \">= 80\", status: 1}, {when: \">= 95\", status: 3, recover: \"< 90\", after: 2}]}\n  - {n: 2, name: State, type: string}\ninterval: 60s\n", "Content-Type: application/yaml")
	f(200, "rw", "POST", "/api/send", "type,resname,object,class,view,i1,i2\ndata,web01,a/b,tank,web01,97,open\n", csv)
	f(200, "rw", "POST", "/api/provisioning/log-syslog-receiver", "name,listen,filter\nLines,127.0.0.1:5514,severity < 5\n", csv)
	f(200, "rw", "POST", "/api/receivers/Lines/try", `{"sample":"<11>a line"}`, jsn)
	f(200, "rw", "POST", "/api/receivers/Lines/try", `{"sample":{"message":"a"},"from":"::1","filter":"","script":"function message(m) { m.x = 1; data('o', {i1: 1}); log('o', 'l', {class: 'c', view: 'v', resource: 'r'}); return m }"}`, jsn)
	f(200, "rw", "POST", "/api/receivers/Lines/try", `{"sample":"a line"}`, jsn)
	f(200, "rw", "POST", "/api/receivers/Lines/try", `{"sample":"<11>a line","script":"function message(m) { for (;;); }"}`, jsn)
	f(400, "rw", "POST", "/api/receivers/Lines/try", `{"sample":"a line","filter":"severity <"}`, jsn)
	f(400, "rw", "POST", "/api/receivers/web01/try", `{"sample":"a line"}`, jsn)
	f(404, "rw", "POST", "/api/receivers/nowhere/try", `{"sample":"a line"}`, jsn)
	f(403, "r", "POST", "/api/receivers/Lines/try", `{"sample":"a line"}`, jsn)
	f(401, "-", "POST", "/api/receivers/Lines/try", `{"sample":"a line"}`, jsn)
	f(413, "rw", "POST", "/api/receivers/Lines/try", `{"sample":"`+strings.Repeat("a", 1<<19)+`"}`, jsn)
	f(415, "rw", "POST", "/api/receivers/Lines/try", "a line", csv)
	f(200, "r", "GET", "/api/explain/objects/a%2Fb", "")
	f(200, "r", "GET", "/api/explain/object/cpu?resname=web01", "")
	f(200, "-", "GET", "/api/explain/views/MAIN?apikey=$R", "")
	f(400, "r", "GET", "/api/explain/views/MAIN?resnam=web01", "")
	f(404, "r", "GET", "/api/explain/views/MAIM", "")
	f(401, "-", "GET", "/api/explain/views/MAIN", "")
	f(200, "r", "GET", "/api/classes", "")
	f(200, "-", "GET", "/api/classes?limit=1&after=a&apikey=$R", "")
	f(200, "r", "GET", "/api/classes?after=zzzz", "")
	f(400, "r", "GET", "/api/classes?limit=0", "")
	f(400, "r", "GET", "/api/classes?limit=1001", "")
	f(401, "-", "GET", "/api/classes", "")
	f(200, "r", "GET", "/api/classes/load", "")
	f(200, "r", "GET", "/api/classes/network-ping", "")
	f(404, "r", "GET", "/api/classes/lod", "")
	f(401, "-", "GET", "/api/classes/load", "")
	f(201, "rwd", "PUT", "/api/classes/disk", "indicators:\n  - {n: 1, name: Used, unit: \"%\", thresholds: [{when: \">= 80\", status: 1, recover: \"< 70\", after: 2}]}\nlog: {separator: \";\", columns: [a]}\ninterval: 60s\n", yml)
	f(200, "rwd", "PUT", "/api/classes/disk", `{"name":"disk"}`, jsn)
	f(200, "rwd", "PUT", "/api/classes/disk", `{"name":"disk"}`)
	f(201, "rwd", "PUT", "/api/classes/a%2Fb%20c", `{}`, jsn)
	f(200, "r", "GET", "/api/classes/a%2Fb%20c", "")
	f(400, "rwd", "PUT", "/api/classes/disk", `{"name":"disc"}`, jsn)
	f(400, "rwd", "PUT", "/api/classes/disk", `{"indicators":[{"n":1,"type":"string"}]}`, jsn)
	f(400, "rwd", "PUT", "/api/classes/disk", `{`, jsn)
	f(413, "rwd", "PUT", "/api/classes/disk", big, jsn)
	f(415, "rwd", "PUT", "/api/classes/disk", `{}`, "Content-Type: text/csv")
	f(401, "-", "PUT", "/api/classes/disk", `{}`, jsn)
	f(403, "rw", "PUT", "/api/classes/disk", `{}`, jsn)
	f(200, "rwd", "DELETE", "/api/classes/disk", "", "Idempotency-Key: two")
	f(200, "rwd", "DELETE", "/api/classes/disk", "", "Idempotency-Key: two")
	f(409, "rwd", "DELETE", "/api/classes/other", "", "Idempotency-Key: two")
	f(404, "rwd", "DELETE", "/api/classes/disk", "")
	f(404, "rwd", "DELETE", "/api/classes/disk", "", "Idempotency-Key: three")
	f(400, "rwd", "DELETE", "/api/classes/load", "")
	f(401, "-", "DELETE", "/api/classes/load", "")
	f(403, "rw", "DELETE", "/api/classes/load", "")

	f(200, "-", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&rows=100&apikey=$R", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectdata&span=1h", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+events&from=NOW-1HOUR&to=NOW&wt=CSV", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+events&rows=3&wt=ndjson", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+events&from=NOW/DAY&tz=Europe/Paris", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectdata+WHERE+resource='web01'&span=1h&explain=true", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&explain=yes&wt=csv", "")
	f(200, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&fq=status:3+AND+object:web*", "")
	f(400, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&fq=(", "")
	f(400, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&explain=maybe", "")
	f(400, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectstatus&tz=Europe/Nowhere", "")
	f(400, "r", "GET", "/api/sql", "")
	f(400, "r", "GET", "/api/sql?q=SELECT+*+FROM+objectdata", "")
	f(400, "r", "GET", "/api/sql?q=SELEC", "")
	f(400, "r", "GET", "/api/sql?q=SELECT+*+FROM+events&rows=0", "")
	f(401, "-", "GET", "/api/sql?q=SELECT+*+FROM+events&rows=3", "")
	f(200, "r", "POST", "/api/sql", "q=SELECT+name+FROM+objectstatus&rows=2")
	f(200, "r", "POST", "/api/sql", `{"q":"SELECT name FROM objectstatus","rows":2}`, jsn)
	f(200, "r", "POST", "/api/sql", `{"q":"SELECT name FROM objectstatus","explain":true,"tz":"UTC"}`, jsn)
	f(200, "r", "POST", "/api/sql", "q=SELECT+name+FROM+objectstatus&explain=true&tz=America/New_York")
	f(400, "r", "POST", "/api/sql", `{`, jsn)
	f(401, "-", "POST", "/api/sql", "q=x")
	f(415, "r", "POST", "/api/sql", "q=x", csv)

	f(200, "r", "GET", "/api/tree", "")
	f(200, "rw", "POST", "/api/provisioning/label", "name,view,posx,posy,text\nTitle,MAIN,10,20,Hello\n", csv)
	f(200, "rw", "POST", "/api/provisioning/view", "name,view,posx,posy,autoarrange\nSite,MAIN,10,20,linear\n", csv)
	f(200, "-", "GET", "/api/tree?view=MAIN&limit=2&apikey=$R", "")
	f(200, "r", "GET", "/api/tree?limit=10000&after=resource/web01", "")
	f(200, "r", "GET", "/api/tree?resource=web01&view=Disks", "")
	f(200, "r", "GET", "/api/tree?resource=web01", "")
	f(400, "r", "GET", "/api/tree?limit=10001", "")
	f(400, "r", "GET", "/api/tree?after=web01", "")
	f(404, "r", "GET", "/api/tree?view=Disk", "")
	f(404, "r", "GET", "/api/tree?resource=web&view=Disks", "")
	f(200, "rw", "POST", "/api/provisioning/view", "name,view,resname\nDisks,web03,web03\n", csv)
	f(409, "r", "GET", "/api/tree?view=Disks", "")
	f(401, "-", "GET", "/api/tree", "")

	f(200, "r", "GET", "/api/stream?for=0s", "")
	f(200, "-", "GET", "/api/stream?for=0s&types=status,event&lasteventid=1.1&apikey=$R", "")
	f(200, "r", "GET", "/api/stream?for=0s&types=event", "", "Last-Event-ID: 1.1")
	f(400, "r", "GET", "/api/stream?types=alarms", "")
	f(400, "r", "GET", "/api/stream?for=ever", "")
	f(401, "-", "GET", "/api/stream", "")

	f(200, "-", "POST", "/api/session", `{"user":"admin","password":"`+adminPassword+`"}`, jsn)
	f(400, "-", "POST", "/api/session", `{"usr":"admin"}`, jsn)
	f(400, "-", "POST", "/api/session", `{`, jsn)
	f(401, "-", "POST", "/api/session", `{"user":"admin","password":"wrong"}`, jsn)
	f(403, "-", "POST", "/api/session", `{"user":"admin","password":"x"}`, jsn, "Sec-Fetch-Site: cross-site")
	f(415, "-", "POST", "/api/session", `{}`, csv)
	_, res, _ := j.do("POST", "/api/session", `{"user":"admin","password":"`+adminPassword+`"}`, jsn)
	cookie := "Cookie: " + strings.SplitN(res.Header.Get("Set-Cookie"), ";", 2)[0]
	f(200, "-", "GET", "/api/session", "", cookie)
	f(200, "r", "GET", "/api/session", "")
	f(401, "-", "GET", "/api/session", "")
	f(200, "-", "GET", "/api/sessions", "", cookie, "User-Agent: curl/8")
	f(400, "r", "GET", "/api/sessions", "")
	f(200, "-", "DELETE", "/api/sessions/"+anotherSession(j, cookie), "", cookie, "Idempotency-Key: zero")
	f(404, "-", "DELETE", "/api/sessions/nothing", "", cookie)
	f(201, "-", "POST", "/api/keys", `{"name":"new","level":"read","expires":"90d"}`, jsn, cookie)
	f(400, "-", "POST", "/api/keys", `{"name":"new","level":"read"}`, jsn, cookie)
	f(400, "-", "POST", "/api/keys", `{"name":"newer","level":"all"}`, jsn, cookie)
	f(403, "rwd", "POST", "/api/keys", `{"name":"newer","level":"read"}`, jsn)
	f(200, "-", "GET", "/api/keys?limit=2&after=a", "", cookie)
	f(400, "-", "GET", "/api/keys?limit=x", "", cookie)
	f(403, "rwd", "GET", "/api/keys", "")
	f(201, "-", "POST", "/api/keys/new/rotate", `{"overlap":"1h"}`, jsn, cookie)
	f(400, "-", "POST", "/api/keys/new/rotate", `{"overlap":"1y"}`, jsn, cookie)
	f(201, "-", "POST", "/api/keys", `{"name":"narrow","level":"readwrite","only":["send"],"views":[],"addresses":["10.0.0.0/8"]}`, jsn, cookie)
	f(200, "-", "DELETE", "/api/keys/narrow", "", cookie)
	f(200, "-", "GET", "/api/audit?kind=key&name=new&limit=2", "", cookie)
	f(200, "-", "GET", "/api/audit?wt=csv&from=NOW-1HOUR&user=admin", "", cookie)
	f(400, "-", "GET", "/api/audit?limit=x", "", cookie)
	f(403, "rwd", "GET", "/api/audit", "")
	f(200, "-", "DELETE", "/api/keys/new", "", cookie)
	f(404, "-", "DELETE", "/api/keys/new", "", cookie)
	f(201, "-", "PUT", "/api/policies/night", "kind: resource\nitem: web01\nthresholds: [{class: network-ping, n: 1, thresholds: [{when: '> 5', status: 1}]}]\ninterval: 5m\nrollup: 2 of m\n", yml, cookie)
	f(200, "-", "PUT", "/api/policies/night", `{"kind":"resource","item":"web01","intervals":[{"class":"network-ping","interval":"none"}],"period":{"timezone":"UTC","times":["mon",{"from":"2026-01-01T00:00","to":"2026-01-01T01:00","rrule":"FREQ=DAILY"}]}}`, jsn, cookie)
	f(200, "-", "PUT", "/api/policies/night", `{"name":"night","kind":"view","item":"MAIN","thresholds":[{"class":"network-ping","n":1,"thresholds":[]}]}`, cookie)
	f(400, "-", "PUT", "/api/policies/night", `{"kind":"view","item":"MAIN","rollup":"all"}`, jsn, cookie)
	f(400, "-", "PUT", "/api/policies/night", `{`, jsn, cookie)
	f(404, "-", "PUT", "/api/policies/night", `{"kind":"view","item":"Nowhere","rollup":"best"}`, jsn, cookie)
	f(413, "-", "PUT", "/api/policies/night", big, jsn, cookie)
	f(415, "-", "PUT", "/api/policies/night", `{}`, csv, cookie)
	f(401, "-", "PUT", "/api/policies/night", `{}`, jsn)
	f(403, "rwd", "PUT", "/api/policies/night", `{"kind":"view","item":"MAIN","rollup":"best"}`, jsn)
	f(200, "-", "GET", "/api/policies?limit=2&after=a", "", cookie)
	f(400, "-", "GET", "/api/policies?limit=x", "", cookie)
	f(403, "rwd", "GET", "/api/policies", "")
	f(200, "-", "GET", "/api/policies/night", "", cookie)
	f(404, "-", "GET", "/api/policies/nigth", "", cookie)
	f(200, "-", "DELETE", "/api/policies/night", "", cookie, "Idempotency-Key: four")
	f(200, "-", "DELETE", "/api/policies/night", "", cookie, "Idempotency-Key: four")
	f(404, "-", "DELETE", "/api/policies/night", "", cookie)
	f(200, "-", "GET", "/api/health", "", cookie)
	f(403, "rwd", "GET", "/api/health", "")
	f(400, "-", "GET", "/api/health?x=1", "", cookie)
	f(204, "-", "POST", "/api/health/clock", "", cookie)
	f(403, "rwd", "POST", "/api/health/clock", "")
	f(204, "-", "POST", "/api/health/faults/journal_loss", "", cookie)
	f(404, "-", "POST", "/api/health/faults/disk", "", cookie)
	f(403, "rwd", "POST", "/api/health/faults/journal_loss", "")
	f(403, "rwd", "GET", "/api/backups", "")
	f(400, "-", "GET", "/api/backups?x=1", "", cookie)
	for { // the service has begun its first backup by itself
		f(200, "-", "GET", "/api/backups", "", cookie)
		if _, _, text := j.do("GET", "/api/backups", "", cookie); !strings.Contains(string(text), `"running"`) && strings.Contains(string(text), `"last"`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	f(202, "-", "POST", "/api/backups", `{"full":true}`, jsn, cookie)
	f(200, "-", "GET", "/api/backups/1", "", cookie)
	f(404, "-", "GET", "/api/backups/99", "", cookie)
	f(404, "-", "GET", "/api/backups/one", "", cookie)
	f(403, "-", "POST", "/api/backups", `{"target":"/mnt/x"}`, jsn, cookie)
	f(400, "-", "POST", "/api/backups", `{"ful":true}`, jsn, cookie)
	f(403, "rwd", "POST", "/api/backups", `{}`, jsn)
	f(204, "-", "DELETE", "/api/backups", "", cookie)
	f(403, "rwd", "DELETE", "/api/backups", "")
	f(403, "-", "POST", "/api/backups/days", `{"backup":"/mnt/x","collection":"objectdata"}`, jsn, cookie)
	f(403, "-", "GET", "/api/backups/tar", "", cookie)
	f(200, "-", "GET", "/api/settings", "", cookie)
	f(403, "rwd", "GET", "/api/settings", "")
	f(200, "-", "PUT", "/api/settings", `{"retention.syslog":"90d","limits.row_rate":100000,"strict_classes":false,"customer.timezone":"Europe/Vienna"}`, jsn, cookie)
	f(200, "-", "PUT", "/api/settings", `{"limits.row_rate":null}`, jsn, cookie)
	f(400, "-", "PUT", "/api/settings", `{"limits.row_rat":1}`, jsn, cookie)
	f(400, "-", "PUT", "/api/settings", `{`, jsn, cookie)
	f(403, "rwd", "PUT", "/api/settings", `{"limits.row_rate":1}`, jsn)
	f(413, "-", "PUT", "/api/settings", big, jsn, cookie)
	f(415, "-", "PUT", "/api/settings", `{}`, csv, cookie)
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="4"/></svg>`
	f(201, "-", "PUT", "/api/pictures/site%2Fplan", svg, "Content-Type: image/svg+xml", cookie)
	f(200, "-", "PUT", "/api/pictures/site%2Fplan", svg, "Content-Type: application/octet-stream", cookie)
	f(400, "-", "PUT", "/api/pictures/MAIN", svg, "Content-Type: image/svg+xml", cookie)
	f(415, "-", "PUT", "/api/pictures/site%2Fplan", "<html></html>", "Content-Type: image/svg+xml", cookie)
	f(415, "-", "PUT", "/api/pictures/site%2Fplan", svg, csv, cookie)
	f(413, "-", "PUT", "/api/pictures/site%2Fplan", strings.Repeat(" ", 2<<20+1), "Content-Type: image/png", cookie)
	f(403, "rw", "PUT", "/api/pictures/site%2Fplan", svg, "Content-Type: image/svg+xml")
	f(200, "r", "GET", "/api/pictures?limit=1", "")
	f(400, "r", "GET", "/api/pictures?limit=0", "")
	f(200, "r", "GET", "/api/pictures/site%2Fplan", "")
	f(206, "r", "GET", "/api/pictures/site%2Fplan", "", "Range: bytes=0-3")
	f(404, "r", "GET", "/api/pictures/site%2Fplam", "")
	f(200, "-", "DELETE", "/api/pictures/site%2Fplan", "", cookie)
	f(404, "-", "DELETE", "/api/pictures/site%2Fplan", "", cookie)
	f(200, "-", "POST", "/api/ackmanagenote/views?dryrun=true", `{"items":"MAIN","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,`+
		`"fromdatetime":"2098-07-06T22:00","todatetime":"2098-07-07T04:00","rrule":"FREQ=WEEKLY","timezone":"UTC"}`, jsn, cookie)
	f(200, "-", "GET", "/api/session/options", "")
	f(400, "-", "GET", "/api/session/options?x=1", "")
	f(302, "-", "GET", "/api/session/oidc", "")
	f(400, "-", "GET", "/api/session/oidc?x=1", "")
	way, location := j.begin()
	code, state := j.provider.approve(location, nil)
	f(401, "-", "GET", "/api/session/oidc/callback?state=x&code="+code, "", way)
	f(401, "-", "GET", "/api/session/oidc/callback?error=access_denied&state="+state, "", way)
	f(400, "-", "GET", "/api/session/oidc/callback?state="+state, "", way)
	f(303, "-", "GET", "/api/session/oidc/callback?state="+state+"&code="+code, "", way)
	f(201, "-", "POST", "/api/users", `{"name":"bob","role":"viewer"}`, jsn, cookie)
	f(201, "-", "POST", "/api/users", `{"name":"boss","role":"instance administrator","password":"a long password"}`, jsn, cookie)
	f(400, "-", "POST", "/api/users", `{"name":"bob","role":"viewer"}`, jsn, cookie)
	f(400, "-", "POST", "/api/users", `{"name":"eve","role":"viewer","password":"short"}`, jsn, cookie)
	f(403, "rwd", "POST", "/api/users", `{"name":"eve","role":"viewer"}`, jsn)
	f(200, "-", "GET", "/api/users?limit=2&after=a", "", cookie)
	f(400, "-", "GET", "/api/users?limit=x", "", cookie)
	f(200, "-", "PUT", "/api/users/bob", `{"role":"operator","password":"a long password"}`, jsn, cookie)
	f(400, "-", "PUT", "/api/users/bob", `{}`, jsn, cookie)
	f(404, "-", "PUT", "/api/users/nobody", `{"role":"operator"}`, jsn, cookie)
	f(200, "-", "DELETE", "/api/users/bob", "", cookie, "Idempotency-Key: five")
	f(200, "-", "DELETE", "/api/users/bob", "", cookie, "Idempotency-Key: five")
	f(404, "-", "DELETE", "/api/users/bob", "", cookie)
	f(201, "-", "POST", "/api/customers", `{"name":"acme"}`, jsn, cookie)
	f(400, "-", "POST", "/api/customers", `{"name":"acme"}`, jsn, cookie)
	f(200, "-", "PUT", "/api/customers/acme", `{"listen":["127.0.0.1:5514-5520"]}`, jsn, cookie)
	f(400, "-", "PUT", "/api/customers/acme", `{"listen":["anywhere"]}`, jsn, cookie)
	f(404, "-", "PUT", "/api/customers/acne", `{"listen":[]}`, jsn, cookie)
	f(200, "-", "GET", "/api/customers?limit=2&after=a", "", cookie)
	f(400, "-", "GET", "/api/customers?limit=x", "", cookie)
	f(200, "-", "POST", "/api/session/customer", `{"customer":"acme"}`, jsn, cookie)
	f(200, "-", "GET", "/api/session", "", cookie)
	f(404, "-", "POST", "/api/session/customer", `{"customer":"nowhere"}`, jsn, cookie)
	f(200, "-", "POST", "/api/session/customer", `{"customer":"default"}`, jsn, cookie)
	f(400, "-", "DELETE", "/api/customers/acme?confirm=acne", "", cookie)
	f(200, "-", "DELETE", "/api/customers/acme?confirm=acme", "", cookie)
	f(404, "-", "DELETE", "/api/customers/acme?confirm=acme", "", cookie)
	f(200, "-", "PUT", "/api/session", `{"password":"`+adminPassword+`","new":"another long password"}`, jsn, cookie)
	f(401, "-", "PUT", "/api/session", `{"password":"`+adminPassword+`","new":"another long password"}`, jsn, cookie)
	f(400, "r", "PUT", "/api/session", `{"password":"x","new":"another long password"}`, jsn)
	f(204, "-", "DELETE", "/api/session?everywhere=true", "")
	f(403, "-", "DELETE", "/api/session", "", cookie, "Sec-Fetch-Site: cross-site")
	f(204, "-", "DELETE", "/api/session", "", cookie)

	for _, rt := range api.Routes {
		if !regexp.MustCompile(`^/(api/|d$|l$|cv$)`).MatchString(rt.Path) {
			continue
		}
		for _, verdict := range []string{" good", " bad"} {
			if name := rt.Method + " " + strings.Replace(rt.Path, "...}", "}", 1) + verdict; !j.seen[name] && !onSocket[name] {
				t.Errorf("no request of this test made %s", name)
			}
		}
	}
}

// onSocket are requests that only the local administrator can make. The script of backups makes them, by its commands.
var onSocket = map[string]bool{"POST /api/backups/days good": true, "GET /api/backups/tar good": true}

// TestOpenAPICanFail changes right answers a little: the judge must see it.
func TestOpenAPICanFail(t *testing.T) {
	j := newJudge(t)
	f := func(method, path, body string, change func(*http.Response, string) string) {
		t.Helper()
		req, res, text := j.do(method, path, body, "X-Api-Key: "+j.keys["rwd"])
		route, params := j.find(method, req.URL)
		asked, err := j.asked(req, body, route, params)
		if err == nil {
			err = j.answered(asked, res, text)
		}
		if err != nil {
			t.Errorf("%s %s is not even right: %v", method, path, err)
		}
		changed := change(res, string(text))
		if err := j.answered(asked, res, []byte(changed)); err == nil {
			t.Errorf("%s %s: nobody sees that this is wrong: %d %s", method, path, res.StatusCode, changed)
		}
	}
	replace := func(from, to string) func(*http.Response, string) string {
		return func(_ *http.Response, text string) string {
			if !strings.Contains(text, from) {
				t.Errorf("no %s in %s", from, text)
			}
			return strings.Replace(text, from, to, 1)
		}
	}
	f("GET", "/api/packages/label", "", replace(`"kind":"element"`, `"kind":"thing"`))
	f("GET", "/api/packages/label", "", replace(`"help":`, `"hlep":`))
	f("GET", "/api/explain/views/MAIN", "", replace(`"rule":"worst"`, `"rule":1`))
	f("GET", "/api/packages", "", replace(`"required":true`, `"required":"true"`))
	f("GET", "/api/classes", "", replace(`"more":false`, `"mor":false`))
	f("GET", "/api/classes/network-ping", "", replace(`"status":1`, `"status":0`))
	f("GET", "/api/tree", "", replace(`"kind":"view"`, `"kind":"folder"`))
	f("GET", "/api/tree", "", replace(`"counts":{"-":0`, `"counts":{"-":"0"`))
	f("GET", "/api/tree", "", replace(`"more":false`, `"mor":false`))
	f("GET", "/api/classes/none", "", replace(`"unknown_item"`, `"unknown"`))
	f("POST", "/api/send", "type,object,i1\n", replace(`"rows":0`, `"rows":-1`))
	f("POST", "/api/send", "type,object,i1\n", replace(`"errors":[]`, `"errors":null`))
	f("POST", "/api/send", "type,object,i1\ndata,x,1\n", replace(`"line":2`, `"line":0`))
	f("GET", "/api/sql?q=SELECT+name+FROM+objectstatus", "", replace(`"count":1`, `"count":"1"`))
	f("GET", "/api/version", "", func(res *http.Response, text string) string { res.StatusCode = 202; return text })
	f("GET", "/api/version", "", func(res *http.Response, text string) string { res.Header.Set("Content-Type", "text/html"); return text })
	f("GET", "/api/version", "", func(res *http.Response, text string) string { res.Header.Set("X-Request-Id", "x"); return text })
}

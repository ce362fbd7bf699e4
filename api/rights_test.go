package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
	"belfry/query"
	"belfry/store"
)

// newBulkHouse is a house that takes bodies of rows, and those who send them.
func newBulkHouse(t *testing.T) *house {
	h := newHouse(t)
	h.Spool = t.TempDir()
	_, _, err := h.intake.Provision(t.Context(), engine.Sender{Scope: belfry.Whole(1)}, "custom", strings.NewReader("name\nold\n"), intake.Options{})
	h.must(err)
	return h
}

// resource tells whether a customer has a resource of a name.
func (h *house) resource(c belfry.CustomerID, name string) (found bool) {
	h.tree.Read(c, func(e *meta.Tenant) { found = e.Resource(name) != nil })
	return found
}

// parts is a body that comes in parts. Something happens before the second one.
type parts struct {
	first, rest io.Reader
	between     func()
}

func (p *parts) Read(b []byte) (int, error) {
	if n, err := p.first.Read(b); err == nil {
		return n, nil
	}
	if p.between != nil {
		p.between()
		p.between = nil
	}
	return p.rest.Read(b)
}

// during sends a body during which something happens, and gives status and code of the answer.
func (h *house) during(method, target, first, rest string, between func(), headers ...string) (status int, code string) {
	h.t.Helper()
	body := &parts{strings.NewReader(first), strings.NewReader(rest), between}
	r := httptest.NewRequest(method, target, body)
	r.RemoteAddr = h.peer
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	if body.between != nil {
		return 0, "the body was not read"
	}
	var e struct{ Error errorBody }
	json.Unmarshal(rec.Body.Bytes(), &e)
	return rec.Code, string(e.Error.Code)
}

// TestBodyAfterRevocation: what comes of a body after its sender has lost the right to send it is not stored, whichever way it
// was lost and however the body is applied. What was stored before stays.
func TestBodyAfterRevocation(t *testing.T) {
	key := func(h *house) string {
		secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete, Expires: belfry.At(h.time().Add(time.Hour))})
		h.must(err)
		return "X-Api-Key: " + secret
	}
	operator := func(h *house) string { return h.enter("operator") }
	change := func(to accounts.UserChange) func(*house, string) {
		return func(h *house, _ string) {
			h.must(h.accounts.UpdateUser(1, "operator", to, true, &belfry.Actor{Name: "test"}))
		}
	}
	ways := map[string]struct {
		enter func(*house) string
		lose  func(h *house, header string)
	}{
		"key revoked":     {key, func(h *house, _ string) { h.must(h.revokeKey("agent")) }},
		"key expired":     {key, func(h *house, _ string) { h.advance(time.Hour) }},
		"user removed":    {operator, func(h *house, _ string) { h.must(h.removeUser("operator")) }},
		"role lowered":    {operator, change(accounts.UserChange{Role: belfry.Viewer})},
		"views narrowed":  {operator, change(accounts.UserChange{Views: &[]string{"old"}})},
		"logged out":      {operator, func(h *house, header string) { h.must(h.accounts.LogOut(hashIn(header), belfry.Origin{})) }},
		"session expired": {operator, func(h *house, _ string) { h.advance(accounts.SessionTime) }},
	}
	for name, way := range ways {
		for _, how := range []string{"", "?atomic", "?dryrun", "Idempotency-Key: 1"} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				h := newBulkHouse(t)
				h.chunk = 16
				who := way.enter(h)
				params, header := how, "X-Other: 1"
				if strings.Contains(how, ":") {
					params, header = "", how
				}
				status, code := h.during("POST", "/api/provisioning/custom"+params, "name\nearly 1\nearly 2\nearly 3\nearly 4\n", "late 1\nlate 2\nlate 3\nlate 4\n",
					func() { way.lose(h, who) }, who, header)
				if status != 401 || code != "invalid_key" {
					t.Errorf("answered %d %s", status, code)
				}
				if h.resource(1, "early 1") != (how == "") || h.resource(1, "late 1") || h.resource(1, "late 4") {
					t.Errorf("stored: early 1 %v, late 1 %v, late 4 %v", h.resource(1, "early 1"), h.resource(1, "late 1"), h.resource(1, "late 4"))
				}
			})
		}
	}
}

// hashIn is the hash of the session in a header.
func hashIn(header string) belfry.Hash {
	_, secret, _ := strings.Cut(header, "belfry_session=")
	return belfry.HashOf(secret)
}

// TestRemovalAfterRevocation: a row of a removal that comes after the revocation removes nothing.
func TestRemovalAfterRevocation(t *testing.T) {
	h := newBulkHouse(t)
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	h.want(200, "", "POST", "/api/provisioning/custom", "name\nweb01\n", "X-Api-Key: "+secret)
	status, code := h.during("DELETE", "/api/provisioning/custom", "name\n", "web01\n", func() { h.must(h.revokeKey("agent")) }, "X-Api-Key: "+secret)
	if status != 401 || code != "invalid_key" || !h.resource(1, "web01") {
		t.Errorf("answered %d %s, and web01 is there: %v", status, code, h.resource(1, "web01"))
	}
}

// TestWholeBodiesAfterRevocation: every route that reads a body looks at the session again before it applies the body.
func TestWholeBodiesAfterRevocation(t *testing.T) {
	h := newBulkHouse(t)
	path := strings.NewReplacer("{package}", "custom", "{kind}", "objects", "{name...}", "x", "{type}", "custom", "{resource}", "x", "{id}", "x")
	read := 0
	for _, rt := range Routes {
		if rt.Method == http.MethodGet || rt.Level == belfry.LevelNone {
			continue
		}
		for _, repeat := range []string{"X-Other: 1", "Idempotency-Key: 1"} {
			who := h.enter("admin")
			h.advance(time.Minute) // logins are limited
			target := path.Replace(rt.Path)
			if rt.Path == "/api/customers/{name...}" && rt.Method == http.MethodDelete {
				target += "?confirm=x"
			}
			status, code := h.during(rt.Method, target, "{", `"":""}`, func() { h.must(h.accounts.LogOut(hashIn(who), belfry.Origin{})) }, who, repeat)
			switch {
			case status == 0: // it does not read a body, so there is nothing to wait for
			case status != 401 || code != "invalid_key":
				t.Errorf("%s %s, %s: answered %d %s", rt.Method, rt.Path, repeat, status, code)
			default:
				read++
			}
		}
	}
	if read < 30 {
		t.Errorf("%d requests had their body read", read)
	}
}

// TestRightsWhileRowsWait: whoever stores the rows can look the rights up when the body has been read.
func TestRightsWhileRowsWait(t *testing.T) {
	h := newBulkHouse(t)
	who := h.enter("admin")
	h.room = func() {
		h.room = nil
		h.must(h.accounts.LogOut(hashIn(who), belfry.Origin{}))
	}
	h.want(401, "invalid_key", "POST", "/api/provisioning/custom", "name\nweb01\n", who)
	if h.resource(1, "web01") {
		t.Error("it was stored")
	}
}

// TestFewerRightsWhileSending: a session that goes on with fewer rights is refused with 403, not 401.
func TestFewerRightsWhileSending(t *testing.T) {
	h := newBulkHouse(t)
	f := func(change func(*request), want belfry.Code) {
		t.Helper()
		r := httptest.NewRequest("POST", "/api/send", nil)
		r.Header.Set("Cookie", strings.TrimPrefix(h.enter("operator"), "Cookie: "))
		req, err := h.admit(r, Route{Method: "POST", Path: "/api/send", Level: belfry.LevelReadWrite})
		h.must(err)
		h.must(req.checkRights())
		change(req)
		if err := req.checkRights(); belfry.CodeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// Changes of a user end its sessions, so the request is given more than the user has.
	f(func(r *request) { r.level = belfry.LevelReadWriteDelete }, belfry.InsufficientLevel)
	f(func(r *request) { r.login.User.Views = []string{"a view"} }, belfry.InsufficientLevel)
}

// endless are rows without end; something happens after a number of them.
type endless struct {
	table
	n, at   int
	between func()
}

func (e *endless) Next() ([]belfry.Value, error) {
	if e.n++; e.n == e.at {
		e.between()
	}
	if e.n > 1_000_000 {
		return nil, io.EOF
	}
	return []belfry.Value{{Type: belfry.TextValue, Text: strings.Repeat("x", 100)}}, nil
}

type storeOf struct {
	store.Store
	rows query.Rows
}

func (s storeOf) Select(context.Context, *query.Plan) (query.Rows, error) { return s.rows, nil }

// TestAnswerAfterRevocation: an answer breaks off when its key is revoked; one that has not begun is refused.
func TestAnswerAfterRevocation(t *testing.T) {
	f := func(at int, encoding string, begun bool) {
		t.Helper()
		h := newBulkHouse(t)
		secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelRead})
		h.must(err)
		rows := &endless{table: table{names: []string{"name"}}, at: at, between: func() { h.must(h.revokeKey("agent")) }}
		h.Rows = store.NewMover(storeOf{rows: rows}, store.MoverOptions{})
		rec, aborted := h.cutOff(func() {}, "/api/sql?rows=100000&wt=csv&q=SELECT+info+FROM+events&span=1h", "X-Api-Key: "+secret, "Accept-Encoding: "+encoding)
		if aborted != begun || rec.Body.Len() > 200*at || rows.n > at+2*(64<<10)/100 {
			t.Errorf("revoked at row %d, %s: %d bytes and %d rows, aborted %v", at, encoding, rec.Body.Len(), rows.n, aborted)
		}
		if !begun && (rec.Code != 401 || rec.Header().Get("Content-Encoding") != "" || !json.Valid(rec.Body.Bytes())) {
			t.Errorf("refused with %d, %v, %s", rec.Code, rec.Header(), rec.Body)
		}
	}
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		f(5, encoding, false)
		f(20_000, encoding, true)
	}
}

// observed calls wrote after each piece of an answer.
type observed struct {
	*httptest.ResponseRecorder
	wrote func()
}

func (o observed) Write(b []byte) (int, error) {
	n, err := o.ResponseRecorder.Write(b)
	o.wrote()
	return n, err
}

// cutOff asks, and tells whether the answer was cut off. It calls wrote after each piece of the answer.
func (h *house) cutOff(wrote func(), target string, headers ...string) (rec *httptest.ResponseRecorder, aborted bool) {
	r := httptest.NewRequest("GET", target, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	rec = httptest.NewRecorder()
	defer func() {
		if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
			panic(fault)
		}
	}()
	aborted = true
	h.ServeHTTP(observed{rec, wrote}, r)
	return rec, false
}

// TestListAfterRevocation: the same for lists, trees and exports.
func TestListAfterRevocation(t *testing.T) {
	h := newBulkHouse(t)
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelRead})
	h.must(err)
	names := "name\n"
	for i := range 950 {
		names += fmt.Sprintf("%0250d\n", i)
	}
	_, _, err = h.intake.Provision(t.Context(), engine.Sender{Scope: belfry.Whole(1)}, "custom", strings.NewReader(names), intake.Options{})
	h.must(err)
	pieces := 0
	rec, aborted := h.cutOff(func() {
		if pieces++; pieces == 3 {
			h.must(h.revokeKey("agent"))
		}
	}, "/api/provisioning/custom", "X-Api-Key: "+secret)
	if !aborted || pieces != 3 || rec.Body.Len() < 3*answerPiece {
		t.Errorf("%d pieces, %d bytes, aborted %v", pieces, rec.Body.Len(), aborted)
	}
}

// TestSessionOfRemovedCustomer: a session that acts in a customer which is removed does nothing until it has chosen another one. A new
// customer of the same name is another one.
func TestSessionOfRemovedCustomer(t *testing.T) {
	h := newBulkHouse(t)
	who := h.enter("admin")
	admit := func(method, path string) (*request, error) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Cookie", strings.TrimPrefix(who, "Cookie: "))
		i := slices.IndexFunc(Routes, func(rt Route) bool { return rt.Method == method && rt.Path == path })
		return h.admit(r, Route{Method: method, Path: path, Level: belfry.LevelRead, RemovedCustomer: Routes[i].RemovedCustomer})
	}
	make := func() {
		_, err := h.accounts.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
		h.must(err)
	}
	make()
	h.must(h.accounts.SwitchCustomer(hashIn(who), "acme", belfry.Origin{}))
	stream, err := admit("GET", "/api/stream")
	h.must(err)
	if !h.mayListen(stream) {
		t.Error("the stream ended before the removal")
	}
	remove := func() {
		err := h.accounts.RemoveCustomer(in(1), "acme")
		h.must(err)
	}
	status, code := h.during("POST", "/api/provisioning/custom", "name\n", "late\n", remove, who)
	if status != 403 || code != "insufficient_level" || h.resource(1, "late") {
		t.Errorf("the removal during a body: %d %s, stored in the own customer %v", status, code, h.resource(1, "late"))
	}
	check := func() {
		t.Helper()
		if h.mayListen(stream) {
			t.Error("the stream goes on")
		}
		for _, rt := range Routes {
			if rt.Level == belfry.LevelNone || rt.KeyOnly() {
				continue
			}
			_, err := admit(rt.Method, rt.Path)
			want := rt.Method+" "+rt.Path != "GET /api/session" && rt.Method+" "+rt.Path != "POST /api/session/customer"
			if refused := belfry.CodeOf(err) == belfry.InsufficientLevel && strings.Contains(err.Error(), `customer "acme"`); (err != nil) != want || want && !refused {
				t.Errorf("%s %s: %v", rt.Method, rt.Path, err)
			}
		}
	}
	check()
	make() // of the same name
	check()
	text := h.want(200, "", "GET", "/api/session", "", who)
	if !strings.Contains(text, `"customer":"acme"`) || !strings.Contains(text, `"home":"default"`) {
		t.Error(text)
	}
	for _, name := range []string{"acme", "default"} {
		h.must(h.accounts.SwitchCustomer(hashIn(who), name, belfry.Origin{}))
		r, err := admit("GET", "/api/tree")
		if err != nil || h.tree.Access().CustomerName(r.customer) != name {
			t.Errorf("after choosing %s: %v", name, err)
		}
	}
}

// TestDamagedCompression: whatever a path expects, a body whose compressed data are damaged has a code that its description lists.
func TestDamagedCompression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBulkHouse(t)
		cookie := h.enter("admin")
		f := func(method, path, typ string) {
			t.Helper()
			h.want(400, "bad_json", method, path, "not gzip", cookie, "Content-Type: "+typ, "Content-Encoding: gzip")
		}
		f("PUT", "/api/classes/c", "application/json")
		f("PUT", "/api/policies/p", "application/yaml")
		f("PUT", "/api/pictures/p", "image/svg+xml")
		f("POST", "/api/sql", "application/json")
		f("POST", "/api/users", "application/json")
		h.want(400, "bad_csv", "POST", "/api/send", "not gzip", cookie, "Content-Type: text/csv", "Content-Encoding: gzip")
	})
}

// TestDamagedPart: of a long compressed body rows are stored before its checksum comes. If that is wrong the client is told that they
// may be wrong, too.
func TestDamagedPart(t *testing.T) {
	var pack bytes.Buffer
	z, err := gzip.NewWriterLevel(&pack, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(z, "type,resname,object,class,view,i1\n")
	for range 50_000 {
		io.WriteString(z, "data,old,cpu,cpu,old,1000\n")
	}
	z.Close()
	damaged := bytes.Replace(pack.Bytes(), []byte("1000\n"), []byte("9000\n"), 1)
	synctest.Test(t, func(t *testing.T) {
		h := newBulkHouse(t)
		limits := h.Limits
		limits.Body = 10 << 20
		h.SetLimits(limits)
		res, text := h.ask("POST", "/api/send", string(damaged), h.enter("admin"), "Content-Type: text/csv", "Content-Encoding: gzip")
		const want = "stored; send the rows after them again; the compressed data are damaged, so what was stored may differ from what was sent: look at these rows"
		if res.StatusCode != 400 || !strings.Contains(text, want) {
			t.Errorf("%d %s", res.StatusCode, text)
		}
	})
}

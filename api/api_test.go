package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
	"belfry/api/limit"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/query"
	"belfry/status"
	"belfry/store"
)

const (
	readKey    = "7b0c4f0e-1111-4aaa-8bbb-000000000001"
	writeKey   = "7b0c4f0e-1111-4aaa-8bbb-000000000002"
	expiredKey = "7b0c4f0e-1111-4aaa-8bbb-000000000003"
	unknownKey = "7b0c4f0e-1111-4aaa-8bbb-000000000004"
)

// oneRow is a body of one row that is stored.
const oneRow = "type,resname,object,class,view,i1\ndata,r,o,C,r,1\n"

// rows is a body of so many bytes, of rows that are stored.
func rows(size int) string {
	const log = "type,resname,object,class,view,log\nlog,r,o,C,r,"
	return log + strings.Repeat("x", size-len(log)-1) + "\n"
}

// rig is a server with a real engine, a resource r, and rows of queries as a test prepares them.
type rig struct {
	*Server
	store.Store
	bench *enginetest.Bench
	t     testing.TB
	log   bytes.Buffer
	ready error
	rows  query.Rows
	slow  time.Duration // how long a query takes

	memoryHeld atomic.Int64
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t}
	r.memoryHeld.Store(64 << 20)
	r.bench = enginetest.NewBench(t, &enginetest.Memory{}, func(c *engine.Config) {
		c.Now, c.Trusted = time.Now, time.Now
		limits := c.Limits
		c.Limits = func() engine.Limits {
			l := limits()
			l.HeldMemory = r.memoryHeld.Load()
			return l
		}
	})
	seq := r.bench.Sequencer
	r.Server = New(Config{
		Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: time.Now, Tree: r.bench.Tree, Engine: seq, Intake: intake.New(intake.Config{Engine: seq}),
		Accounts:   accounts.New(accounts.Config{Engine: seq}),
		QueryReady: func() error { return nil },
		Ready:      func() error { return r.ready },
		UI:         http.NotFoundHandler(),
		Metrics:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "belfry_up 1\n") }),
		Limits: Limits{
			Body: 2000, BodyHeld: 1000, BulkRequests: 2, Queries: 1, QueryTime: time.Minute,
			Wait: time.Millisecond, Idle: time.Minute,
		},
	})
	r.Rows = store.NewMover(r, store.MoverOptions{})
	r.addKey(readKey, belfry.LevelRead, 0)
	r.addKey(writeKey, belfry.LevelReadWrite, 0)
	r.addKey(expiredKey, belfry.LevelReadWriteDelete, belfry.At(time.Now().Add(-time.Second)))
	r.provision("name\nr\n")
	return r
}

// addKey makes a key of which the test knows the text.
func (r *rig) addKey(secret string, level belfry.Level, expires belfry.Time) {
	r.t.Helper()
	key := belfry.Key{Customer: 1, Name: secret[34:], Hash: belfry.HashOf(secret).String(), Level: level, Expires: expires}
	err := r.Engine.Do(&engine.Command{Customer: 1, Decide: func(t *engine.Tx) error {
		t.Put(belfry.DocKey, 1, key.Name, key)
		return nil
	}})
	if err != nil {
		r.t.Fatal(err)
	}
}

// provision makes resources of the package custom.
func (r *rig) provision(body string) {
	r.t.Helper()
	if _, _, err := r.Intake.Provision(context.Background(), r.bench.Who, "custom", strings.NewReader(body), intake.Options{}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) Select(ctx context.Context, _ *query.Plan) (query.Rows, error) {
	select {
	case <-time.After(r.slow):
	case <-ctx.Done():
		return nil, errors.New("interrupted")
	}
	if r.rows == panics {
		panic("as asked")
	}
	if r.rows == nil {
		return nil, errors.New("no rows prepared")
	}
	return r.rows, nil
}

func (r *rig) Explain(context.Context, *query.Plan) ([]query.Line, error) { return nil, nil }

// panics makes a query panic.
var panics query.Rows = &table{}

func (r *rig) do(method, target, body string, headers ...string) *http.Response {
	r.t.Helper()
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, req)
	res := rec.Result()
	if len(res.Header.Get("X-Request-Id")) != 16 {
		r.t.Errorf("%s %s: no X-Request-Id", method, target)
	}
	return res
}

func TestBodyFormats(t *testing.T) {
	r := newRig(t)
	const csv, object = oneRow, `{"type":"data","resname":"r","object":"o","class":"C","view":"r","i1":1}`
	f := func(header, body string) {
		t.Helper()
		headers := []string{"X-Api-Key: " + writeKey}
		if header != "" {
			headers = append(headers, "Content-Type: "+header)
		}
		res := r.do("POST", "/api/send", body, headers...)
		if text, _ := io.ReadAll(res.Body); res.StatusCode != 200 || !strings.Contains(string(text), `"accepted":1`) {
			t.Errorf("%q: %d %s", header, res.StatusCode, text)
		}
	}
	f("", csv)
	f("text/csv", csv)
	f("application/json", "["+object+"]")
	f("Application/JSON; charset=utf-8", "["+object+"]")
	f("application/x-ndjson", object+"\n")
}

// code reads the error of an answer and checks its shape.
func (r *rig) code(res *http.Response) string {
	r.t.Helper()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode < 400 {
		return ""
	}
	var body map[string]map[string]string
	if err := json.Unmarshal(text, &body); err != nil || len(body) != 1 || body["error"]["message"] == "" {
		r.t.Errorf("%d is not an error body: %s", res.StatusCode, text)
	}
	if res.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("Content-Type %q", res.Header.Get("Content-Type"))
	}
	if id := body["error"]["request"]; (id != "") != (res.StatusCode == 500) || id != "" && id != res.Header.Get("X-Request-Id") {
		r.t.Errorf("%d carries the request id %q", res.StatusCode, id)
	}
	return body["error"]["code"]
}

// TestOrderOfRefusal gives requests several faults at once: the first in the order is the one they are told.
func TestOrderOfRefusal(t *testing.T) {
	r := newRig(t)
	big := strings.Repeat("x", 3000)
	f := func(status int, code, method, target, body string, headers ...string) {
		t.Helper()
		res := r.do(method, target, body, headers...)
		if got := r.code(res); res.StatusCode != status || got != code {
			t.Errorf("%s %s: %d %s, want %d %s", method, target, res.StatusCode, got, status, code)
		}
	}
	f(404, "unknown_path", "POST", "/api/sendd", big, "X-Api-Key: "+unknownKey, "Content-Type: image/png")
	f(404, "unknown_path", "GET", "/api//sql?q=x", "")
	f(404, "unknown_path", "GET", "/api/../api/sql", "")
	f(404, "unknown_path", "GET", "/api/sql//", "")
	f(401, "invalid_key", "GET", "/api/sql/", "") // a slash too many
	f(401, "invalid_key", "POST", "/api/provisioning/view/", "")
	f(405, "method_not_allowed", "DELETE", "/api/sql/", "")
	f(404, "unknown_path", "GET", "/nowhere/", "")
	f(404, "unknown_path", "GET", "/nowhere", "")
	f(405, "method_not_allowed", "PUT", "/api/send", big, "X-Api-Key: "+unknownKey)
	f(405, "method_not_allowed", "GET", "/api/send?apikey="+readKey, "")
	f(405, "method_not_allowed", "POST", "/healthz", "")
	f(401, "invalid_key", "POST", "/api/send", big, "Content-Type: image/png")
	f(401, "invalid_key", "POST", "/api/send", big, "Content-Type: image/png", "X-Api-Key: "+unknownKey)
	f(401, "invalid_key", "POST", "/api/send", big, "X-Api-Key: "+expiredKey)
	f(401, "invalid_key", "POST", "/api/send?apikey="+writeKey, big) // the parameter is for GET
	f(403, "insufficient_level", "POST", "/api/send", big, "Content-Type: image/png", "X-Api-Key: "+readKey)
	f(415, "unsupported_media_type", "POST", "/api/send", big, "Content-Type: image/png", "X-Api-Key: "+writeKey)
	f(415, "unsupported_media_type", "POST", "/api/send", big, "Content-Type: text/csv; charset=latin1", "X-Api-Key: "+writeKey)
	f(415, "unsupported_media_type", "POST", "/api/send", big, "Content-Encoding: br", "X-Api-Key: "+writeKey)
	f(415, "unsupported_media_type", "POST", "/api/send", "[]", "Content-Type: application/json; charset=latin1", "X-Api-Key: "+writeKey)
	f(415, "unsupported_media_type", "POST", "/api/provisioning/custom", "[]", "Content-Type: application/json", "X-Api-Key: "+writeKey)
	f(413, "body_too_large", "POST", "/api/send", big, "Content-Type: application/x-ndjson", "X-Api-Key: "+writeKey)
	f(400, "bad_csv", "POST", "/api/send", "x", "Content-Encoding: gzip", "X-Api-Key: "+writeKey)
	f(400, "bad_json", "POST", "/api/send", "x", "Content-Encoding: gzip", "Content-Type: application/json", "X-Api-Key: "+writeKey)
	f(413, "body_too_large", "POST", "/api/send", big, "Content-Type: text/csv", "X-Api-Key: "+writeKey)
	f(413, "body_too_large", "POST", "/api/send?atomic=true", big[:1500], "X-Api-Key: "+writeKey)
	f(413, "body_too_large", "POST", "/api/send", big[:1500], "Idempotency-Key: a", "X-Api-Key: "+writeKey)
	f(200, "", "POST", "/api/send", rows(1500), "X-Api-Key: "+writeKey)
	f(200, "", "POST", "/api/send", oneRow, "Content-Type: text/csv; charset=\"UTF-8\"", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send?dry_run=true", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send?dryrun=maybe", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/provisioning/view?update=maybe", "x", "X-Api-Key: "+writeKey, "Content-Type: text/csv")
	f(400, "bad_parameter", "POST", "/api/provisioning/view?create=false&update=false", "x", "X-Api-Key: "+writeKey, "Content-Type: text/csv")
	f(400, "bad_parameter", "POST", "/api/send?dryrun=%zz", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send", "x", "X-Api-Key: "+writeKey, "Idempotency-Key: "+strings.Repeat("k", 256))
	f(400, "bad_parameter", "GET", "/api/sql?apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=a&q=b&apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&wt=xml&apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&rows=0&apikey="+readKey, "")
	f(400, "bad_query", "GET", "/api/sql?q=SELEC+name&apikey="+readKey, "")
	f(400, "time_span_required", "GET", "/api/sql?q=SELECT+i1+FROM+objectdata&apikey="+readKey, "")
	f(400, "bad_json", "POST", "/api/sql", "{", "X-Api-Key: "+readKey, "Content-Type: application/json")
	f(500, "internal", "GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&apikey="+readKey, "")
	r.rows = panics
	f(500, "internal", "GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&apikey="+readKey, "")
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room")
	f(503, "storage_unavailable", "GET", "/readyz", "")
	f(503, "storage_unavailable", "POST", "/api/send", "x", "X-Api-Key: "+writeKey)
	f(200, "", "GET", "/healthz", "")
	for _, k := range []string{readKey, writeKey, expiredKey, unknownKey} {
		if strings.Contains(r.log.String(), k) {
			t.Errorf("the log holds a key:\n%s", r.log.String())
		}
	}
	if !strings.Contains(r.log.String(), "no rows prepared") || !strings.Contains(r.log.String(), "as asked") {
		t.Errorf("the log does not say why two requests broke:\n%s", r.log.String())
	}
}

// TestInvalidKeyWords: whoever guesses keys learns nothing from the answers.
func TestInvalidKeyWords(t *testing.T) {
	r := newRig(t)
	var first string
	for _, h := range []string{"X-Api-Key: ", "X-Api-Key: nonsense", "X-Api-Key: " + unknownKey, "X-Api-Key: " + expiredKey} {
		body, _ := io.ReadAll(r.do("POST", "/api/send", "", h).Body)
		if first == "" {
			first = string(body)
		}
		if string(body) != first {
			t.Errorf("%s: %s, another key was told %s", h, body, first)
		}
	}
}

func TestAllow(t *testing.T) {
	r := newRig(t)
	f := func(path, want string) {
		t.Helper()
		if got := r.do("PATCH", path, "").Header.Get("Allow"); got != want {
			t.Errorf("%s: Allow %q, want %q", path, got, want)
		}
	}
	f("/api/send", "POST")
	f("/api/sql", "GET, HEAD, POST")
	f("/healthz", "GET, HEAD")
	for _, path := range []string{"/d", "/l", "/cv"} { // a GET that writes
		f(path, "GET")
	}
}

// TestCodes: every code of a whole request has a status, and those that ask for patience say how much.
func TestCodes(t *testing.T) {
	seen := map[belfry.Code]bool{}
	for _, c := range Codes {
		if (c.Status == 429 || c.Status == 503) != (c.Retry > 0) || c.Help == "" || seen[c.Code] {
			t.Errorf("%+v", c)
		}
		seen[c.Code] = true
	}
}

// stored tells whether the last row that was stored has a log text.
func (r *rig) stored(log string) bool {
	last := r.bench.Records[len(r.bench.Records)-1]
	for _, b := range last.Batches {
		if c := b.Column("log"); c != nil {
			return c.Texts[len(c.Texts)-1] == log
		}
	}
	return false
}

func TestPackedBodies(t *testing.T) {
	r := newRig(t)
	f := func(encoding string, size, status int, code string) {
		t.Helper()
		plain := rows(size)
		var packed bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&packed)
		if encoding == "zstd" {
			w, _ = zstd.NewWriter(&packed)
		}
		io.WriteString(w, plain)
		w.Close()
		res := r.do("POST", "/api/send", packed.String(), "Content-Encoding: "+encoding, "X-Api-Key: "+writeKey)
		if got := r.code(res); res.StatusCode != status || got != code {
			t.Errorf("%s of %d bytes: %d %s", encoding, size, res.StatusCode, got)
		}
		if _, log, _ := strings.Cut(plain, ",r,o,C,r,"); status == 200 && !r.stored(strings.TrimSpace(log)) {
			t.Errorf("%s of %d bytes: the row is not what was sent", encoding, size)
		}
	}
	f("gzip", 2000, 200, "")
	f("gzip", 2001, 413, "body_too_large")
	f("gzip", 50<<20, 413, "body_too_large")
	f("zstd", 2000, 200, "")
	f("zstd", 2001, 413, "body_too_large")
	f("zstd", 50<<20, 413, "body_too_large")
	for _, enc := range []string{"gzip", "zstd"} {
		res := r.do("POST", "/api/send", "not packed at all", "Content-Encoding: "+enc, "X-Api-Key: "+writeKey)
		if code := r.code(res); res.StatusCode != 400 || code != "bad_csv" {
			t.Errorf("%s: %d %s", enc, res.StatusCode, code)
		}
	}
}

func TestMetricsAreLocal(t *testing.T) {
	r := newRig(t)
	f := func(peer string, status int, headers ...string) {
		t.Helper()
		req := httptest.NewRequest("GET", "/metrics", nil)
		req.RemoteAddr, req.Host = peer, "localhost:8080"
		for _, h := range headers {
			req.Header.Set(h, "x")
		}
		rec := httptest.NewRecorder()
		r.ServeHTTP(rec, req)
		if rec.Code != status {
			t.Errorf("%s %v: %d, want %d", peer, headers, rec.Code, status)
		}
	}
	f("127.0.0.1:1234", 200)
	f("[::1]:1234", 200)
	f("192.0.2.1:1234", 404)
	f("127.0.0.1:1234", 404, "X-Forwarded-For") // a proxy here speaks for someone elsewhere
	f("@", 404)
}

func FuzzMask(f *testing.F) {
	f.Add("q=1&apikey=", "&x=2")
	f.Add("%61pikey=", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := input.Mask("/d?" + before + readKey + after); strings.Contains(got, readKey) {
			t.Errorf("mask lets a key through: %q", got)
		}
	})
}

// TestPatience: the time limit for silence ends with the body and with the answer. Later requests on the connection,
// and answers that take longer, are not cut off by it.
func TestPatience(t *testing.T) {
	r := newRig(t)
	l := *r.limits.Load()
	l.Idle = 20 * time.Millisecond
	r.SetLimits(l)
	r.slow = 5 * l.Idle
	srv := httptest.NewServer(r)
	defer srv.Close()
	for range 2 {
		r.rows = &table{names: []string{"name"}}
		req, _ := http.NewRequest("POST", srv.URL+"/api/sql", strings.NewReader("q=SELECT+info+FROM+events&span=1h"))
		req.Header.Set("X-Api-Key", readKey)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || err != nil {
			t.Errorf("%d %s %v", res.StatusCode, body, err)
		}
	}
}

// TestStalledBody: a client that stops in the middle of its body is sent away.
func TestStalledBody(t *testing.T) {
	r := newRig(t)
	l := *r.limits.Load()
	l.Idle = 20 * time.Millisecond
	r.SetLimits(l)
	srv := httptest.NewServer(r)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST /api/send HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+writeKey+"\r\nContent-Length: 100\r\n\r\ntype,object")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if code := r.code(res); res.StatusCode != 400 || code != "bad_csv" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
}

func TestQueryTime(t *testing.T) {
	r := newRig(t)
	l := *r.limits.Load()
	l.QueryTime = time.Millisecond
	r.SetLimits(l)
	r.slow = time.Hour
	res := r.do("GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&apikey="+readKey, "")
	if code := r.code(res); res.StatusCode != 503 || code != "overloaded" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
}

// TestTooManyQueries: a customer's queries beyond its share are refused when none ends in time.
func TestTooManyQueries(t *testing.T) {
	r := newRig(t)
	r.queries.Enter(t.Context(), 1, 1)
	res := r.do("GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&apikey="+readKey, "")
	if code := r.code(res); res.StatusCode != 429 || code != "rate_limited" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
	r.Server.bulk.Enter(t.Context(), 1, 2)
	r.Server.bulk.Enter(t.Context(), 1, 2)
	res = r.do("POST", "/api/send", oneRow, "X-Api-Key: "+writeKey)
	if code := r.code(res); res.StatusCode != 503 || code != "overloaded" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
}

// TestPresentNeverWaits: what is answered from memory waits neither for queries of stored rows nor for bodies.
func TestPresentNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBulkHouse(t)
		h.Present = status.Source{Tree: h.tree, Turns: new(status.Turns)}
		secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "page", Level: belfry.LevelRead})
		h.must(err)
		for range h.Limits.Queries {
			h.queries.Enter(t.Context(), 1, h.Limits.Queries)
		}
		for range limit.ProcessorShare() {
			h.computing.Enter(t.Context(), 1, limit.ProcessorShare())
		}
		f := func(status int, code, path string) {
			t.Helper()
			h.want(status, code, "GET", path, "", "X-Api-Key: "+secret)
		}
		f(200, "", "/api/sql?q=SELECT+name+FROM+objectstatus")
		f(200, "", "/api/tree?view=MAIN")
		f(200, "", "/api/explain/resources/old")
		f(429, "rate_limited", "/api/sql?q=SELECT+name+FROM+objectstatus+AS+OF+'2026-11-15T02:00:00Z'")
		f(429, "rate_limited", "/api/sql?q=SELECT+info+FROM+events&span=1h")
		for range h.Limits.Queries {
			h.present.Enter(t.Context(), 1, h.Limits.Queries)
		}
		f(429, "rate_limited", "/api/sql?q=SELECT+name+FROM+objectstatus") // many of them wait for each other
	})
}

func FuzzParams(f *testing.F) {
	f.Add(`{"q":"SELECT 1","rows":10}`, "1h")
	f.Add(`{"q":true}{}`, "NOW-1DAY")
	f.Fuzz(func(t *testing.T, body, text string) {
		given, err := jsonParams([]byte(body))
		if err != nil {
			given = nil
		}
		for _, name := range []string{"from", "to", "span"} {
			with := append(given.without(name), param{name, text})
			from, to, err := span(with, belfry.At(time.Now()), time.UTC)
			if err == nil && from != 0 && to != 0 && to < from {
				t.Errorf("%q: the span goes backwards", text)
			}
		}
		checkQuery(t, text)
	})
}

// checkQuery holds the reader of query strings to the standard library's.
func checkQuery(t *testing.T, raw string) {
	t.Helper()
	want, err := url.ParseQuery(raw)
	got, ok := parseParams(raw)
	if ok != (err == nil) {
		t.Fatalf("%q: proper %v, the standard library says %v", raw, ok, err)
	}
	if ok && got.Encode() != want.Encode() {
		t.Fatalf("%q: got %q, want %q", raw, got.Encode(), want.Encode())
	}
	for name := range want {
		if ok && (!got.Has(name) || got.Get(name) != want.Get(name)) {
			t.Fatalf("%q: %s is %q, want %q", raw, name, got.Get(name), want.Get(name))
		}
	}
}

func TestParams(t *testing.T) {
	for _, raw := range []string{"", "a", "a=", "=a", "a=b&a=c", "&&a=b&", "a=b%20c+d", "a=%zz&b=1", "a;b=1", "a=1;b", "%61=%2B", "a=b=c", "\xff=%ff", "a=%"} {
		checkQuery(t, raw)
	}
}

// TestRemovalsMakeRoom: while memory is short, what removes something is taken and everything else refused.
func TestRemovalsMakeRoom(t *testing.T) {
	const deleteKey = "7b0c4f0e-1111-4aaa-8bbb-000000000005"
	r := newRig(t)
	r.provision("name\nx\n")
	r.addKey(deleteKey, belfry.LevelReadWriteDelete, 0)
	f := func(status int, method, target string) {
		t.Helper()
		if res := r.do(method, target, "name\nx\n", "X-Api-Key: "+deleteKey, "Content-Type: text/csv"); res.StatusCode != status {
			t.Errorf("%s %s: %s, want %d", method, target, res.Status, status)
		}
	}
	r.ready = belfry.Errorf(belfry.Overloaded, "memory is short")
	f(503, "GET", "/readyz")
	f(503, "POST", "/api/send")
	f(503, "POST", "/api/provisioning/custom")
	f(200, "DELETE", "/api/provisioning/custom")
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room on the disk")
	f(503, "DELETE", "/api/provisioning/custom")
}

// TestInternalAfterSomeRows: an unknown error in the middle of a body tells the client what was stored, and nothing of itself.
func TestInternalAfterSomeRows(t *testing.T) {
	r := newRig(t)
	rec := httptest.NewRecorder()
	r.fail(&answer{ResponseWriter: rec}, httptest.NewRequest("POST", "/api/send", nil),
		errors.Join(belfry.Errorf(belfry.Internal, "the first 3 rows of this body have been processed"), errors.New("secret detail")))
	if text := rec.Body.String(); rec.Code != 500 || !strings.Contains(text, `"message":"the first 3 rows of this body have been processed: internal error; the service log`) || strings.Contains(text, "secret") {
		t.Errorf("%d %s", rec.Code, text)
	}
	if !strings.Contains(r.log.String(), "secret detail") {
		t.Error("the log does not say why")
	}
}

// TestDefinitionsGiveWay: classes and policies count as items that are created, by their length, before they are parsed; after the wait the
// rights are looked up again.
func TestDefinitionsGiveWay(t *testing.T) {
	long := strings.Repeat(" ", 1000*definitionItem)
	f := func(path string) {
		synctest.Test(t, func(t *testing.T) {
			h := newBulkHouse(t)
			who := h.enter("admin")
			put := func(status int, code, body string) time.Duration {
				t.Helper()
				h.Engine.Active(2) // else nobody has to wait
				begun := time.Now()
				h.want(status, code, "PUT", path, body+long, who, "Content-Type: application/json")
				return time.Since(begun)
			}
			if took := put(400, "bad_json", "no JSON"); took != 0 {
				t.Errorf("%s: the first waited %s", path, took)
			}
			if took := put(400, "bad_json", "no JSON"); took == 0 {
				t.Errorf("%s: the second did not wait", path)
			}
			go func() {
				synctest.Wait() // until it waits
				h.must(h.accounts.LogOut(hashIn(who), belfry.Origin{}))
			}()
			if took := put(401, "invalid_key", "{}"); took == 0 {
				t.Errorf("%s: the third did not wait", path)
			}
		})
	}
	f("/api/classes/x")
	f("/api/policies/x")
}

// TestActive: whoever is served counts as active, whatever is asked for; nobody else does.
func TestActive(t *testing.T) {
	f := func(method, target, key string, want bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			time.Sleep(2 * engine.ActiveFor) // since it was made ready
			r.do(method, target, "", "X-Api-Key: "+key)
			if got := r.Engine.OthersActive(2); got != want {
				t.Errorf("%s %s with key %q: active %t, want %t", method, target, key, got, want)
			}
		})
	}
	f("GET", "/api/sql?q=SELECT+info+FROM+events&span=1h", readKey, true)
	f("POST", "/api/send", writeKey, true)
	f("POST", "/api/send", readKey, false) // it may not
	f("POST", "/api/send", expiredKey, false)
	f("GET", "/api/sql?q=SELECT+info+FROM+events&span=1h", "", false)
	f("GET", "/healthz", readKey, false)
}

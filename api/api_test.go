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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/catalog"
	"belfry/intake"
	"belfry/meta"
	"belfry/query"
)

const (
	readKey    = "7b0c4f0e-1111-4aaa-8bbb-000000000001"
	writeKey   = "7b0c4f0e-1111-4aaa-8bbb-000000000002"
	expiredKey = "7b0c4f0e-1111-4aaa-8bbb-000000000003"
	unknownKey = "7b0c4f0e-1111-4aaa-8bbb-000000000004"
)

// keys are a tree's: the real thing, without a journal.
type keys struct{ *meta.Tree }

func (k keys) add(secret string, level belfry.Level, expires belfry.Time) {
	key := belfry.Key{Customer: 1, Name: secret[34:], Hash: belfry.HashOf(secret).String(), Level: level, Expires: expires}
	body, err := json.Marshal(key)
	if err == nil {
		err = k.Apply(&belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocKey, Customer: 1, Name: key.Name, Body: body}}})
	}
	if err != nil {
		panic(err)
	}
}

// rig is a server whose far side is a few functions.
type rig struct {
	*Server
	t     *testing.T
	log   bytes.Buffer
	body  []byte // what Send read
	bulk  Bulk
	ready error
	rows  query.Rows
	slow  time.Duration // how long a query takes

	memory     intake.HeldMemory
	memoryHeld int64
}

func newRig(t *testing.T) *rig {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	k := keys{meta.NewTree(cat)}
	k.add(readKey, belfry.LevelRead, 0)
	k.add(writeKey, belfry.LevelReadWrite, 0)
	k.add(expiredKey, belfry.LevelReadWriteDelete, belfry.At(time.Now().Add(-time.Second)))
	r := &rig{t: t, memoryHeld: 64 << 20}
	r.Server = New(Config{
		Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: time.Now, Keys: k, Catalog: func() *catalog.Catalog { return cat }, Names: noNames{},
		Send:    r.send,
		Hold:    func(c belfry.CustomerID) *intake.HeldBody { return r.memory.Body(c, r.memoryHeld) },
		Source:  func(*catalog.Collection) query.Source { return r },
		Ready:   func() error { return r.ready },
		UI:      http.NotFoundHandler(),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "belfry_up 1\n") }),
		Limits: Limits{
			Body: 2000, BodyHeld: 1000, BulkRequests: 2, Queries: 1, QueryTime: time.Minute,
			Wait: time.Millisecond, Idle: time.Minute,
		},
	})
	return r
}

type noNames struct{}

func (noNames) Items(context.Context, belfry.Scope, query.ItemMatch) ([]belfry.ID, bool, error) {
	return nil, true, nil
}
func (noNames) Places(belfry.Scope) (places, tops []belfry.ID) { return nil, nil }

func (r *rig) send(_ context.Context, b Bulk) (int, []byte, error) {
	r.bulk = b
	var err error
	if r.body, err = io.ReadAll(b.Body); err != nil {
		return 0, nil, err
	}
	if string(r.body) == "panic" {
		panic("as asked")
	}
	if string(r.body) == "break" {
		return 0, nil, errors.New("secret detail")
	}
	return 200, []byte(`{"rows":0}` + "\n"), nil
}

func (r *rig) Select(ctx context.Context, _ *query.Plan) (query.Rows, error) {
	select {
	case <-time.After(r.slow):
	case <-ctx.Done():
		return nil, errors.New("interrupted")
	}
	if r.rows == nil {
		return nil, errors.New("no rows prepared")
	}
	return r.rows, nil
}

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
	f := func(header string, want belfry.Format) {
		t.Helper()
		headers := []string{"X-Api-Key: " + writeKey}
		if header != "" {
			headers = append(headers, "Content-Type: "+header)
		}
		if res := r.do("POST", "/api/send", "x", headers...); res.StatusCode != 200 || r.bulk.Format != want {
			t.Errorf("%q: %d, read as %s, want %s", header, res.StatusCode, r.bulk.Format, want)
		}
	}
	f("", belfry.CSV)
	f("text/csv", belfry.CSV)
	f("application/json", belfry.JSON)
	f("Application/JSON; charset=utf-8", belfry.JSON)
	f("application/x-ndjson", belfry.NDJSON)
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
	f(200, "", "POST", "/api/send", big[:1500], "X-Api-Key: "+writeKey)
	f(200, "", "POST", "/api/send", "x", "Content-Type: text/csv; charset=\"UTF-8\"", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send?dry_run=true", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send?dryrun=maybe", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send?dryrun=%zz", "x", "X-Api-Key: "+writeKey)
	f(400, "bad_parameter", "POST", "/api/send", "x", "X-Api-Key: "+writeKey, "Idempotency-Key: "+strings.Repeat("k", 256))
	f(400, "bad_parameter", "GET", "/api/sql?apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=a&q=b&apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=SELECT+name+FROM+objectstatus&wt=xml&apikey="+readKey, "")
	f(400, "bad_parameter", "GET", "/api/sql?q=SELECT+name+FROM+objectstatus&rows=0&apikey="+readKey, "")
	f(400, "bad_query", "GET", "/api/sql?q=SELEC+name&apikey="+readKey, "")
	f(400, "time_span_required", "GET", "/api/sql?q=SELECT+i1+FROM+objectdata&apikey="+readKey, "")
	f(400, "bad_json", "POST", "/api/sql", "{", "X-Api-Key: "+readKey, "Content-Type: application/json")
	f(500, "internal", "POST", "/api/send", "panic", "X-Api-Key: "+writeKey)
	f(500, "internal", "POST", "/api/send", "break", "X-Api-Key: "+writeKey)
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room")
	f(503, "storage_unavailable", "GET", "/readyz", "")
	f(503, "storage_unavailable", "POST", "/api/send", "x", "X-Api-Key: "+writeKey)
	f(200, "", "GET", "/healthz", "")
	for _, k := range []string{readKey, writeKey, expiredKey, unknownKey} {
		if strings.Contains(r.log.String(), k) {
			t.Errorf("the log holds a key:\n%s", r.log.String())
		}
	}
	if !strings.Contains(r.log.String(), "secret detail") || !strings.Contains(r.log.String(), "as asked") {
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

func TestPackedBodies(t *testing.T) {
	r := newRig(t)
	f := func(encoding string, size, status int, code string) {
		t.Helper()
		plain := strings.Repeat("a", size)
		var packed bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&packed)
		if encoding == "zstd" {
			w, _ = zstd.NewWriter(&packed)
		}
		io.WriteString(w, plain)
		w.Close()
		res := r.do("POST", "/api/send", packed.String(), "Content-Encoding: "+encoding, "X-Api-Key: "+writeKey)
		if got := r.code(res); res.StatusCode != status || got != code || status == 200 && string(r.body) != plain {
			t.Errorf("%s of %d bytes: %d %s", encoding, size, res.StatusCode, got)
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

func TestMask(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := mask(in); got != want {
			t.Errorf("mask(%q) = %q, want %q", in, got, want)
		}
	}
	f("/api/sql", "/api/sql")
	f("/api/sql?q=a&rows=2", "/api/sql?q=a&rows=2")
	f("/api/sql?apikey=abc&q=a", "/api/sql?apikey=***&q=a")
	f("/api/sql?q=a&APIKEY=abc", "/api/sql?q=a&apikey=***")
	f("/api/sql?%61pikey=abc", "/api/sql?apikey=***")
	f("/api/sql?+apikey=abc", "/api/sql?apikey=***")
	f("/api/sql?a%zz=abc", "/api/sql?apikey=***")
	f("/api/sql?a=b;apikey=abc", "/api/sql?a=b&apikey=***")
	f("/api/sql?key="+readKey, "/api/sql?key=***")
	f("/api/sql?key="+strings.ReplaceAll(readKey, "-", "%2D"), "/api/sql?key=***")
	f("/api/sql?"+readKey, "/api/sql?***")
	f("/api/"+readKey, "/api/***")
}

func FuzzMask(f *testing.F) {
	f.Add("q=1&apikey=", "&x=2")
	f.Add("%61pikey=", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := mask("/d?" + before + readKey + after); strings.Contains(got, readKey) {
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
		r.rows = sample()
		req, _ := http.NewRequest("POST", srv.URL+"/api/sql", strings.NewReader("q=SELECT+name+FROM+objectstatus"))
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
	res := r.do("GET", "/api/sql?q=SELECT+name+FROM+objectstatus&apikey="+readKey, "")
	if code := r.code(res); res.StatusCode != 503 || code != "overloaded" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
}

// TestTooManyQueries: a customer's queries beyond its share are refused when none ends in time.
func TestTooManyQueries(t *testing.T) {
	r := newRig(t)
	r.queries.enter(t.Context(), 1, 1)
	res := r.do("GET", "/api/sql?q=SELECT+name+FROM+objectstatus&apikey="+readKey, "")
	if code := r.code(res); res.StatusCode != 429 || code != "rate_limited" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
	r.Server.bulk.enter(t.Context(), 1, 2)
	r.Server.bulk.enter(t.Context(), 1, 2)
	res = r.do("POST", "/api/send", "x", "X-Api-Key: "+writeKey)
	if code := r.code(res); res.StatusCode != 503 || code != "overloaded" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, code)
	}
}

// TestHold: bodies of every length come back whole, and the digest tells requests apart.
func TestHold(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, size := range []int{0, 1, heldInMemory - 1, heldInMemory, heldInMemory + 1, 3 * heldInMemory} {
		plain := bytes.Repeat([]byte("x"), size)
		for _, prefix := range []string{"POST /a?", "POST /ax?"} {
			h, err := hold(bytes.NewReader(plain), t.TempDir(), prefix)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(h)
			h.Close()
			if err != nil || !bytes.Equal(got, plain) || seen[h.digest] {
				t.Errorf("%s with %d bytes: %d came back, %v, digest seen before: %t", prefix, size, len(got), err, seen[h.digest])
			}
			seen[h.digest] = true
		}
	}
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
	r.Keys.(keys).add(deleteKey, belfry.LevelReadWriteDelete, 0)
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
	if f(200, "DELETE", "/api/provisioning/custom"); !r.bulk.Remove {
		t.Error("the removal was not asked for")
	}
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room on the disk")
	f(503, "DELETE", "/api/provisioning/custom")
}

// TestInternalAfterSomeRows: an unknown error in the middle of a body tells the client what was stored, and nothing of itself.
func TestInternalAfterSomeRows(t *testing.T) {
	r := newRig(t)
	r.Send = func(context.Context, Bulk) (int, []byte, error) {
		return 0, nil, errors.Join(belfry.Errorf(belfry.Internal, "the first 3 rows of this body have been dealt with"), errors.New("secret detail"))
	}
	res := r.do("POST", "/api/send", "name\nx\n", "X-Api-Key: "+writeKey, "Content-Type: text/csv")
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 500 || !strings.Contains(string(text), `"message":"the first 3 rows of this body have been dealt with: internal error; the log`) || strings.Contains(string(text), "secret") {
		t.Errorf("%s %s %v", res.Status, text, err)
	}
	if !strings.Contains(r.log.String(), "secret detail") {
		t.Error("the log does not say why")
	}
}

// TestDefinitionsGiveWay: classes and policies count as items that are created, by their length, before they are parsed; after the wait the
// rights are looked up again.
func TestDefinitionsGiveWay(t *testing.T) {
	h := newBulkHouse(t)
	who := h.enter("admin")
	var got []int
	h.GiveWay = func(_ context.Context, c belfry.CustomerID, items int) error {
		if c != 1 {
			t.Errorf("customer %d waits", c)
		}
		got = append(got, items)
		return nil
	}
	long := strings.Repeat(" ", 100*definitionItem)
	h.want(400, "bad_json", "PUT", "/api/classes/x", "no JSON"+long, who, "Content-Type: application/json")
	h.want(400, "bad_json", "PUT", "/api/policies/x", "no JSON"+long, who, "Content-Type: application/json")
	if !slices.Equal(got, []int{100, 100}) {
		t.Errorf("counted %v", got)
	}
	h.GiveWay = func(context.Context, belfry.CustomerID, int) error {
		h.must(h.accounts.LogOut(hashIn(who)))
		return nil
	}
	h.want(401, "invalid_key", "PUT", "/api/classes/x", "{}"+long, who)
}

// TestActive: whoever is served counts as active, whatever is asked for; nobody else does.
func TestActive(t *testing.T) {
	r := newRig(t)
	active := 0
	r.Active = func(c belfry.CustomerID) {
		if active++; c != 1 {
			t.Errorf("customer %d", c)
		}
	}
	f := func(method, target, key string, want int) {
		t.Helper()
		active = 0
		if r.do(method, target, "", "X-Api-Key: "+key); active != want {
			t.Errorf("%s %s with key %q: told %d times, want %d", method, target, key, active, want)
		}
	}
	f("GET", "/api/sql?q=SELECT+name+FROM+objectstatus", readKey, 1)
	f("POST", "/api/send", writeKey, 1)
	f("POST", "/api/send", readKey, 0) // it may not
	f("POST", "/api/send", expiredKey, 0)
	f("GET", "/api/sql?q=SELECT+name+FROM+objectstatus", "", 0)
	f("GET", "/healthz", readKey, 0)
}

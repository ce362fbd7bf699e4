package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake"
	"belfry/journal"
	"belfry/meta"
)

// house is a server over a real sequencer and journal, with a clock of its own. Passwords are stored as they are.
type house struct {
	*Server
	t        *testing.T
	tree     *meta.Tree
	seq      *engine.Sequencer
	intake   *intake.Intake
	accounts *accounts.Accounts
	room     func()                // called while rows wait for room; nil: nothing is
	sink     func(*belfry.Record)  // called with each record that is committed; may be nil
	hashing  func(password string) // called while a password is hashed; nil: nothing is
	ticking  sync.Mutex
	now      time.Time
	age      time.Duration // of sessions; 0: any
	chunk    int           // bytes of a body that are applied at a time; 0: the default
	log      bytes.Buffer
	peer     string
}

// set sets the clock, which the sequencer reads when it likes.
func (h *house) set(t time.Time) {
	h.ticking.Lock()
	defer h.ticking.Unlock()
	h.now = t
}

func (h *house) advance(by time.Duration) { h.set(h.now.Add(by)) }

func (h *house) time() time.Time {
	h.ticking.Lock()
	defer h.ticking.Unlock()
	return h.now
}

func newHouse(t *testing.T) *house {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	j, err := journal.Open(t.TempDir(), journal.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, tree: meta.NewTree(cat), now: time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC), peer: "192.0.2.1:1234"}
	clock := h.time
	answers := map[string]*belfry.Answer{}
	h.seq = engine.New(engine.Config{
		Tree: h.tree, Journal: j, Log: log, Now: clock,
		Sinks: []func(*belfry.Record){func(r *belfry.Record) {
			if r.Answer != nil {
				answers[r.Answer.Key] = r.Answer
			}
			if h.sink != nil {
				h.sink(r)
			}
		}},
		Room: func(context.Context, belfry.CustomerID, int) error {
			if h.room != nil {
				h.room()
			}
			return nil
		},
		Count: func(belfry.CustomerID) int { return 0 },
		Limits: func() engine.Limits {
			return engine.Limits{Answers: 1000, ChunkBytes: h.chunk, Row: 1 << 20, Columns: 100, Indicators: 100, Objects: 1000, Retention: func(string) time.Duration { return 0 }}
		},
		Ready:   func() error { return nil },
		Answers: func(_ context.Context, _ belfry.CustomerID, k string) (*belfry.Answer, error) { return answers[k], nil },
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.seq.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended; j.Close() })
	h.intake = intake.New(intake.Config{Engine: h.seq})
	h.accounts = accounts.New(accounts.Config{
		Engine: h.seq, Log: log, SessionAge: func() time.Duration { return h.age },
		Passwords: accounts.Passwords{
			Hash:  func(password string) string { h.hashes(password); return password },
			Check: func(stored, password string) bool { h.hashes(password); return stored == password },
		},
	})
	h.must(h.accounts.Bootstrap("pw"))
	for _, role := range []string{belfry.Viewer, belfry.Operator, belfry.Administrator} {
		h.must(h.accounts.AddUser(1, belfry.User{Name: role, Password: "pw", Role: role}, &belfry.Actor{Name: "test"}))
	}
	h.Server = New(Config{
		Log: slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: clock, Tree: h.tree, Engine: h.seq, Intake: h.intake, Accounts: h.accounts, QueryReady: func() error { return nil }, Ready: func() error { return nil },
		Limits: Limits{Body: 2000, BodyHeld: 1000, BulkRequests: 2, Queries: 1, QueryTime: time.Minute, Wait: time.Minute, Idle: time.Minute},
	})
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) hashes(password string) {
	if h.hashing != nil {
		h.hashing(password)
	}
}

// in is a caller in a customer.
func in(c belfry.CustomerID) accounts.Caller {
	return accounts.Caller{Sender: engine.Sender{Scope: belfry.Whole(c), Name: "test"}, Level: belfry.LevelInstance}
}

func (h *house) revokeKey(name string) error {
	return h.accounts.RevokeKey(in(1), name)
}

func (h *house) removeUser(name string) error {
	return h.accounts.RemoveUser(in(1), name)
}

// ask sends a request; the answer's body is read.
func (h *house) ask(method, target, body string, headers ...string) (*http.Response, string) {
	h.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = h.peer
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	res := rec.Result()
	text, _ := io.ReadAll(res.Body)
	return res, string(text)
}

// want asks and compares status and code; it gives back the body.
func (h *house) want(status int, code, method, target, body string, headers ...string) string {
	h.t.Helper()
	res, text := h.ask(method, target, body, headers...)
	var e struct{ Error errorBody }
	json.Unmarshal([]byte(text), &e)
	if res.StatusCode != status || string(e.Error.Code) != code {
		h.t.Errorf("%s %s %s: %d %s, want %d %s", method, target, body, res.StatusCode, text, status, code)
	}
	return text
}

// enter logs a user in and gives the header to send.
func (h *house) enter(user string) string {
	h.t.Helper()
	res, text := h.ask("POST", "/api/session", fmt.Sprintf(`{"user":%q,"password":"pw"}`, user))
	if res.StatusCode != 200 || len(res.Cookies()) != 1 {
		h.t.Fatalf("%s cannot log in: %d %s", user, res.StatusCode, text)
	}
	return "Cookie: belfry_session=" + res.Cookies()[0].Value
}

func TestLogin(t *testing.T) {
	h := newHouse(t)
	res, text := h.ask("POST", "/api/session", `{"user":"operator","password":"pw","customer":"default"}`, "Content-Type: application/json")
	if want := `{"customer":"default","expires":"2026-11-15T15:00:00.000000Z","role":"operator","user":"operator"}` + "\n"; res.StatusCode != 200 || text != want {
		t.Fatalf("%d %s, want %s", res.StatusCode, text, want)
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Secure || c.MaxAge != 12*3600 || len(c.Value) != 43 {
		t.Errorf("cookie %+v", c)
	}
	if strings.Contains(text, c.Value) || res.Header.Get("Cache-Control") != "no-store" {
		t.Error("the secret is in the body, or may be kept on the way")
	}
	cookie := "Cookie: belfry_session=" + c.Value
	if got := h.want(200, "", "GET", "/api/session", "", cookie); got != text {
		t.Errorf("who am I: %s", got)
	}
	if got := h.want(200, "", "GET", "/api/session", "", "Cookie: belfry_session="+strings.TrimPrefix(h.enter("admin"), "Cookie: belfry_session=")); !strings.Contains(got, `"role":"instance administrator"`) {
		t.Errorf("who am I: %s", got)
	}
	h.want(401, "invalid_key", "GET", "/api/session", "")
	h.want(401, "invalid_key", "GET", "/api/session", "", cookie+"x")
	h.want(401, "invalid_key", "GET", "/api/session", "", "Cookie: belfry_session=")
	// A key that is given counts, even a wrong one.
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelRead})
	h.must(err)
	h.want(401, "invalid_key", "GET", "/api/session", "", cookie, "X-Api-Key: nonsense")
	if got := h.want(200, "", "GET", "/api/session?apikey="+key, "", cookie); got != `{"customer":"default","key":"agent","level":"read"}`+"\n" {
		t.Errorf("who am I with a key: %s", got)
	}
	// Log out, twice.
	res, _ = h.ask("DELETE", "/api/session", "", cookie)
	if res.StatusCode != 204 || len(res.Cookies()) != 1 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("log out: %d %v", res.StatusCode, res.Cookies())
	}
	h.want(401, "invalid_key", "GET", "/api/session", "", cookie)
	h.want(204, "", "DELETE", "/api/session", "", cookie)
	h.want(204, "", "DELETE", "/api/session", "")
	if strings.Contains(h.log.String(), c.Value) || strings.Contains(h.log.String(), key) {
		t.Error("the log holds a secret")
	}
}

func TestSecureCookie(t *testing.T) {
	h := newHouse(t)
	f := func(target string, want bool, headers ...string) {
		t.Helper()
		res, _ := h.ask("POST", target, `{"user":"viewer","password":"pw"}`, headers...)
		if got := res.Cookies()[0].Secure; got != want {
			t.Errorf("%s %v: secure %t", target, headers, got)
		}
	}
	f("http://h/api/session", false)
	f("https://h/api/session", true)
	f("http://h/api/session", true, "X-Forwarded-Proto: https")
}

func TestLoginBody(t *testing.T) {
	h := newHouse(t)
	f := func(status int, code, body string, headers ...string) string {
		t.Helper()
		return h.want(status, code, "POST", "/api/session", body, headers...)
	}
	f(400, "bad_json", "")
	f(400, "bad_json", "null")
	f(400, "bad_json", "[]")
	f(400, "bad_json", `{"user":"a","password":"b"} {}`)
	f(400, "bad_json", `{"user":"a","password":"b"`)
	f(400, "bad_json", strings.Repeat(`{"user":`, 500))
	f(400, "bad_parameter", `{}`)
	f(400, "bad_parameter", `{"user":"a"}`)
	f(400, "bad_parameter", `{"user":"a","password":null}`)
	f(400, "bad_parameter", `{"user":"a","password":12}`)
	f(400, "bad_parameter", `{"user":["a"],"password":"b"}`)
	if text := f(400, "bad_parameter", `{"user":"a","password":"b","custmer":"c"}`); !strings.Contains(text, `\"customer\"`) {
		t.Errorf("the nearest name is missing: %s", text)
	}
	if text := f(400, "bad_parameter", `{"user":"a","password":"hush","zzzzzzzzzz":"c"}`); strings.Contains(text, "hush") {
		t.Errorf("a password is repeated: %s", text)
	}
	f(400, "bad_parameter", `{"user":"viewer","password":"pw"}`, "Idempotency-Key: x")
	f(413, "body_too_large", `{"user":"`+strings.Repeat("a", smallBody)+`"}`)
	f(415, "unsupported_media_type", `{"user":"viewer","password":"pw"}`, "Content-Type: text/plain")
	h.want(400, "bad_parameter", "POST", "/api/session?user=viewer", `{}`)
	first := f(401, "invalid_login", `{"user":"viewer","password":"wrong"}`)
	for _, body := range []string{`{"user":"nobody","password":"pw"}`, `{"user":"viewer","password":"pw","customer":"acme"}`, `{"user":"","password":""}`} {
		if text := f(401, "invalid_login", body); text != first {
			t.Errorf("%s is told %s, others %s", body, text, first)
		}
	}
}

// TestSessionTime: a session lasts 12 hours from its last use in its second half.
func TestSessionTime(t *testing.T) {
	h := newHouse(t)
	cookie := h.enter("viewer")
	f := func(later time.Duration, status int, renewed bool) {
		t.Helper()
		h.advance(later)
		res, text := h.ask("GET", "/api/session", "", cookie)
		if res.StatusCode != status || (len(res.Cookies()) > 0) != renewed {
			t.Errorf("%d %s, cookies %v; want %d, renewed %t", res.StatusCode, text, res.Cookies(), status, renewed)
		}
		if renewed && ("Cookie: belfry_session="+res.Cookies()[0].Value != cookie || res.Cookies()[0].MaxAge != 12*3600) {
			t.Errorf("renewed as %v", res.Cookies()[0])
		}
		if until := h.now.Add(12 * time.Hour).Format(belfry.TimeFormat); renewed && !strings.Contains(text, until) {
			t.Errorf("%s does not say %s", text, until)
		}
	}
	f(0, 200, false)
	f(6*time.Hour, 200, false)
	f(time.Second, 200, true)
	f(6*time.Hour, 200, false)
	f(6*time.Hour-time.Microsecond, 200, true)
	f(12*time.Hour, 401, false)
	h.want(401, "invalid_key", "GET", "/api/keys", "", cookie)
	h.want(204, "", "DELETE", "/api/session", "", cookie)
}

// TestSessionAge: a session that is used all the time ends all the same, and so does one that is older than a limit that was
// lowered since.
func TestSessionAge(t *testing.T) {
	h := newHouse(t)
	h.age = 24 * time.Hour
	h.SetLimits(Limits{Idle: time.Minute, SessionAge: h.age})
	cookie := h.enter("viewer")
	begun := h.now
	f := func(at time.Duration, status int) {
		t.Helper()
		h.set(begun.Add(at))
		if res, text := h.ask("GET", "/api/session", "", cookie); res.StatusCode != status {
			t.Errorf("after %s: %d %s", at, res.StatusCode, text)
		}
	}
	for at := time.Duration(0); at < 24*time.Hour; at += time.Hour {
		f(at, 200)
	}
	f(24*time.Hour-time.Microsecond, 200)
	f(24*time.Hour, 401)

	begun = h.now
	cookie = h.enter("viewer")
	f(6*time.Hour, 200)
	h.SetLimits(Limits{Idle: time.Minute, SessionAge: 5 * time.Hour})
	f(6*time.Hour, 401)
}

func TestCrossSite(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	login := `{"user":"viewer","password":"pw"}`
	for _, evil := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example", "Origin: null"} {
		h.want(403, "cross_site", "POST", "/api/session", login, evil)
		h.want(403, "cross_site", "POST", "/api/keys", `{"name":"x","level":"read"}`, admin, evil)
		h.want(403, "cross_site", "DELETE", "/api/keys/agent", "", admin, evil)
		h.want(403, "cross_site", "DELETE", "/api/session", "", admin, evil)
		h.want(403, "cross_site", "POST", "/api/send", "", admin, evil)
		h.want(401, "invalid_key", "POST", "/api/send", "", evil) // without a cookie there is nothing to abuse
		h.want(200, "", "GET", "/api/keys", "", admin, evil)      // changes nothing, and that site cannot read it
		h.want(200, "", "GET", "/api/session", "", "X-Api-Key: "+key, evil)
		h.want(403, "insufficient_level", "POST", "/api/keys", "", "X-Api-Key: "+key, evil) // a key is no cookie
	}
	for _, good := range []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Origin: http://example.com", "Accept: */*"} {
		h.want(200, "", "POST", "/api/session", login, good)
		h.want(404, "unknown_item", "DELETE", "/api/keys/none", "", admin, good)
	}
}

// A page of the same name that came over plain HTTP is another site for a service that speaks TLS.
func TestCrossScheme(t *testing.T) {
	h := newHouse(t)
	login := `{"user":"viewer","password":"pw"}`
	const tls = "X-Forwarded-Proto: https"
	h.want(403, "cross_site", "POST", "/api/session", login, tls, "Origin: http://example.com")
	h.want(403, "cross_site", "POST", "/api/session", login, tls, "Origin: HTTP://example.com")
	h.want(200, "", "POST", "/api/session", login, tls, "Origin: https://example.com")
	h.want(200, "", "POST", "/api/session", login, tls)
	h.want(200, "", "POST", "/api/session", login, "Origin: https://example.com") // a proxy that speaks TLS and does not say so
}

// TestKeyOnly: a GET that writes does not take a cookie, since a link on any page would be enough.
func TestKeyOnly(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("admin")
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWrite})
	h.must(err)
	tests := 0
	f := func(method string, level belfry.Level, status int, headers ...string) {
		t.Helper()
		tests++
		served, path := "", fmt.Sprintf("/test%d", tests)
		rt := Route{Method: method, Path: path, Level: level, serve: func(_ *Server, w *answer, r *request) error {
			served = r.who
			w.WriteHeader(200)
			return nil
		}}
		h.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.(*answer).methods = methods{method: rt} })
		r := httptest.NewRequest(method, path, nil)
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Add(name, value)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != status || (served != "") != (status == 200) {
			t.Errorf("%s %s %v: %d, served %q, want %d", method, level, headers, rec.Code, served, status)
		}
	}
	f("GET", belfry.LevelReadWrite, 401, admin)
	f("GET", belfry.LevelReadWriteDelete, 401, admin)
	f("GET", belfry.LevelReadWrite, 200, "X-Api-Key: "+secret)
	f("GET", belfry.LevelReadWriteDelete, 403, "X-Api-Key: "+secret)
	f("GET", belfry.LevelRead, 200, admin)
	f("GET", belfry.LevelAdministrator, 200, admin)
	f("GET", belfry.LevelInstance, 200, admin)
	f("POST", belfry.LevelReadWrite, 200, admin)
	f("POST", belfry.LevelInstance, 403, h.enter("administrator"))
	f("POST", belfry.LevelInstance, 403, "X-Api-Key: "+secret)
}

// TestAdmissionIsCheap: finding the key of a request takes no memory beyond the request's own.
func TestAdmissionIsCheap(t *testing.T) {
	h := newHouse(t)
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelRead})
	h.must(err)
	r := httptest.NewRequest("POST", "/api/sql", nil)
	r.Header.Set("X-Api-Key", secret)
	r.Header.Set("Cookie", "belfry_session=x")
	rt := Route{Method: "POST", Path: "/api/sql", Level: belfry.LevelRead}
	n := testing.AllocsPerRun(100, func() {
		if _, err := h.admit(r, rt); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2 { // the request, and the map of parameters
		t.Errorf("admitting a request allocates %v times", n)
	}
}

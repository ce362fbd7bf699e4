package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"belfry/accounts"

	"belfry"
)

// askLocal sends a request through Local and compares the status; it returns the answer.
func (h *house) askLocal(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	h.Local().ServeHTTP(rec, r)
	if rec.Code != status {
		h.t.Errorf("%s %s %s: %d %s, want %d", method, target, body, rec.Code, rec.Body, status)
	}
	return rec
}

// TestLocal: the local administrator needs neither key nor session, acts in the customer that the header names, and is
// refused what does not exist in the order that everybody is.
func TestLocal(t *testing.T) {
	h := newBulkHouse(t)
	const acme = CustomerHeader + ": a%20%C3%A9%2Fb" // "a é/b"
	h.askLocal(201, "POST", "/api/customers", `{"name":"a é/b","administrator":false}`)
	made, _ := h.tree.Access().CustomerNamed("a é/b")
	if users := h.tree.Access().Users(made.ID); len(users) != 0 {
		t.Errorf("the customer has users: %v", users)
	}
	h.askLocal(201, "POST", "/api/users", `{"name":"eve","role":"viewer","password":"pw"}`, acme) // any password
	h.askLocal(200, "PUT", "/api/users/eve", `{"password":"x"}`, acme)
	h.askLocal(201, "POST", "/api/keys", `{"name":"k","level":"read","expires":"1ms"}`, acme)
	if k, ok := h.tree.Access().KeyNamed(made.ID, "k"); !ok || k.Creator != "shell" || k.Expires == 0 {
		t.Errorf("key %+v", k)
	}
	if text := h.askLocal(200, "GET", "/api/session", "", acme).Body.String(); !strings.Contains(text, `"customer":"a é/b"`) || !strings.Contains(text, `"user":"shell"`) {
		t.Error(text)
	}
	h.askLocal(404, "GET", "/api/userss", "", CustomerHeader+": nobody")
	h.askLocal(405, "PATCH", "/api/users", "", CustomerHeader+": nobody")
	h.askLocal(404, "GET", "/api/users?no=such", "", CustomerHeader+": nobody")
	h.askLocal(400, "GET", "/api/users", "", CustomerHeader+": %zz")
	h.askLocal(400, "GET", "/api/users?no=such", "")
	h.askLocal(400, "POST", "/api/session/customer", `{"customer":"default"}`) // it has no session
	h.askLocal(400, "GET", "/api/sessions", "")
	h.askLocal(413, "POST", "/api/users", `{"name":"`+strings.Repeat("x", smallBody)+`"}`)
	// What a browser would send makes no difference, and neither does a key that somebody sends along.
	h.askLocal(200, "DELETE", "/api/users/eve", "", acme, "Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site", "X-Api-Key: "+unknownKey)
}

// TestLocalEvents: what the local administrator did is in the events under its name, in the customer where it was done.
func TestLocalEvents(t *testing.T) {
	h := newHouse(t)
	var told []string
	h.sink = func(r *belfry.Record) {
		for _, b := range r.Batches {
			if by := b.Column("user"); b.Collection == belfry.Events && by != nil {
				told = append(told, h.tree.Access().CustomerName(b.Customer)+": "+by.Texts[0]+": "+b.Column("info").Texts[0])
			}
		}
	}
	f := func(method, target, body, want string, headers ...string) {
		t.Helper()
		told = nil
		h.askLocal(map[string]int{"POST": 201, "PUT": 200}[method], method, target, body, headers...)
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("%s %s: told %q, want %q", method, target, got, want)
		}
	}
	f("POST", "/api/customers", `{"name":"acme","administrator":false}`, "default: shell: customer acme created; acme: shell: customer acme created")
	f("PUT", "/api/customers/acme", `{"add":["127.0.0.1:514"]}`, "acme: shell: customer acme may listen on 127.0.0.1:514, was no port")
	f("POST", "/api/users", `{"name":"eve","role":"viewer"}`, "acme: shell: user eve created as viewer", CustomerHeader+": acme")
}

// TestLocalHeader: on every other way in, the header of the local administrator has no effect at all.
func TestLocalHeader(t *testing.T) {
	h := newBulkHouse(t)
	_, err := h.accounts.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
	h.must(err)
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "k", Level: belfry.LevelReadWrite})
	h.must(err)
	header := CustomerHeader + ": acme"
	for _, rt := range Routes {
		if rt.Level > belfry.LevelNone {
			r := httptest.NewRequest(rt.Method, "/", nil)
			r.Header.Set(CustomerHeader, "acme")
			if _, err := h.admit(r, rt); belfry.CodeOf(err) != belfry.InvalidKey {
				t.Errorf("%s %s: %v", rt.Method, rt.Path, err)
			}
		}
	}
	h.want(403, "insufficient_level", "GET", "/api/users", "", header, "X-Api-Key: "+secret)
	who := h.enter("admin")
	for _, identified := range []string{who, "X-Api-Key: " + secret} {
		if text := h.want(200, "", "GET", "/api/session", "", header, identified); !strings.Contains(text, `"customer":"default"`) {
			t.Error(text)
		}
		if text := h.want(200, "", "GET", "/api/session", "", CustomerHeader+": nobody", identified); !strings.Contains(text, `"customer":"default"`) {
			t.Error(text)
		}
	}
	h.want(401, "invalid_key", "GET", "/api/users", "", CustomerHeader+": nobody")
}

// TestLocalRights: a request of the local administrator ends when its customer is removed.
func TestLocalRights(t *testing.T) {
	h := newBulkHouse(t)
	_, err := h.accounts.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
	h.must(err)
	body := &parts{strings.NewReader("name\n"), strings.NewReader("late\n"), func() {
		err := h.accounts.RemoveCustomer(in(1), "acme")
		h.must(err)
	}}
	r := httptest.NewRequest(http.MethodPost, "/api/provisioning/custom", body)
	r.Header.Set(CustomerHeader, "acme")
	rec := httptest.NewRecorder()
	h.Local().ServeHTTP(rec, r)
	if rec.Code != 404 || !strings.Contains(rec.Body.String(), "removed while the request was in progress") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// TestGrantChanges: PUT /api/customers adds and removes grants, and names the grant that is not there.
func TestGrantChanges(t *testing.T) {
	h := newHouse(t)
	_, err := h.accounts.AddCustomer("acme", "", &belfry.Actor{Name: "test"})
	h.must(err)
	who := h.enter("admin")
	f := func(status int, body, want string) {
		t.Helper()
		if text := h.want(status, map[int]string{400: "bad_parameter"}[status], "PUT", "/api/customers/acme", body, who); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
	f(200, `{"add":["127.0.0.1:514","127.0.0.1:515"]}`, `"listen":["127.0.0.1:514","127.0.0.1:515"]`)
	f(200, `{"add":["127.0.0.1:516"],"remove":["127.0.0.1:514"]}`, `"listen":["127.0.0.1:515","127.0.0.1:516"]`)
	f(400, `{"remove":["127.0.0.1:1"]}`, `customer \"acme\" has no grant 127.0.0.1:1; it may listen on 127.0.0.1:515, 127.0.0.1:516`)
	f(200, `{"listen":["127.0.0.1:5"]}`, `"listen":["127.0.0.1:5"]`)
	f(400, `{}`, "there is nothing to change")
	h.want(404, "unknown_item", "PUT", "/api/customers/nobody", `{"add":["127.0.0.1:5"]}`, who)
}

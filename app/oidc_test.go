package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"belfry/config"
)

// begin goes to the provider and gives the cookie of the way, and where the browser was sent to.
func (r *running) begin() (cookie, location string) {
	r.t.Helper()
	_, res, text := r.do("GET", "/api/session/oidc", "")
	if res.StatusCode != http.StatusFound || len(res.Cookies()) != 1 {
		r.t.Fatalf("%d %s", res.StatusCode, text)
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/api/session/oidc" || c.MaxAge != 600 {
		r.t.Errorf("cookie %+v", c)
	}
	return "Cookie: " + c.Name + "=" + c.Value, res.Header.Get("Location")
}

// session finds the session among the cookies of an answer.
func sessionOf(res *http.Response) string {
	for _, c := range res.Cookies() {
		if c.Name == "belfry_session" && c.Value != "" {
			return "Cookie: " + c.Name + "=" + c.Value
		}
	}
	return ""
}

func codeOf(text []byte) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal(text, &e)
	return e.Error.Code
}

func TestOIDC(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) { c.OIDC = p.config() })
	if _, _, text := r.do("GET", "/api/session/options", ""); string(text) != `{"name":"Test","oidc":true}`+"\n" {
		t.Errorf("options %s", text)
	}
	// back comes back from the provider; the answer is the person that the session is of, or the code of the error.
	back := func(cookie, code, state string) string {
		t.Helper()
		var headers []string
		if cookie != "" {
			headers = append(headers, cookie)
		}
		_, res, text := r.do("GET", "/api/session/oidc/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(), "", headers...)
		session := sessionOf(res)
		if res.StatusCode != http.StatusSeeOther {
			if session != "" {
				t.Errorf("%d %s, and yet a session", res.StatusCode, text)
			}
			return codeOf(text)
		}
		if res.Header.Get("Location") != "/ui/" {
			t.Errorf("sent to %q", res.Header.Get("Location"))
		}
		_, _, text = r.do("GET", "/api/session", "", session)
		var who struct{ User, Role, Customer string }
		_ = json.Unmarshal(text, &who)
		return who.User + ", " + who.Role + " of " + who.Customer
	}
	f := func(want string, change func(map[string]any)) {
		t.Helper()
		cookie, location := r.begin()
		code, state := p.approve(location, change)
		if got := back(cookie, code, state); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	set := func(name string, v any) func(map[string]any) { return func(c map[string]any) { c[name] = v } }

	const eve = "eve@example, operator of default" // the highest of her groups
	f(eve, nil)
	f(eve, set("preferred_username", "renamed")) // she is who she was
	f("invalid_login", set("nonce", "another"))
	f("invalid_login", func(c map[string]any) { delete(c, "nonce") })
	f("invalid_login", set("aud", "another service"))
	f("invalid_login", set("iss", "http://127.0.0.1:1"))
	f("invalid_login", set("exp", 1000))
	f("invalid_login", set("groups", map[string]any{"belfry": []any{"unknown"}}))
	f("invalid_login", set("groups", "staff"))
	f("invalid_login", func(c map[string]any) { delete(c, "groups") })

	r = startService(t, func(c *config.Config) { c.OIDC = p.config() }) // the old one has seen too many failures
	f(eve, nil)
	// A name that somebody else has is not given to a stranger; least of all the administrator's.
	f("invalid_login", func(c map[string]any) { c["sub"], c["preferred_username"] = "666", "admin" })
	f("invalid_login", func(c map[string]any) { c["sub"], c["preferred_username"] = "666", "eve@example" })
	f("bob@example.org, operator of default", func(c map[string]any) {
		c["sub"], c["preferred_username"], c["email"], c["email_verified"] = "8", "", "bob@example.org", true
	})
	f("9, operator of default", func(c map[string]any) { // the address may be anybody's
		c["sub"], c["preferred_username"], c["email"] = "9", "\x00", "admin"
	})

	// What the provider says now is what counts.
	f("eve@example, administrator of default", set("groups", map[string]any{"belfry": "root"}))
	f(eve, nil)

	r = startService(t, func(c *config.Config) { c.OIDC = p.config() })
	cookie, location := r.begin()
	code, state := p.approve(location, nil)
	if got := back(cookie, code, "another"); got != "invalid_login" {
		t.Errorf("another state: %s", got)
	}
	if got := back("", code, state); got != "invalid_login" {
		t.Errorf("another browser: %s", got)
	}
	other, _ := r.begin()
	if got := back(other, code, state); got != "invalid_login" {
		t.Errorf("the cookie of another way: %s", got)
	}
	forged := strings.SplitN(cookie, "=", 2)[0] + "=" + state + ".nonce.verifier"
	if got := back(forged, code, state); got != "invalid_login" { // the provider refuses: the code was asked for by another
		t.Errorf("another verifier: %s", got)
	}
	if got := back(cookie, code, state); got != "invalid_login" {
		t.Errorf("a code that was used: %s", got)
	}
	_, res, text := r.do("GET", "/api/session/oidc/callback?error=access_denied&state="+state, "", cookie)
	if res.StatusCode != 401 || !strings.Contains(string(text), "access_denied") {
		t.Errorf("refused by the provider: %d %s", res.StatusCode, text)
	}
	for _, secret := range []string{testSecret, code, state} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
	// A person is led back to the page, which says why.
	cookie, location = r.begin()
	_, state = p.approve(location, nil)
	_, res, text = r.do("GET", "/api/session/oidc/callback?error=access_denied&state="+state, "", cookie, "Sec-Fetch-Mode: navigate")
	said := ""
	for _, c := range res.Cookies() {
		if c.Name == "belfry_denied" && c.Path == "/ui/" {
			said, _ = url.PathUnescape(c.Value)
		}
	}
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/ui/" || sessionOf(res) != "" || !strings.Contains(said, "access_denied") {
		t.Errorf("%d %s %q %s", res.StatusCode, res.Header.Get("Location"), said, text)
	}
}

// TestOIDCUsers: who logs in through the provider has no password, and is changed there.
func TestOIDCUsers(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) { c.OIDC = p.config() })
	cookie, location := r.begin()
	code, state := p.approve(location, nil)
	_, res, _ := r.do("GET", "/api/session/oidc/callback?code="+code+"&state="+state, "", cookie)
	eve := sessionOf(res)
	admin := r.logIn("", "admin", adminPassword)
	f := func(status int, code, method, path, body, who string) {
		t.Helper()
		_, res, text := r.do(method, path, body, who, "Content-Type: application/json")
		if res.StatusCode != status || codeOf(text) != code {
			t.Errorf("%s %s: %d %s, want %d %s", method, path, res.StatusCode, text, status, code)
		}
	}
	f(400, "bad_parameter", "PUT", "/api/users/eve@example", `{"role":"viewer"}`, admin)
	f(400, "bad_parameter", "PUT", "/api/users/eve@example", `{"password":"a long password"}`, admin)
	f(400, "bad_parameter", "PUT", "/api/session", `{"password":"","new":"a long password"}`, eve)
	f(401, "invalid_login", "POST", "/api/session", `{"user":"eve@example","password":""}`, "X: y")
	f(200, "", "DELETE", "/api/users/eve@example", "", admin)
	f(401, "invalid_key", "GET", "/api/session", "", eve)
}

func TestOIDCProviderDown(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) { c.OIDC = p.config() })
	cookie, location := r.begin()
	code, state := p.approve(location, nil)
	p.server.Close()
	_, res, text := r.do("GET", "/api/session/oidc/callback?code="+code+"&state="+state, "", cookie)
	if res.StatusCode != 503 || codeOf(text) != "overloaded" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	// One that has never answered: the service runs, and says so.
	r = startService(t, func(c *config.Config) { c.OIDC = p.config() })
	for range 2 {
		if _, res, text := r.do("GET", "/api/session/oidc", ""); res.StatusCode != 503 || codeOf(text) != "overloaded" {
			t.Errorf("%d %s", res.StatusCode, text)
		}
	}
	r.logIn("", "admin", adminPassword)
	r = startService(t, nil)
	for _, path := range []string{"/api/session/oidc", "/api/session/oidc/callback?code=x&state=y"} {
		if _, res, text := r.do("GET", path, ""); res.StatusCode != 404 || codeOf(text) != "unknown_item" {
			t.Errorf("%s without a provider: %d %s", path, res.StatusCode, text)
		}
	}
}

// TestOIDCAudited: a login by the provider is in the audit trail like one by password.
func TestOIDCAudited(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) { c.OIDC = p.config() })
	login := func(change func(map[string]any)) (session string) {
		t.Helper()
		cookie, location := r.begin()
		code, state := p.approve(location, change)
		_, res, _ := r.do("GET", "/api/session/oidc/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(), "", cookie)
		return sessionOf(res)
	}
	root := login(func(c map[string]any) { c["groups"] = map[string]any{"belfry": "root"} })
	_, _, text := r.do("GET", "/api/audit?action=logged_in", "", root)
	var page struct {
		Rows []struct{ User, Via, Address, Action string }
	}
	if err := json.Unmarshal(text, &page); err != nil || len(page.Rows) != 1 || page.Rows[0].User != "eve@example" || page.Rows[0].Address != "127.0.0.1" {
		t.Errorf("%v: %s", err, text)
	}
}

package app

import (
	"net/http"
	"strings"
	"testing"

	"belfry"
	"belfry/config"
)

// enter logs somebody in through the provider and gives the session.
func (r *running) enter(p *testProvider) string {
	r.t.Helper()
	cookie, location := r.begin()
	code, state := p.approve(location, nil)
	_, res, text := r.do("GET", "/api/session/oidc/callback?code="+code+"&state="+state, "", cookie)
	session := sessionOf(res)
	if session == "" {
		r.t.Fatalf("%d %s", res.StatusCode, text)
	}
	return session
}

// TestOIDCRecheck: who is removed at the provider, or has another role there, loses the session when the provider is asked
// the next time; here that is at every request.
func TestOIDCRecheck(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) {
		c.OIDC = p.config()
		c.OIDC.Recheck = 1
	})
	key := "X-Api-Key: " + r.key("reader", belfry.LevelRead, "")
	f := func(want int, session string) {
		t.Helper()
		if _, res, text := r.do("GET", "/api/session", "", session); res.StatusCode != want {
			t.Errorf("%d %s, want %d", res.StatusCode, text, want)
		}
	}
	eve := r.enter(p)
	f(200, eve)
	f(200, eve) // each refresh token is good for one use, so the new one was kept
	p.change(func(c map[string]any) { c["groups"] = map[string]any{"belfry": "root"} })
	f(401, eve)
	f(401, eve) // for good
	eve = r.enter(p)
	f(200, eve)
	p.sparing = true // who it is has to be asked
	f(200, eve)
	p.change(func(c map[string]any) { delete(c, "groups") })
	f(401, eve)
	p.sparing = false
	eve = r.enter(p)
	p.change(func(c map[string]any) { c["sub"] = "another" })
	f(401, eve)
	eve = r.enter(p)
	p.change(nil)
	f(401, eve)
	p.noRefresh = true
	f(401, r.enter(p))
	_, _, text := r.do("GET", "/api/sql?q=SELECT+info+FROM+events+WHERE+type='login'&span=1h&rows=100", "", key)
	for _, why := range []string{"another role", "no longer vouches", "another user", "gave no refresh token"} {
		if !strings.Contains(string(text), why) {
			t.Errorf("no event says %q: %s", why, text)
		}
	}
	if strings.Contains(r.log.String(), "access ") {
		t.Error("the log holds a token")
	}
}

// TestOIDCRecheckSilent: a provider that does not answer keeps nobody out at once.
func TestOIDCRecheckSilent(t *testing.T) {
	p := newTestProvider(t)
	r := startService(t, func(c *config.Config) {
		c.OIDC = p.config()
		c.OIDC.Recheck = 1
	})
	eve := r.enter(p)
	p.server.Close()
	for range 2 {
		if _, res, text := r.do("GET", "/api/session", "", eve); res.StatusCode != http.StatusOK {
			t.Errorf("%d %s", res.StatusCode, text)
		}
	}
	if n := strings.Count(r.log.String(), "cannot be asked about a session"); n != 1 {
		t.Errorf("it was asked %d times in a minute", n)
	}
}

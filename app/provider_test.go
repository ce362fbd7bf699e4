package app

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/config"
)

// testProvider is a small OpenID Connect provider on this machine. It vouches for whomever a test says.
type testProvider struct {
	t      testing.TB
	server *httptest.Server
	key    *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]grant
	asked int // for tokens

	// What people come back with after their login. noRefresh: with nothing.
	refresh   map[string]map[string]any // refresh token to claims
	noRefresh bool
	sparing   bool // a refresh gives no ID token: who it is has to be asked
}

// grant is what a code stands for.
type grant struct {
	challenge, redirect string
	claims              map[string]any
}

const (
	testClient = "belfry"
	testSecret = "the client's secret"
)

func newTestProvider(t testing.TB) *testProvider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &testProvider{t: t, key: key, codes: map[string]grant{}, refresh: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.write(w, 200, map[string]any{
			"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/auth", "token_endpoint": p.server.URL + "/token",
			"userinfo_endpoint": p.server.URL + "/userinfo",
			"jwks_uri":          p.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.write(w, 200, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userinfo)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *testProvider) write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// config is how the service is told of the provider.
func (p *testProvider) config() config.OIDC {
	return config.OIDC{
		Issuer: p.server.URL, Name: "Test", ClientID: testClient, ClientSecret: testSecret, Customer: "default",
		Scopes: "openid profile", Recheck: config.Duration(15 * time.Minute), RoleClaim: "groups.belfry", Roles: map[string]string{"staff": "viewer", "night shift": "operator", "root": "administrator"},
	}
}

// approve is a person who logs in at the provider, to which the browser was sent. What the test changes in the claims is
// what the provider lies about.
func (p *testProvider) approve(location string, change func(map[string]any)) (code, state string) {
	p.t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	if q.Get("client_id") != testClient || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" {
		p.t.Errorf("the browser was sent to %s", location)
	}
	claims := map[string]any{
		"iss": p.server.URL, "aud": testClient, "sub": "4711", "nonce": q.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		"preferred_username": "eve@example", "groups": map[string]any{"belfry": []any{"staff", 7, "night shift", "other"}},
	}
	if change != nil {
		change(claims)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code = rand.Text()
	p.codes[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), claims}
	return code, q.Get("state")
}

// change changes what the provider says of everybody who has logged in; nil forgets them.
func (p *testProvider) change(f func(map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == nil {
		clear(p.refresh)
	}
	for _, claims := range p.refresh {
		f(claims)
	}
}

// keep makes a refresh token. Each is good for one use.
func (p *testProvider) keep(answer, claims map[string]any) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.noRefresh {
		token := rand.Text()
		p.refresh[token] = claims
		answer["refresh_token"], answer["access_token"] = token, "access "+token
	}
	return answer
}

// again gives its word for a refresh token.
func (p *testProvider) again(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	claims, ok := p.refresh[r.FormValue("refresh_token")]
	delete(p.refresh, r.FormValue("refresh_token"))
	p.asked++
	p.mu.Unlock()
	if !ok {
		p.write(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	claims["exp"] = time.Now().Add(time.Minute).Unix()
	answer := p.keep(map[string]any{"token_type": "Bearer", "expires_in": 60}, claims)
	if !p.sparing {
		answer["id_token"] = p.sign(claims)
	}
	p.write(w, 200, answer)
}

func (p *testProvider) userinfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	claims, ok := p.refresh[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer access ")]
	p.mu.Unlock()
	if !ok {
		p.write(w, 401, map[string]any{"error": "invalid_token"})
		return
	}
	p.write(w, 200, claims)
}

// token gives its word for a code, once, to who asked for it.
func (p *testProvider) token(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("grant_type") == "refresh_token" {
		p.again(w, r)
		return
	}
	p.mu.Lock()
	g, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	p.asked++
	p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if unescaped, err := url.QueryUnescape(secret); err == nil {
		secret = unescaped
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || id != testClient || secret != testSecret || b64(sum[:]) != g.challenge || r.FormValue("redirect_uri") != g.redirect {
		p.write(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	p.write(w, 200, p.keep(map[string]any{"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": p.sign(g.claims)}, g.claims))
}

func (p *testProvider) sign(claims map[string]any) string {
	body, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	text := b64([]byte(`{"alg":"RS256","kid":"one","typ":"JWT"}`)) + "." + b64(body)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Fatal(err)
	}
	return text + "." + b64(sig)
}

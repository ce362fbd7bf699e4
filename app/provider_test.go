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
	"sync"
	"testing"
	"time"
)

// testProvider is a small OpenID Connect provider on this machine. It vouches for whomever a test says.
type testProvider struct {
	t      testing.TB
	server *httptest.Server
	key    *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]grant
	asked int // for tokens
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
	p := &testProvider{t: t, key: key, codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.write(w, 200, map[string]any{
			"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/auth", "token_endpoint": p.server.URL + "/token",
			"jwks_uri": p.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.write(w, 200, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", p.token)
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
func (p *testProvider) config() OIDC {
	return OIDC{
		Issuer: p.server.URL, Name: "Test", ClientID: testClient, ClientSecret: testSecret, Customer: "default",
		RoleClaim: "groups.belfry", Roles: map[string]string{"staff": "viewer", "night shift": "operator", "root": "administrator"},
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

// token gives its word for a code, once, to who asked for it.
func (p *testProvider) token(w http.ResponseWriter, r *http.Request) {
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
	p.write(w, 200, map[string]any{"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": p.sign(g.claims)})
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

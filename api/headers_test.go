package api

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestMetricsHost: a browser on this machine that speaks for another site gets nothing.
func TestMetricsHost(t *testing.T) {
	h := newHouse(t)
	h.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	f := func(host string, want int) {
		t.Helper()
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1234", host
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("host %q: %d", host, rec.Code)
		}
	}
	f("127.0.0.1:8080", 200)
	f("localhost:8080", 200)
	f("rebound.example:8080", 404)
}

// TestProtected: every answer, errors included, says what a browser may do with it; over TLS also that TLS is to be used.
func TestProtected(t *testing.T) {
	h := newHouse(t)
	f := func(handler http.Handler, path string, secure bool) {
		t.Helper()
		r := httptest.NewRequest("GET", path, nil)
		if secure {
			r.TLS = &tls.ConnectionState{}
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		want := map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
			"Strict-Transport-Security": "",
		}
		if secure {
			want["Strict-Transport-Security"] = "max-age=31536000"
		}
		for name, value := range want {
			if got := rec.Header().Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", path, name, got, value)
			}
		}
	}
	for _, secure := range []bool{false, true} {
		for _, path := range []string{"/", "/healthz", "/api/version", "/api/session", "/api/sql", "/nowhere", "/d", "/metrics"} {
			f(h, path, secure)
		}
		f(Starting(func() error { return nil }), "/readyz", secure)
	}
}

package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAdminHost: the profiler and the metrics of the admin listener are not for pages of other sites.
func TestAdminHost(t *testing.T) {
	cfg := Default(testCatalog(t))
	cfg.Listen, cfg.AdminListen, cfg.AdminHosts = "127.0.0.1:8080", "0.0.0.0:9000", "mon.example.org, mon2"
	h := ownHosts(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), cfg.hostNames())
	f := func(host string, want int) {
		t.Helper()
		r := httptest.NewRequest("GET", "/debug/pprof/", nil)
		r.Host = host
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("host %q: %d", host, rec.Code)
		}
	}
	f("127.0.0.1:9000", 200)
	f("10.0.0.7:9000", 200)
	f("localhost:9000", 200)
	f("mon.example.org:9000", 200)
	f("mon2", 200)
	f("rebound.example:9000", 403)
	f("", 403)
}

package listen

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/config"
)

// TestAdminHost: the profiler and the metrics of the admin listener are not for pages of other sites.
func TestAdminHost(t *testing.T) {
	cfg := config.Config{Listen: "127.0.0.1:8080", AdminListen: "0.0.0.0:9000", AdminHosts: "mon.example.org, mon2"}
	h := ownHosts(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), cfg.HostNames())
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

// TestStarting: while the service starts the profiler answers, and everything else says so.
func TestStarting(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default(cat)
	cfg.Listen, cfg.AdminListen, cfg.Data = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	starting := func() error { return belfry.Errorf(belfry.StorageUnavailable, "the service is starting") }
	l, err := Open(cfg, Sizes{Connections: 4, Waiting: 4}, starting, slog.New(slog.DiscardHandler), make(chan error, 3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(context.Background(), func() {}) })
	f := func(path string, want int) {
		t.Helper()
		res, err := http.Get("http://" + l.Taken["admin_listen"] + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	f("/debug/pprof/goroutine", 200)
	f("/metrics", 503)
	f("/api/health", 503)
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
	}
	l.Handle(answer("api"), answer("metrics"), answer("control"))
	f("/debug/pprof/goroutine", 200)
	f("/metrics", 200)
	f("/api/health", 404)
}

func TestPageURL(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	f := func(scheme, addr, want string) {
		t.Helper()
		at, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := pageURL(scheme, at); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	f("http", "127.0.0.1:8080", "http://127.0.0.1:8080/ui/")
	f("https", "[::1]:8443", "https://[::1]:8443/ui/")
	f("https", "0.0.0.0:8443", "https://"+name+":8443/ui/")
	f("https", "[::]:8443", "https://"+name+":8443/ui/")
}

package listen

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

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

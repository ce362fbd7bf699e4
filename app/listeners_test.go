package app

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/config"
)

// TestAdminHost: the profiler and the metrics of the admin listener are not for pages of other sites.
func TestAdminHost(t *testing.T) {
	cfg := config.Default(testCatalog(t))
	cfg.Listen, cfg.AdminListen, cfg.AdminHosts = "127.0.0.1:8080", "0.0.0.0:9000", "mon.example.org, mon2"
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

// TestStopAnswersBodies: who has sent a part of a body and is silent when the service stops gets an answer, and the connection is not cut off.
func TestStopAnswersBodies(t *testing.T) {
	r := startService(t, func(c *config.Config) { c.Limits.Stop = config.Duration(2 * time.Second) })
	key := r.key("agent", belfry.LevelReadWrite, "default")
	if _, res, text := r.do("POST", "/api/provisioning/custom", "name\nweb01\n", "X-Api-Key: "+key); res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, text)
	}
	out, in := io.Pipe()
	reading, stopped := make(chan struct{}), make(chan struct{}) // closed when the service begins to read, and when it has ended
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	req, err := http.NewRequestWithContext(ctx, "POST", r.base+"/api/send", out)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"text/csv"}, "Expect": {"100-continue"}}
	go func() {
		<-reading
		io.WriteString(in, "type,resname,object,class,view,i1\n"+strings.Repeat("data,web01,cpu,generic,web01,1\n", 20_000)) // more than are decided at a time
		r.stop()
		r.await("msg=stopped")
		in.Close() // a client whose connection was cut off would wait for it
		close(stopped)
	}()
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 503 || !res.Close || !strings.Contains(string(text), "rows of this body have been dealt with: ") ||
		!strings.Contains(string(text), "the server is stopping") {
		t.Errorf("%s %s %v", res.Status, text, err)
	}
	<-stopped
	if r.log.last("cut off") != "" {
		t.Error("requests were cut off")
	}
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

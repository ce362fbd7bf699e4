package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

func TestLegacyPaths(t *testing.T) {
	const objects = 150
	lines := strings.Split(strings.TrimSpace(string(legacyPaths(queryPath, "a&b", objects, 2))), "\n")
	if len(lines) != 2*objects {
		t.Fatalf("%d addresses", len(lines))
	}
	for i, line := range lines {
		u, err := url.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		q, object := u.Query(), i%objects
		if u.Path != queryPath || q.Get("apikey") != "a&b" || q.Get("resname") != fmt.Sprintf("res%05d", object/perResource) || q.Get("o") != fmt.Sprintf("obj%07d", object) {
			t.Fatalf("address %d is %s", i, line)
		}
		for n := 1; n <= values; n++ {
			if _, err := strconv.ParseFloat(q.Get("i"+strconv.Itoa(n)), 64); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestParseWrk(t *testing.T) {
	const good = "Running 1s test @ http://127.0.0.1:1\n  1 threads and 64 connections\n" +
		"outcome requests=5010 micros=2000000 status=10 connect=1 read=2 write=3 timeout=4 p50=400 p99=1500 max=20000\n"
	o, err := parseWrk(good)
	if err != nil {
		t.Fatal(err)
	}
	want := wrkOutcome{requests: 5000, refused: 10, failed: 10, seconds: 2, p50: 0.4, p99: 1.5, max: 20}
	if *o != want || o.rate() != 2500 {
		t.Errorf("got %+v, want %+v", *o, want)
	}
	for _, bad := range []string{"", "Running\n", strings.ReplaceAll(good, " p99=1500", ""), strings.ReplaceAll(good, "=1500", "=many"), strings.ReplaceAll(good, "=1500", "")} {
		if o, err := parseWrk(bad); err == nil {
			t.Errorf("%q gives %+v", bad, o)
		}
	}
}

// TestWrk runs the load generator for a second each against the bare handler, and holds what it tells against what the
// handler has seen.
func TestWrk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	f := func(path, key string, takes bool) {
		t.Helper()
		var took, refused atomic.Int64
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if bareTakes(r) {
				took.Add(1)
			} else {
				refused.Add(1)
			}
			bareAnswer(w, r)
		}))
		defer h.Close()
		o, err := runWrk(t.Context(), wrk, t.TempDir(), h.Listener.Addr().String(), legacyPaths(path, key, 100, 2), 1)
		if err != nil {
			t.Fatal(err)
		}
		if o.failed != 0 || o.seconds <= 0 || o.p50 <= 0 || o.p99 < o.p50 || o.max < o.p99 {
			t.Errorf("figures do not fit: %+v", o)
		}
		if takes {
			if err := checkStored(o, int(took.Load())); err != nil || o.refused != 0 {
				t.Error(err, o.refused)
			}
		} else if more := int(refused.Load()) - o.refused; o.requests != 0 || o.refused == 0 || more < 0 || more > wrkConnections {
			t.Errorf("%+v, the handler refused %d", o, refused.Load())
		}
	}
	f(plainPath, "", true)
	f(queryPath, "key", true)
	f(queryPath, "", false)
}

func TestCheckStored(t *testing.T) {
	f := func(o wrkOutcome, stored int, want bool) {
		t.Helper()
		if err := checkStored(&o, stored); (err == nil) != want {
			t.Errorf("%+v, %d stored: %v", o, stored, err)
		}
	}
	f(wrkOutcome{requests: 1000}, 1000, true)
	f(wrkOutcome{requests: 1000}, 1000+wrkConnections, true)
	f(wrkOutcome{requests: 1000}, 1001+wrkConnections, false)
	f(wrkOutcome{requests: 1000}, 999, false)
	f(wrkOutcome{requests: 1000, failed: 1}, 1000, false)
	f(wrkOutcome{requests: 1000, refused: 5}, 1000, true)
	f(wrkOutcome{refused: 5}, 0, false)
}

// TestFindWrk: whoever lacks the load generator, and cannot have it installed, is told what to do.
func TestFindWrk(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	path, err := findWrk(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "apt-get install wrk") || !strings.Contains(err.Error(), "-only") {
		t.Errorf("found %q: %v", path, err)
	}
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// heavyLines sends log lines that make heavyQuery work for many seconds.
func heavyLines(p *process, key string) {
	p.t.Helper()
	text := strings.Repeat("lorem ipsum dolor sit amet ", 4)
	for range 4 {
		var b strings.Builder
		b.WriteString("type,resname,object,class,view,log\n")
		for range 50_000 {
			b.WriteString("log,res,o,load,res," + text + "\n")
		}
		if a := p.post("/api/send", key, b.String()); a.accepted != 50_000 {
			p.t.Fatalf("%.300s", a)
		}
	}
}

// heavyQuery looks for many patterns in every line and finds none.
func heavyQuery() string {
	var terms []string
	for i := range 80 {
		terms = append(terms, fmt.Sprintf("log LIKE '%%l_rem%%d_lor%%%d%%'", i))
	}
	return "SELECT COUNT(*) FROM objectlog WHERE timestamp >= '2020-01-01' AND (" + strings.Join(terms, " OR ") + ")"
}

// TestLongQueries: a query that takes longer than one may is ended and answered with an error; so is one whose client went
// away, as soon as it has, by GET and by POST. Meanwhile rows are taken.
func TestLongQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	p := limited(t, "limits: {query_time: 1s}")
	key := p.customer("long")
	heavyLines(p, key)
	start := time.Now()
	res := p.ask("GET", "/api/sql?q="+url.QueryEscape(heavyQuery()), "", "X-Api-Key: "+key)
	t.Logf("answered after %s", time.Since(start).Round(time.Millisecond))
	if res.StatusCode != 503 || res.code != "overloaded" || !strings.Contains(res.body, "the query took longer than 1s") {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	if n := p.metric(`belfry_queries_total{outcome="timeout"}`); n != 1 || p.metric("belfry_queries_running") != 0 {
		t.Errorf("%d queries took too long", n)
	}
	p.stop()
}

// TestClientsLeave: see TestLongQueries.
func TestClientsLeave(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	p := limited(t, "limits: {query_time: 10m}")
	key := p.customer("leaving")
	heavyLines(p, key)
	ask := func(ctx context.Context, method string) *http.Request {
		r, err := http.NewRequestWithContext(ctx, method, p.base+"/api/sql", nil)
		if method == "POST" {
			r, err = http.NewRequestWithContext(ctx, method, p.base+"/api/sql", strings.NewReader(url.Values{"q": {heavyQuery()}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else {
			r.URL.RawQuery = url.Values{"q": {heavyQuery()}}.Encode()
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", key)
		return r
	}
	for i, method := range []string{"GET", "POST"} {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			res, err := p.client.Do(ask(ctx, method))
			if err == nil {
				res.Body.Close()
			}
			left <- err
		}()
		p.until("the query runs", func() bool { return p.metric("belfry_statements_running") == 1 })
		if a := p.post("/api/send", key, body(10)); a.status != 200 {
			t.Errorf("rows meanwhile: %s", a)
		}
		leave()
		if err := <-left; err == nil {
			t.Fatal("it was over too early to show anything")
		}
		start := time.Now()
		p.until("the query has ended", func() bool { return p.metric("belfry_queries_running")+p.metric("belfry_statements_running") == 0 })
		t.Logf("%s: ended %s after its client left", method, time.Since(start).Round(time.Millisecond))
		if n := p.metric(`belfry_queries_total{outcome="gone"}`); n != i+1 {
			t.Errorf("%s: %d queries were left", method, n)
		}
	}
	p.stop()
	if log := p.logged(); strings.Contains(log, "level=ERROR") {
		t.Error("a client that leaves is no fault of ours, and should not look like one in the log")
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSlowSenders: connections that say nothing, little by little or half of something are ended, each in the documented
// way, and meanwhile others are served.
func TestSlowSenders(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const each = 50
	p := limited(t, "limits: {bulk_requests: 8, idle: 2s, wait: 500ms}")
	slow, healthy := p.customer("slow"), p.customer("healthy")
	before := p.memory("VmHWM")
	var ended atomic.Int64
	var answers sync.Map
	var all sync.WaitGroup
	crawl := func(kind string, start func(w wire), next string) {
		w := p.dial()
		start(w)
		all.Go(func() {
			over := make(chan struct{})
			if next != "" {
				all.Go(func() { w.trickle(next, over) })
			}
			a := w.answer()
			close(over)
			ended.Add(1)
			n, _ := answers.LoadOrStore(fmt.Sprint(kind, " ", a.status, " ", a.code), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		})
	}
	for range each {
		crawl("silence", func(w wire) {}, "")
		crawl("head", func(w wire) { fmt.Fprint(w, "POST /api/send HTTP/1.1\r\nHost: x\r\n") }, "X-A: b\r\n")
		crawl("half", func(w wire) { w.begin(slow, 1000, header) }, "")
		crawl("drops", func(w wire) { w.begin(slow, 100_000, header) }, "d")
	}
	served := 0
	for ; ended.Load() < 4*each; served++ {
		if a := p.post("/api/send", healthy, body(3)); a.status != 200 || a.accepted != 3 {
			t.Fatalf("a healthy client: %s", a)
		}
		time.Sleep(10 * time.Millisecond)
	}
	all.Wait()
	got := map[string]int64{}
	answers.Range(func(k, v any) bool { got[k.(string)] = v.(*atomic.Int64).Load(); return true })
	t.Logf("%v; %d healthy bodies meanwhile; memory %d MiB, before %d", got, served, p.memory("VmHWM"), before)
	if got["silence 0 "] != each || got["head 0 "] != each {
		t.Error("who does not even ask is not answered")
	}
	for _, kind := range []string{"half", "drops"} {
		if in, out := got[kind+" 400 bad_csv"], got[kind+" 503 overloaded"]; in == 0 || in+out != each {
			t.Errorf("%s: %d ended in their place, %d before they got one", kind, in, out)
		}
	}
	if got["half 400 bad_csv"]+got["drops 400 bad_csv"] < 8 || served == 0 {
		t.Error("the places were not all taken, so nothing is shown")
	}
	if n := p.rows(healthy, "objectdata"); n != 3*served {
		t.Errorf("%d rows are stored", n)
	}
	// A connection has buffers and a stack; 200 of them are no reason to grow.
	if grown, most := p.memory("VmHWM")-before, 100*raceFactor; grown > most {
		t.Errorf("the memory grew by %d MiB", grown)
	}
	p.until("all places are free", func() bool { return p.metric("belfry_bulk_requests")+p.metric("belfry_bulk_requests_waiting") == 0 })
	p.checkCounters()
	p.stop()
}

// trickle sends a little now and then until it is told to stop, or nobody takes it.
func (w wire) trickle(text string, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(200 * time.Millisecond):
		}
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// TestSlowReaders: who asks for much and takes nothing of it is cut off; until then it holds up nobody else, and of its
// own customer only queries beyond the limit.
func TestSlowReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	p := limited(t, "limits: {idle: 3s, wait: 100ms}")
	slow, other := p.customer("slow"), p.customer("other")
	text := strings.Repeat("lorem ipsum ", 300)
	for i := range 4 {
		var labels, lines strings.Builder
		labels.WriteString("name,view,text\n")
		lines.WriteString("type,resname,object,class,view,log\n")
		for n := range 1000 {
			fmt.Fprintf(&labels, "label %d %d,MAIN,%s\n", i, n, text)
			fmt.Fprintf(&lines, "log,res,o,load,res,%s\n", text)
		}
		if a := p.post("/api/provisioning/label", slow, labels.String()); a.accepted != 1000 {
			t.Fatalf("%.300s", a)
		}
		if a := p.post("/api/send", slow, lines.String()); a.accepted != 1000 {
			t.Fatalf("%.300s", a)
		}
	}
	const query = "/api/sql?rows=4000&wt=csv&q=SELECT+log+FROM+objectlog"
	var stuck []wire
	for _, target := range []string{query, query, query, query, "/api/provisioning/label"} {
		w := p.dial()
		fmt.Fprintf(w, "GET %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n\r\n", target, slow)
		if _, err := w.in.Peek(1); err != nil { // the answer has begun
			t.Fatal(err)
		}
		stuck = append(stuck, w)
	}
	for _, key := range []string{slow, other} {
		if a := p.post("/api/send", key, body(5)); a.status != 200 || a.accepted != 5 {
			t.Errorf("a body meanwhile: %s", a)
		}
		if a := p.post("/api/provisioning/custom", key, "name\nres\nmore\n"); a.status != 200 {
			t.Errorf("provisioning meanwhile: %s", a)
		}
	}
	if n := p.rows(other, "objectdata"); n != 5 {
		t.Errorf("a query of another customer meanwhile: %d rows", n)
	}
	p.until("the queries are cut off", func() bool {
		res := p.ask("GET", "/api/sql?q=SELECT+name+FROM+objectstatus", "", "X-Api-Key: "+slow)
		if res.StatusCode != 200 && (res.StatusCode != 429 || res.code != "rate_limited" || res.Header.Get("Retry-After") == "") {
			t.Fatalf("%d %s", res.StatusCode, res.body)
		}
		return res.StatusCode == 200
	})
	p.until("all are cut off", func() bool { return strings.Count(p.logged(), "status=499") == len(stuck) })
	for i, w := range stuck {
		res, err := http.ReadResponse(w.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, res.Body); err == nil || errors.Is(err, os.ErrDeadlineExceeded) || n < 1000 {
			t.Errorf("answer %d is not cut off: %d bytes, %v", i, n, err)
		}
	}
	p.stop()
	if log := p.logged(); strings.Contains(log, "level=ERROR") {
		t.Error("a slow reader is no fault of ours, and should not look like one in the log")
	}
}

// TestConnections: beyond the limit a connection waits until another ends; one that lies idle has to make room.
func TestConnections(t *testing.T) {
	const most = 20
	p := limited(t, fmt.Sprintf("limits: {connections: %d}\nadmin_listen: 127.0.0.1:0", most))
	admin := regexp.MustCompile(`listening for administration" .*addr=(\S+)`).FindStringSubmatch(p.logged())
	key := p.customer("default customer")
	p.client.CloseIdleConnections()
	aside := &process{t: t, client: p.client, base: "http://" + admin[1]} // it needs none of the connections
	open := func() int { return aside.metric(`belfry_connections{state="open"}`) }
	resting := func() int { return aside.metric(`belfry_connections{state="idle"}`) }
	ask := func(w wire) { fmt.Fprint(w, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") }

	p.until("nobody is there", func() bool { return open() == 0 })
	var idle []wire
	for range most {
		w := p.dial()
		if ask(w); w.answer().status != 200 {
			t.Fatal("no answer")
		}
		idle = append(idle, w)
		p.until("it is idle, and after those before it", func() bool { return resting() == len(idle) })
	}
	for range 3 {
		w := p.dial()
		if ask(w); w.answer().status != 200 {
			t.Fatal("a newcomer is kept out by idle connections")
		}
		idle = append(idle, w)
	}
	for i, w := range idle[:3] { // the first ones had been idle longest
		if _, err := w.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d is still open: %v", i, err)
		}
	}
	for _, w := range idle {
		w.Close()
	}

	// Now all of them are busy: the next one waits, and gets the place of the first that ends.
	const one = "data,res,cpu,load,res,1\n"
	var busy []wire
	for range most {
		w := p.dial()
		w.begin(key, len(header)+2*len(one), header+one)
		busy = append(busy, w)
	}
	last := p.dial()
	ask(last)
	p.until("all are in", func() bool { return open() == most && resting() == 0 })
	if n := open(); n != most {
		t.Errorf("%d connections are open", n)
	}
	fmt.Fprint(busy[0], one)
	if a := busy[0].answer(); a.status != 200 || a.accepted != 2 {
		t.Errorf("%s", a)
	}
	if a := last.answer(); a.status != 200 {
		t.Errorf("who waited: %s", a)
	}
	for _, w := range busy[1:] {
		fmt.Fprint(w, one)
		if a := w.answer(); a.status != 200 || a.accepted != 2 {
			t.Errorf("%s", a)
		}
	}
	p.stop()
}

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// relay stands between a client and the server of a script, so that a script can have its client killed, or its server
// away, at one certain request and not at some moment.
type relay struct {
	mu     sync.Mutex
	base   string // of the server; empty while there is none
	hold   int    // the request whose answer never arrives; 0 for none
	count  int
	held   chan struct{} // closed when that answer is there and is being held
	missed chan struct{} // closed when a request has met no server
}

type relayKey struct{}

// cmdRelay sets the relay up: on, off, or hold N, which is on and keeps the answer to request N for itself.
func cmdRelay(ts *testscript.TestScript, neg bool, args []string) {
	r, ok := ts.Value(relayKey{}).(**relay)
	if !ok {
		ts.Fatalf("no place for a relay")
	}
	if *r == nil {
		*r = &relay{}
		srv := httptest.NewServer(*r)
		ts.Setenv("RELAY", srv.URL)
		ts.Defer(srv.Close)
	}
	base, hold := of(ts).base, 0
	switch {
	case len(args) == 1 && args[0] == "on":
	case len(args) == 1 && args[0] == "off":
		base = ""
	case len(args) == 2 && args[0] == "hold":
		var err error
		hold, err = strconv.Atoi(args[1])
		ts.Check(err)
	default:
		ts.Fatalf("usage: relay on|off|hold N")
	}
	(*r).set(base, hold)
}

func (r *relay) set(base string, hold int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base, r.hold, r.count = base, hold, 0
	r.held, r.missed = make(chan struct{}), make(chan struct{})
}

// cmdAwaitRelay waits until an answer is held, or until a request has missed the server.
func cmdAwaitRelay(ts *testscript.TestScript, neg bool, args []string) {
	r := *ts.Value(relayKey{}).(**relay)
	r.mu.Lock()
	event := map[string]chan struct{}{"held": r.held, "missed": r.missed}[args[0]]
	r.mu.Unlock()
	select {
	case <-event:
	case <-time.After(60 * time.Second): // only to end a test that hangs
		ts.Fatalf("the relay waited in vain for %s", args[0])
	}
}

func (r *relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.count++
	base, hold, held := r.base, r.count == r.hold, r.held
	if base == "" && r.count == 1 {
		close(r.missed)
	}
	r.mu.Unlock()
	body, err := io.ReadAll(q.Body)
	if base == "" || err != nil {
		panic(http.ErrAbortHandler)
	}
	out, err := http.NewRequest(q.Method, base+q.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header = q.Header.Clone()
	res, err := http.DefaultClient.Do(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	if hold {
		close(held)
		<-q.Context().Done() // until the client is gone
		return
	}
	w.WriteHeader(res.StatusCode)
	io.Copy(w, res.Body)
}

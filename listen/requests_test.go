package listen

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestRequestShares: an address may have all requests; a few more are for addresses that have few.
func TestRequestShares(t *testing.T) {
	q := newRequests(64)
	f := func(from string, n, want int) {
		t.Helper()
		got := 0
		for range n {
			if q.begin(from) {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d of %d may be served, want %d", from, got, n, want)
		}
	}
	f("a", 100, 64)
	f("b", 10, 4)
	f("c", 10, 4)
	f("d", 10, 4)
	f("e", 10, 4)
	f("f", 10, 0) // five quarters are the most
	for range 17 {
		q.end("a")
	}
	f("a", 10, 1)
	f("g", 10, 4)
	for from, n := range map[string]int{"a": 48, "b": 4, "c": 4, "d": 4, "e": 4, "g": 4} {
		for range n {
			q.end(from)
		}
	}
	if q.n != 0 || len(q.by) != 0 {
		t.Errorf("%d requests of %v are left", q.n, q.by)
	}
}

// rawHTTP2 is a client that sends and reads frames one by one.
type rawHTTP2 struct {
	t *testing.T
	*http2.Framer
}

// limitedHTTP2 is a server with some slots, and a connection to it with a window of so many bytes for answers.
func limitedHTTP2(t *testing.T, slots int, window uint32, h http.HandlerFunc) (*connLimiter, *rawHTTP2) {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newConnLimiter(in, slots, 32)
	d := newHTTPServer(l, h, nil, slog.New(slog.DiscardHandler), "test", make(chan error, 1), l.limit, func(d *httpServer) {
		d.server.Protocols = new(http.Protocols)
		d.server.Protocols.SetUnencryptedHTTP2(true)
	})
	t.Cleanup(func() {
		d.server.Close()
		<-d.done
	})
	c, err := net.Dial("tcp", in.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, http2.ClientPreface)
	raw := &rawHTTP2{t, http2.NewFramer(c, c)}
	raw.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := raw.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		t.Fatal(err)
	}
	return l, raw
}

func (r *rawHTTP2) get(stream uint32) {
	r.t.Helper()
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/"}} {
		e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	if err := r.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
		r.t.Fatal(err)
	}
}

// answer reads until the header of an answer has come.
func (r *rawHTTP2) answer() *http2.MetaHeadersFrame {
	r.t.Helper()
	for {
		f, err := r.ReadFrame()
		if err != nil {
			r.t.Fatal(err)
		}
		if f, ok := f.(*http2.MetaHeadersFrame); ok {
			return f
		}
	}
}

func headerOf(f *http2.MetaHeadersFrame) map[string]string {
	h := map[string]string{}
	for _, f := range f.Fields {
		h[f.Name] = f.Value
	}
	return h
}

// TestRequestsInProgress: each request too many on a connection of HTTP/2 gets 503 without a body, even when the client has no window
// for answers. The connection stays, and what comes when there is room is served.
func TestRequestsInProgress(t *testing.T) {
	const most, more = 4, 60
	began, end, n := make(chan bool), make(chan bool), new(atomic.Int64)
	l, c := limitedHTTP2(t, most, 0, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) <= most {
			began <- true
			<-end
		}
	})
	stream := uint32(1)
	next := func() {
		t.Helper()
		c.get(stream)
		stream += 2
	}
	for range most {
		next()
		<-began
	}
	for range more {
		next()
	}
	for ended := 0; ended < more; {
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			if h := headerOf(f); f.StreamID <= 2*most || h[":status"] != "503" || h["retry-after"] != "1" || h["content-length"] != "0" {
				t.Fatalf("stream %d: %v", f.StreamID, h)
			}
			if f.StreamEnded() {
				ended++
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				ended++
			}
			if len(f.Data()) > 0 {
				t.Errorf("a body: %q", f.Data())
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			t.Fatalf("%v", f)
		}
	}
	if n.Load() != most || l.inUse.count() != more {
		t.Errorf("%d served, %d refused", n.Load(), l.inUse.count())
	}
	close(end)
	for range most {
		c.answer()
	}
	for {
		next()
		h := headerOf(c.answer())
		if h[":status"] == "200" {
			break
		}
		if h[":status"] != "503" { // the last of the others may not have ended yet
			t.Fatalf("afterwards: %v", h)
		}
	}
}

// TestRequestsUnread: a request is in progress until its answer has been taken, however short that is.
func TestRequestsUnread(t *testing.T) {
	_, c := limitedHTTP2(t, 4, 0, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "short") })
	for i := range uint32(5) {
		c.get(1 + 2*i)
		if h := headerOf(c.answer()); i < 4 != (h[":status"] == "200") {
			t.Errorf("request %d: %v", i, h)
		}
	}
}

// stuckAnswer is an answer whose client takes nothing until the test lets it.
type stuckAnswer struct {
	*httptest.ResponseRecorder
	stuck, release chan struct{}
}

func (a *stuckAnswer) FlushError() error {
	a.stuck <- struct{}{}
	<-a.release
	return nil
}

// TestRequestsRefused: all requests of a few connections get their 503 when they come at once, however few are served. Answers that
// refuse are bounded, too; when many of them wait to be sent, streams are reset instead.
func TestRequestsRefused(t *testing.T) {
	for _, most := range []int{4, 40, 4000} {
		q, all := newRequests(most), sync.WaitGroup{}
		stuck, release := make(chan struct{}), make(chan struct{})
		for range max(256, most/4) {
			all.Go(func() {
				defer func() {
					if e := recover(); e != nil {
						t.Errorf("with %d slots a stream is reset", most)
						stuck <- struct{}{}
					}
				}()
				a := &stuckAnswer{httptest.NewRecorder(), stuck, release}
				q.refuse(a)
				if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") != "1" {
					t.Errorf("%d %v", a.Code, a.Header())
				}
			})
			<-stuck
		}
		func() {
			defer func() {
				if e := recover(); e != http.ErrAbortHandler {
					t.Errorf("one more: %v", e)
				}
			}()
			q.refuse(nil)
		}()
		close(release)
		all.Wait()
		if q.refusing != 0 || q.count() != max(256, most/4)+1 {
			t.Errorf("%d are being refused, %d were", q.refusing, q.count())
		}
	}
}

// TestFirstOfManyConnections: a client of HTTP/2 opens more connections than there are slots and uses the first. It keeps it.
func TestFirstOfManyConnections(t *testing.T) {
	const slots = 4
	l, c := limitedHTTP2(t, slots, 1<<16, func(http.ResponseWriter, *http.Request) {})
	var idle []net.Conn
	for range slots + 2 {
		n, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		fmt.Fprint(n, http2.ClientPreface)
		f := http2.NewFramer(n, n)
		if err := f.WriteSettings(); err != nil {
			t.Fatal(err)
		}
		if len(idle) < slots-1 {
			if _, err := f.ReadFrame(); err != nil { // it has a place, and nothing to do
				t.Fatal(err)
			}
		}
		idle = append(idle, n)
	}
	for !l.full() {
		runtime.Gosched()
	}
	c.get(1)
	if h := headerOf(c.answer()); h[":status"] != "200" {
		t.Error(h)
	}
}

package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/accounts"
)

// awaited is a body that tells when the server waits for more than has been sent.
type awaited struct {
	io.ReadCloser
	left  int // bytes that have been sent and not been read
	waits chan<- struct{}
}

func (a *awaited) Read(p []byte) (int, error) {
	if a.left == 0 {
		a.left = -1
		a.waits <- struct{}{}
	}
	n, err := a.ReadCloser.Read(p)
	a.left -= n
	return n, err
}

// stopHouse is a house behind a socket, for bodies of which so many bytes come before the service stops. It ends bodies when the server waits for more.
func stopHouse(t *testing.T, sent int, http2 bool) (h *house, srv *httptest.Server, key string) {
	t.Helper()
	h = newBulkHouse(t)
	h.chunk = 1 // a row at a time
	l := *h.limits.Load()
	l.Body = 1 << 30
	h.SetLimits(l)
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	waits := make(chan struct{})
	srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &awaited{r.Body, sent, waits}
		h.ServeHTTP(w, r)
	}))
	if srv.EnableHTTP2 = http2; http2 {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	go func() {
		<-waits
		h.EndBodies()
	}()
	return h, srv, key
}

// packedIn is a text packed, as far as it goes, with more to come.
func packedIn(t *testing.T, encoding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		io.Writer
		Flush() error
	}
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestStopAnswersBodies: clients that are in the middle of a body when the service stops, and are silent, learn how much of it is stored.
func TestStopAnswersBodies(t *testing.T) {
	const body = "name\nearly 1\n\"\"\nearly 2\n"
	const stopping = "the server is stopping; send again in a moment"
	const partly = "the first 3 rows of this body have been processed: 2 stored, 1 rejected; send the rows after them again: " + stopping
	f := func(name string, http2, known bool, encoding, how, want string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := packedIn(t, encoding, body)
			h, srv, key := stopHouse(t, len(text), http2)
			out, in := io.Pipe()
			go in.Write(text) // and no more
			t.Cleanup(func() { in.Close() })
			params, header := how, "X-Other: 1"
			if strings.Contains(how, ":") {
				params, header = "", how
			}
			req, err := http.NewRequest("POST", srv.URL+"/api/provisioning/custom"+params, out)
			h.must(err)
			if known {
				req.ContentLength = 1 << 20
			}
			for _, line := range []string{"X-Api-Key: " + key, "Content-Encoding: " + encoding, header} {
				name, value, _ := strings.Cut(line, ": ")
				req.Header.Set(name, value)
			}
			res, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var e struct{ Error errorBody }
			h.must(json.NewDecoder(res.Body).Decode(&e))
			if res.StatusCode != 503 || e.Error.Code != belfry.Overloaded || e.Error.Message != want || res.Header.Get("Retry-After") != "1" {
				t.Errorf("%s %v %+v", res.Status, res.Header, e)
			}
			if (res.ProtoMajor == 2) != http2 || !http2 && !res.Close {
				t.Errorf("%s, closed %v", res.Proto, res.Close)
			}
			if got, stored := h.resource(1, "early 2"), want == partly; got != stored {
				t.Errorf("stored %v", got)
			}
		})
	}
	f("chunked", false, false, "", "", partly)
	f("of known length", false, true, "", "", partly)
	f("HTTP/2", true, false, "", "", partly)
	for _, encoding := range []string{"gzip", "zstd"} {
		f(encoding, false, false, encoding, "", partly)
		f(encoding+" of HTTP/2", true, true, encoding, "", partly)
	}
	for _, how := range []string{"?atomic", "?dryrun", "Idempotency-Key: 1"} {
		f(how, false, false, "", how, "nothing was stored: "+stopping)
		f(how+" gzip", true, false, "gzip", how, "nothing was stored: "+stopping)
	}
}

// TestStopAnswersWhoSends: a client that goes on sending finds the answer before the connection is closed.
func TestStopAnswersWhoSends(t *testing.T) {
	const head = "name\nearly 1\n"
	_, srv, key := stopHouse(t, len(head), false)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/provisioning/custom HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", key, len(head), head)
	in := bufio.NewReader(conn)
	if _, err := in.Peek(1); err != nil { // it has been answered
		t.Fatal(err)
	}
	rest := []byte("5\r\nlate\n\r\n")
	for range 100 {
		if _, err := conn.Write(rest); err != nil {
			t.Fatalf("while it sends: %v", err)
		}
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 503 || !res.Close || !strings.Contains(string(text), "the first row of this body has been processed: 1 stored; ") {
		t.Errorf("%s %s %v", res.Status, text, err)
	}
}

// TestBrokenOffBodies: a body that breaks off is answered with what became of the rows before that, however it is packed.
func TestBrokenOffBodies(t *testing.T) {
	h := newBulkHouse(t)
	h.chunk = 1
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	for i, encoding := range []string{"", "gzip", "zstd"} {
		text := packedIn(t, encoding, fmt.Sprintf("name\n\"\"\nearly %d\n\"\"\n", i))
		r := httptest.NewRequest("POST", "/api/provisioning/custom", io.MultiReader(bytes.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
		r.Header.Set("X-Api-Key", key)
		r.Header.Set("Content-Encoding", encoding)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		const want = `"message":"the first 3 rows of this body have been processed: 1 stored, 2 rejected; send the rows after them again: the body `
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: %d %s", encoding, rec.Code, rec.Body)
		}
	}
}

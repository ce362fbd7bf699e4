package client

import (
	"context"
	"encoding/csv"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"belfry"
)

func rowErrors(lines ...int) (list []belfry.RowError) {
	for _, l := range lines {
		list = append(list, belfry.RowError{Line: l})
	}
	return list
}

const secret = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

// toy is a small server with the promises of the real one: rows with the value "bad" are rejected, answers are
// remembered, errors are listed up to the hundredth.
type toy struct {
	mu      sync.Mutex
	applied []string          // rows, in their order
	answers map[string]string // by Idempotency-Key
	asked   []string          // method, path and query of each request
	before  func(n int, w http.ResponseWriter, r *http.Request) bool
	after   func(n int, w http.ResponseWriter) bool
	lenient bool // what was bad is good when it is asked about again
}

func (s *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.String())
	if s.before != nil && s.before(len(s.asked), w, r) {
		return
	}
	if r.Header.Get("X-Api-Key") != secret {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"code":"invalid_key","message":"the key is not valid"}}`)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	text, known := s.answers[key]
	if !known {
		text = s.apply(r)
		if key != "" {
			s.answers[key] = text
		}
	}
	if s.after != nil && s.after(len(s.asked), w) {
		return
	}
	status, body, _ := strings.Cut(text, " ")
	code := 0
	fmt.Sscan(status, &code)
	w.WriteHeader(code)
	io.WriteString(w, body)
}

func (s *toy) apply(r *http.Request) string {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "zstd" {
		z, err := zstd.NewReader(r.Body)
		if err != nil {
			panic(err)
		}
		defer z.Close()
		body = z
	}
	in := csv.NewReader(body)
	in.FieldsPerRecord = -1
	dry := r.URL.Query().Get("dryrun") == "true"
	var rep belfry.Report
	for first := true; ; first = false {
		rec, err := in.Read()
		if err == io.EOF {
			break
		}
		if first {
			continue
		}
		rep.Rows++
		line, _ := in.FieldPos(0)
		if slices.Contains(rec, "bad") && !(dry && s.lenient) {
			rep.Reject(belfry.RowError{Row: rep.Rows, Line: line, Code: belfry.BadValue, Message: fmt.Sprintf("%q is bad", rec[0])})
			continue
		}
		rep.Accepted++
		if !dry {
			s.applied = append(s.applied, strings.Join(rec, ","))
		}
	}
	status, text := rep.Answer()
	return fmt.Sprint(status, " ", string(text))
}

type bench struct {
	*testing.T
	toy     *toy
	client  *Client
	dir     string
	notices []string
	now     time.Time
}

// open starts a toy server, and a client whose waits take no time.
func open(t *testing.T) *bench {
	b := &bench{T: t, toy: &toy{answers: map[string]string{}}, dir: t.TempDir(), now: time.Unix(1e9, 0)}
	srv := httptest.NewServer(b.toy)
	t.Cleanup(srv.Close)
	c, err := New(Options{URL: srv.URL, Key: secret, Retry: time.Minute, Notice: func(s string) { b.notices = append(b.notices, s) }})
	if err != nil {
		t.Fatal(err)
	}
	c.timing = retryTiming{
		now: func() time.Time { return b.now }, jitter: func() float64 { return 1 },
		wait: func(ctx context.Context, d time.Duration) error { b.now = b.now.Add(d); return ctx.Err() },
	}
	b.client = c
	return b
}

// file writes a file of rows 1 to n, of which some are bad.
func (b *bench) file(n int, bad func(int) bool) string {
	b.Helper()
	var text strings.Builder
	text.WriteString("n,value\n")
	for i := 1; i <= n; i++ {
		value := "good"
		if bad(i) {
			value = "bad"
		}
		fmt.Fprintf(&text, "%d,%s\n", i, value)
	}
	path := filepath.Join(b.dir, "rows.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func none(int) bool { return false }

// send sends a file in parts of ten rows.
func (b *bench) send(path string, change func(*Job)) (*Result, []int, error) {
	b.Helper()
	src, err := Open(path, false)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	var lines []int
	j := Job{
		Method: "POST", Path: SendPath, Source: src, Rows: 10, Rejected: path + ".rejected.csv",
		Problem: func(line int, _ string) { lines = append(lines, line) },
	}
	if change != nil {
		change(&j)
	}
	res, err := b.client.Send(b.Context(), j)
	return res, lines, err
}

func (b *bench) applied(n int) {
	b.Helper()
	if len(b.toy.applied) != n {
		b.Errorf("%d rows are applied, want %d", len(b.toy.applied), n)
	}
	for i, row := range b.toy.applied {
		if !strings.HasPrefix(row, fmt.Sprint(i+1, ",")) {
			b.Fatalf("row %d is %q", i+1, row)
		}
	}
}

func TestSend(t *testing.T) {
	b := open(t)
	path := b.file(35, none)
	var steps []Step
	res, _, err := b.send(path, func(j *Job) { j.Step = func(s Step) { steps = append(steps, s) } })
	if err != nil {
		t.Fatal(err)
	}
	b.applied(35)
	if res.Report.Rows != 35 || res.Report.Accepted != 35 || res.Lines != 36 || res.File != "" {
		t.Errorf("result %+v", res)
	}
	info, _ := os.Stat(path)
	if len(steps) != 4 || steps[1].Rows != 20 || steps[3].Bytes != info.Size() {
		t.Errorf("steps %+v of %d bytes", steps, info.Size())
	}
	// The same again applies nothing, and a fresh run everything.
	if res, _, err := b.send(path, nil); err != nil || res.Report.Accepted != 35 {
		t.Fatal(res, err)
	}
	b.applied(35)
	src, err := Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := b.client.Send(t.Context(), Job{Method: "POST", Path: SendPath, Source: src, Rows: 10}); err != nil || len(b.toy.applied) != 70 {
		t.Errorf("a fresh run: %v, %d rows", err, len(b.toy.applied))
	}
}

// TestResume breaks a run off at every request, before the server has seen it and after it has applied it.
func TestResume(t *testing.T) {
	for stop := 1; stop <= 4; stop++ {
		for _, lost := range []bool{false, true} {
			b := open(t)
			path := b.file(35, none)
			ctx, cancel := context.WithCancel(t.Context())
			b.toy.before = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == stop && !lost {
					cancel()
				}
				return n == stop && !lost
			}
			b.toy.after = func(n int, w http.ResponseWriter) bool {
				if n == stop && lost {
					cancel()
				}
				return n == stop && lost
			}
			src, err := Open(path, false)
			if err != nil {
				t.Fatal(err)
			}
			res, err := b.client.Send(ctx, Job{Method: "POST", Path: SendPath, Source: src, Rows: 10})
			src.Close()
			if err == nil || res.Lines > 10*(stop-1)+1 || !res.Open {
				t.Errorf("stopped at %d: %v, %+v", stop, err, res)
			}
			if res, _, err := b.send(path, nil); err != nil || res.Report.Rows != 35 || res.Report.Accepted != 35 {
				t.Errorf("resumed at %d: %+v, %v", stop, res, err)
			}
			b.applied(35)
		}
	}
}

func TestRejected(t *testing.T) {
	b := open(t)
	path := b.file(35, func(i int) bool { return i == 3 || i == 10 || i == 35 })
	res, lines, err := b.send(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines, []int{4, 11, 36}) || res.Report.Rejected != 3 || res.Report.Errors[2].Row != 35 {
		t.Errorf("lines %v, %+v", lines, res.Report)
	}
	b.rejects(res, "n,value\n3,bad\n10,bad\n35,bad\n")
	// Nothing to reject: the file of the run before goes.
	b.file(35, none)
	if res, _, err := b.send(path, nil); err != nil || res.File != "" {
		t.Fatal(res, err)
	}
	if _, err := os.Stat(path + ".rejected.csv"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the rejected rows of an earlier run are still there: %v", err)
	}
}

func (b *bench) rejects(res *Result, want string) {
	b.Helper()
	got, err := os.ReadFile(res.File)
	if err != nil || string(got) != want {
		b.Errorf("rejected: %v\n%.200s\nwant\n%.200s", err, got, want)
	}
}

// TestManyRejected: the server lists a hundred errors, and all rejected rows are found.
func TestManyRejected(t *testing.T) {
	for _, bad := range []func(int) bool{
		func(int) bool { return true },
		func(i int) bool { return i%2 == 0 },
		func(i int) bool { return i > 500 },
		func(i int) bool { return i <= 101 },
	} {
		b := open(t)
		path := b.file(1000, bad)
		want := "n,value\n"
		n := 0
		for i := 1; i <= 1000; i++ {
			if bad(i) {
				want += fmt.Sprintf("%d,bad\n", i)
				n++
			}
		}
		res, lines, err := b.send(path, func(j *Job) { j.Rows = 600 })
		if err != nil {
			t.Fatal(err)
		}
		b.rejects(res, want)
		if len(lines) != n || res.Report.Rejected != n || res.Unfound != 0 || len(res.Report.Errors) != 100 || !res.Report.Truncated {
			t.Errorf("%d lines, %d rejected, %d unfound, %d errors; want %d", len(lines), res.Report.Rejected, res.Unfound, len(res.Report.Errors), n)
		}
		if got := len(b.toy.applied); got != 1000-n {
			t.Errorf("%d rows applied, want %d", got, 1000-n)
		}
	}
}

// TestUnfound: rejected rows that the server would take now cannot be told from others. They are counted.
func TestUnfound(t *testing.T) {
	b := open(t)
	b.toy.lenient = true
	res, lines, err := b.send(b.file(300, func(i int) bool { return i > 50 }), func(j *Job) { j.Rows = 300 })
	if err != nil || res.Report.Rejected != 250 || len(lines) != 100 || res.Unfound != 150 {
		t.Errorf("%v, %d rejected, %d lines, %d unfound", err, res.Report.Rejected, len(lines), res.Unfound)
	}
}

func TestOriginalBytes(t *testing.T) {
	b := open(t)
	path := filepath.Join(b.dir, "odd.csv")
	if err := os.WriteFile(path, []byte("\xef\xbb\xbfn,\"value\"\r\n1,good\r\n\r\n\"2\n\"\"2\"\"\",bad\r\n3,good\r\n4,bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, lines, err := b.send(path, func(j *Job) { j.Rows = 1 })
	if err != nil {
		t.Fatal(err)
	}
	b.rejects(res, "\xef\xbb\xbfn,\"value\"\r\n\"2\n\"\"2\"\"\",bad\r\n4,bad\n")
	if !slices.Equal(lines, []int{4, 7}) {
		t.Errorf("lines %v", lines)
	}
}

func TestRetry(t *testing.T) {
	busy := func(times int, status int) func(int, http.ResponseWriter, *http.Request) bool {
		return func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n > times {
				return false
			}
			if status == 0 {
				panic(http.ErrAbortHandler) // the connection breaks
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"code":"overloaded","message":"busy"}}`)
			return true
		}
	}
	f := func(times, status int, want string) {
		t.Helper()
		b := open(t)
		b.toy.before = busy(times, status)
		_, _, err := b.send(b.file(5, none), nil)
		if want == "" {
			if err != nil {
				t.Errorf("%d times %d: %v", times, status, err)
			}
			b.applied(5)
			if len(b.notices) != 1 {
				t.Errorf("notices: %q", b.notices)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d times %d: %v, want %s", times, status, err, want)
		}
		b.applied(0)
	}
	f(3, 503, "")
	f(3, 429, "")
	f(5, 0, "")
	f(1000, 503, "busy")
	f(1000, 0, "cannot reach")
	f(1, 500, "busy")
	f(1, 413, "busy")
	// The rows of an answer that got lost, or broke off, are not applied twice.
	for _, begun := range []string{"", `{"rows":10,"acc`} {
		b := open(t)
		b.toy.after = func(n int, w http.ResponseWriter) bool {
			if n != 2 {
				return false
			}
			if begun != "" {
				io.WriteString(w, begun)
				w.(http.Flusher).Flush()
			}
			panic(http.ErrAbortHandler)
		}
		if _, _, err := b.send(b.file(25, none), nil); err != nil {
			t.Fatal(err)
		}
		b.applied(25)
		if len(b.toy.asked) != 4 {
			t.Errorf("asked %d times", len(b.toy.asked))
		}
	}
}

// TestDryRun: the whole file is one question, which is not remembered, as the answer may be another next time.
func TestDryRun(t *testing.T) {
	b := open(t)
	path := b.file(35, func(i int) bool { return i == 20 })
	dry := func(j *Job) { j.DryRun, j.Whole, j.Query, j.Rejected = true, true, url.Values{"dryrun": {"true"}}, "" }
	for range 2 {
		if res, _, err := b.send(path, dry); err != nil || res.Report.Rejected != 1 || res.Open {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if len(b.toy.asked) != 2 || len(b.toy.answers) != 0 || len(b.toy.applied) != 0 {
		t.Errorf("asked %q, remembered %d, applied %d", b.toy.asked, len(b.toy.answers), len(b.toy.applied))
	}
}

func TestPause(t *testing.T) {
	p := retryTiming{jitter: func() float64 { return 0 }}
	f := func(attempt int, hint, want time.Duration) {
		t.Helper()
		if got := p.pause(attempt, hint); got != want {
			t.Errorf("pause %d with hint %s is %s, want %s", attempt, hint, got, want)
		}
	}
	f(0, 0, 100*time.Millisecond)
	f(3, 0, 800*time.Millisecond)
	f(50, 0, longestPause/2)
	f(50, 3*time.Second, 3*time.Second)
	g := func(text string, want time.Duration) {
		t.Helper()
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		res := &http.Response{Header: http.Header{"Retry-After": {text}}}
		if got := retryAfter(res, now); got != want {
			t.Errorf("Retry-After %q is %s, want %s", text, got, want)
		}
	}
	g("", 0)
	g("5", 5*time.Second)
	g("-5", 0)
	g("soon", 0)
	g("99999999", time.Hour)
	g("Thu, 01 Jan 2026 00:00:09 GMT", 9*time.Second)
	g("Thu, 01 Jan 2015 00:00:09 GMT", 0)
}

func TestPacked(t *testing.T) {
	for _, pack := range []func(io.Writer) io.WriteCloser{
		func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		b := open(t)
		text, err := os.ReadFile(b.file(35, none))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(b.dir, "rows.packed")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := pack(f)
		w.Write(text)
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		on := true
		c, err := New(Options{URL: b.client.base.String(), Key: secret, Compress: &on})
		if err != nil {
			t.Fatal(err)
		}
		b.client = c
		if res, _, err := b.send(path, nil); err != nil || res.Report.Accepted != 35 {
			t.Errorf("%+v, %v", res, err)
		}
		b.applied(35)
		// One that broke off is not taken for a shorter one.
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()-6); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.send(path, nil); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("a packed file that broke off: %v", err)
		}
	}
}

// TestStream: a stream is protected within its run, and another run is another one.
func TestStream(t *testing.T) {
	b := open(t)
	for run := 1; run <= 2; run++ {
		src, err := Stream("-", strings.NewReader("n\n1\n2\n3\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.client.Send(t.Context(), Job{Method: "POST", Path: SendPath, Source: src, Rows: 2}); err != nil {
			t.Fatal(err)
		}
		if len(b.toy.applied) != 3*run || src.Resumable {
			t.Errorf("run %d: %d rows", run, len(b.toy.applied))
		}
	}
}

// TestEqualParts: parts with the same rows are different requests.
func TestEqualParts(t *testing.T) {
	b := open(t)
	path := filepath.Join(b.dir, "same.csv")
	if err := os.WriteFile(path, []byte("n\n1\n1\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.send(path, func(j *Job) { j.Rows = 1 }); err != nil || len(b.toy.applied) != 3 {
		t.Errorf("%v, %d rows", err, len(b.toy.applied))
	}
}

func TestRefusals(t *testing.T) {
	b := open(t)
	b.client.key = "not-the-key-at-all"
	res, _, err := b.send(b.file(5, none), nil)
	if res.Open || res.Lines != 0 {
		t.Errorf("a refused request: %+v", res)
	}
	if f, ok := errors.AsType[*Failure](err); !ok || f.Code != belfry.InvalidKey || f.Status != 401 {
		t.Errorf("a wrong key: %v", err)
	}
	if len(b.toy.asked) != 1 {
		t.Errorf("asked %d times", len(b.toy.asked))
	}
	if strings.Contains(err.Error(), b.client.key) {
		t.Errorf("the error shows the key: %v", err)
	}
	b = open(t)
	elsewhere := open(t)
	b.toy.before = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", elsewhere.client.base.String())
		w.WriteHeader(307)
		return true
	}
	if _, _, err := b.send(b.file(5, none), nil); err == nil || !strings.Contains(err.Error(), elsewhere.client.base.String()) {
		t.Errorf("a redirect: %v", err)
	}
	if len(elsewhere.toy.asked) != 0 {
		t.Error("the key went elsewhere")
	}
	b.toy.before = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		io.WriteString(w, "<html>")
		return true
	}
	if _, _, err := b.send(b.file(5, none), nil); err == nil || !strings.Contains(err.Error(), "not from Belfry") {
		t.Errorf("another server: %v", err)
	}
}

func TestNew(t *testing.T) {
	f := func(want string, o Options) {
		t.Helper()
		_, err := New(o)
		if want == "" && err == nil {
			return
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", o.URL, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
	f("", Options{URL: "http://127.0.0.1:1", Key: secret})
	f("", Options{URL: "https://h/prefix/", Key: secret})
	f("must read as", Options{URL: "localhost:8080", Key: secret})
	f("must read as", Options{URL: "ftp://h", Key: secret})
	f("must not hold", Options{URL: "http://u:hush@h", Key: secret})
	f("must not hold", Options{URL: "http://h?apikey=hush", Key: secret})
	f("must read as", Options{URL: "http://hush\x7f", Key: secret})
	f("no API key", Options{URL: "http://h"})
	f("contains a space", Options{URL: "http://h", Key: "hush hush"})
	f("contains a space", Options{URL: "http://h", Key: "hush\n"})
	f("none in PEM", Options{URL: "http://h", Key: secret, CA: []byte("x")})
}

func TestTLS(t *testing.T) {
	b := open(t)
	srv := httptest.NewTLSServer(b.toy)
	defer srv.Close()
	c, err := New(Options{URL: srv.URL, Key: secret, Retry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	b.client = c
	path := b.file(5, none)
	// Nothing gets better by waiting: this ends at once, although an hour is allowed.
	if _, _, err := b.send(path, nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	if b.client, err = New(Options{URL: srv.URL, Key: secret, Insecure: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.send(path, nil); err != nil {
		t.Error(err)
	}
	b.applied(5)
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if b.client, err = New(Options{URL: srv.URL, Key: secret, CA: trusted}); err != nil {
		t.Fatal(err)
	}
	if res, _, err := b.send(path, nil); err != nil || res.Report.Accepted != 5 {
		t.Errorf("a trusted certificate: %+v, %v", res, err)
	}
	if b.client, err = New(Options{URL: strings.Replace(b.client.base.String(), "https", "http", 1), Key: secret}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.send(path, nil); err == nil {
		t.Error("plain HTTP to a server with TLS")
	}
}

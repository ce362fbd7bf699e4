package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"belfry"
)

// stalled sends all of a body but its end. The server has read it when stalled returns; finish sends the end and gives
// the answer.
func (r *rig) stalled(path, body string, headers ...string) (finish func() *http.Response) {
	in, out := io.Pipe()
	req := httptest.NewRequest("POST", path, in)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	rec, done := httptest.NewRecorder(), make(chan bool)
	go func() {
		defer close(done)
		r.ServeHTTP(rec, req)
		in.Close()
	}()
	io.WriteString(out, body) // ends when all of it was read, or none will be
	io.WriteString(out, " ")
	return func() *http.Response {
		out.Close()
		<-done
		return rec.Result()
	}
}

// TestBodiesAreCounted: a body that is read as a whole is counted while the request lasts, so that many that wait for their end
// do not fill the memory. A small body finds room beside them.
func TestBodiesAreCounted(t *testing.T) {
	r := newRig(t)
	r.memoryHeld.Store(4 << 20)
	l := *r.limits.Load()
	l.Body = 1 << 20
	r.SetLimits(l)
	for path, headers := range map[string][]string{
		"/api/sql":                   {"X-Api-Key: " + readKey},
		"/api/ackmanagenote/objects": {"X-Api-Key: " + writeKey, "Content-Type: application/json"},
		"/api/receivers/r/try":       {"X-Api-Key: " + writeKey, "Content-Type: application/json"},
	} {
		weight := map[string]int{"/api/sql": queryWeight, "/api/ackmanagenote/objects": actionWeight, "/api/receivers/r/try": tryWeight}[path]
		body := strings.Repeat("x", (3<<19)/weight)
		finish := r.stalled(path, body, headers...)
		res := r.do("POST", path, body, headers...)
		if code := r.code(res); res.StatusCode != 503 || code != "overloaded" || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: the second is %d %s", path, res.StatusCode, code)
		}
		if res := r.do("POST", path, strings.Repeat("x", smallBody), headers...); r.code(res) == "overloaded" {
			t.Errorf("%s: a small one is refused", path)
		}
		if code := r.code(finish()); code == "overloaded" || code == "body_too_large" || code == "" {
			t.Errorf("%s: the first is %s", path, code)
		}
		res = r.do("POST", path, strings.Repeat("x", (5<<19)/weight), headers...)
		if code := r.code(res); code != "body_too_large" {
			t.Errorf("%s: a long one is %d %s", path, res.StatusCode, code)
		}
		if err := r.Intake.Hold(1).Grow(2 << 20); err != nil {
			t.Errorf("%s: what was counted is not given back: %v", path, err)
		}
		r = newRig(t)
		r.memoryHeld.Store(4 << 20)
		r.SetLimits(l)
	}
}

// TestActionItemsAreCounted: each name of an action has a part of the answer, which takes more than the name.
func TestActionItemsAreCounted(t *testing.T) {
	r := newRig(t)
	r.memoryHeld.Store(4 << 20)
	l := *r.limits.Load()
	l.Body = 1 << 20
	r.SetLimits(l)
	for _, names := range []string{strings.Repeat("a|", 6000), strings.Repeat(`a","`, 6000)} {
		res := r.do("POST", "/api/ackmanagenote/objects", `{"ack":"x","items":["`+names+`a"]}`, "X-Api-Key: "+writeKey, "Content-Type: application/json")
		if code := r.code(res); res.StatusCode != 413 || code != "body_too_large" {
			t.Errorf("%d %s", res.StatusCode, code)
		}
	}
}

// TestZstdWindow: the largest window that a frame of a zstd body asks for is counted, also where nobody has to log in.
func TestZstdWindow(t *testing.T) {
	pack := func(window int, text string) string {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(z, text)
		z.Flush() // so that the length is not known in the header
		z.Close()
		return out.String()
	}
	r := newRig(t)
	r.memoryHeld.Store(4 << 20)
	f := func(path, key, body string, status int, want belfry.Code) {
		t.Helper()
		headers := []string{"Content-Encoding: zstd"}
		if key != "" {
			headers = append(headers, "X-Api-Key: "+key)
		} else {
			headers = append(headers, "Content-Type: application/json")
		}
		res := r.do("POST", path, body, headers...)
		if code := r.code(res); res.StatusCode != status || code != string(want) {
			t.Errorf("%s: %d %s, want %d %s", path, res.StatusCode, code, status, want)
		}
	}
	f("/api/send", writeKey, pack(1<<20, oneRow), 200, "")
	f("/api/send", writeKey, pack(2<<20, "x"), 413, belfry.BodyTooLarge)
	f("/api/send", writeKey, pack(16<<20, "x"), 400, belfry.BadCSV)
	f("/api/send", writeKey, pack(1<<20, oneRow[:20])+pack(1<<20, oneRow[20:]), 200, "")
	f("/api/send", writeKey, pack(1<<10, oneRow[:20])+pack(1<<20, oneRow[20:]), 200, "")
	f("/api/send", writeKey, pack(1<<20, "x")+pack(2<<20, "y"), 413, belfry.BodyTooLarge)
	f("/api/send", writeKey, pack(1<<20, "x")+pack(16<<20, "y"), 400, belfry.BadCSV)
	f("/api/session", "", pack(2<<20, "{}"), 413, belfry.BodyTooLarge)
	if err := r.Intake.Hold(1).Grow(2 << 20); err != nil {
		t.Error(err)
	}
}

// TestActionLosesItsPlace: an action whose body does not come leaves its place to others.
func TestActionLosesItsPlace(t *testing.T) {
	r := newRig(t)
	headers := []string{"X-Api-Key: " + writeKey, "Content-Type: application/json"}
	finish := []func() *http.Response{}
	for range r.limits.Load().BulkRequests {
		finish = append(finish, r.stalled("/api/ackmanagenote/objects", "{", headers...))
	}
	for r.waits.Count() < len(finish) { // each loses its place after a while
		if res := r.do("POST", "/api/send", oneRow, "X-Api-Key: "+writeKey); res.StatusCode == 200 {
			break
		}
	}
	if res := r.do("POST", "/api/send", oneRow, "X-Api-Key: "+writeKey); res.StatusCode != 200 {
		t.Errorf("a send beside slow actions: %d", res.StatusCode)
	}
	for _, f := range finish {
		f()
	}
}

package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry"
)

// TestAct: the answer that was lost is asked for again under the same key, so that nothing is done twice.
func TestAct(t *testing.T) {
	var mu sync.Mutex // the handler that breaks off may still be at work when the next one begins
	var keys, bodies []string
	answers := []string{"", `200 {"items":[{"name":"a","kind":"object","result":"note_set","content":0}],"errors":[]}`}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, r.URL.Path+" "+string(body))
		text := answers[0]
		answers = answers[1:]
		mu.Unlock()
		if text == "" {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"items":`)
			panic(http.ErrAbortHandler) // breaks off
		}
		status, rest, _ := strings.Cut(text, " ")
		w.WriteHeader(map[string]int{"200": 200, "400": 400, "404": 404}[status])
		io.WriteString(w, rest)
	}))
	defer srv.Close()
	c, err := New(Options{URL: srv.URL, Key: secret, Retry: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	c.timing.wait = func(context.Context, time.Duration) error { return nil }
	note := ""
	got, err := c.Act(t.Context(), "objects", Action{Items: []string{"a"}, Note: &note})
	if err != nil || len(got.Items) != 1 || got.Items[0].Result != "note_set" {
		t.Fatalf("%+v %v", got, err)
	}
	expect := func(list ...string) {
		mu.Lock()
		defer mu.Unlock()
		answers = list
	}
	asked := func() (k, b []string) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(keys), slices.Clone(bodies)
	}
	const want = `/api/ackmanagenote/objects {"items":["a"],"note":""}`
	if k, b := asked(); len(k) != 2 || k[0] == "" || k[0] != k[1] || b[0] != want || b[1] != want {
		t.Errorf("asked with %q: %q", k, b)
	}

	// That no item could be dealt with is an answer; that the request was wrong is not.
	expect(`404 {"error":{"code":"unknown_item","message":"no"},"items":[],"errors":[{"name":"a","code":"unknown_item","message":"no"}]}`)
	if got, err := c.Act(t.Context(), "objects", Action{Items: []string{"a"}}); err != nil || len(got.Errors) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if k, _ := asked(); k[2] == k[0] {
		t.Error("another action has the same key")
	}
	expect(`400 {"error":{"code":"bad_parameter","message":"no"}}`, `200 <html>`)
	_, err = c.Act(t.Context(), "objects", Action{Items: []string{"a"}})
	if f, ok := errors.AsType[*Failure](err); !ok || f.Code != belfry.BadParameter {
		t.Errorf("%v", err)
	}
	if _, err = c.Act(t.Context(), "objects", Action{Items: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "is not from Belfry") {
		t.Errorf("%v", err)
	}
}

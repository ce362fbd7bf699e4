package web

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestHandler(t *testing.T) {
	built := fstest.MapFS{
		"index.html":    {Data: []byte("start page")},
		"assets/a.1.js": {Data: []byte("script")},
		".keep":         {Data: []byte("hidden")},
	}
	f := func(path string, status int, body, cache string) {
		t.Helper()
		rec := httptest.NewRecorder()
		handler(built).ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		res := rec.Result()
		got, _ := io.ReadAll(res.Body)
		if res.StatusCode != status || string(got) != body || !strings.HasPrefix(res.Header.Get("Cache-Control"), cache) {
			t.Errorf("%s: %d %q %q", path, res.StatusCode, got, res.Header.Get("Cache-Control"))
		}
		if p := res.Header.Get("Content-Security-Policy"); strings.Contains(p, "unsafe") || !strings.Contains(p, "default-src 'self'") {
			t.Errorf("%s: policy %q", path, p)
		}
	}
	f("/ui/", 200, "start page", "no-cache")
	f("/ui/index.html", 200, "start page", "no-cache")
	f("/ui/objects/web01", 200, "start page", "no-cache") // the page's own address
	f("/ui/assets/a.1.js", 200, "script", "public")
	f("/ui/assets", 200, "start page", "no-cache")
	f("/ui/.keep", 200, "start page", "no-cache")
}

func TestPlaceholder(t *testing.T) {
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/ui/", nil))
	page := rec.Body.String()
	if rec.Code != 200 || !strings.Contains(page, "<title>Belfry</title>") {
		t.Fatalf("%d %s", rec.Code, page)
	}
	for _, bad := range []string{"<script", "style=", "onclick", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q, which its policy forbids or nobody can load", bad)
		}
	}
}

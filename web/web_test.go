package web

import (
	"compress/gzip"
	"io"
	"io/fs"
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
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Permissions-Policy": permissions,
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	f("/ui/", 200, "start page", "no-store")
	f("/ui/index.html", 200, "start page", "no-store")
	f("/ui/objects/web01", 200, "start page", "no-store") // the page's own address
	f("/ui/assets/a.1.js", 200, "script", "public")
	f("/ui/assets", 200, "start page", "no-store")
	f("/ui/assets/a.0.js", 404, missing, "no-store") // of an older build: a page in its place would be a broken script
	f("/ui/.keep", 200, "start page", "no-store")
}

// The word for styles is another one in every answer, and the same in the policy and in the page.
func TestNonce(t *testing.T) {
	h := handler(fstest.MapFS{"index.html": {Data: []byte("<" + nonceMark + ">")}})
	seen := map[string]bool{}
	for range 3 {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", "/ui/", nil))
		nonce := strings.Trim(rec.Body.String(), "<>")
		if len(nonce) < 20 || seen[nonce] || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "'nonce-"+nonce+"'") {
			t.Errorf("page %q, policy %q", rec.Body.String(), rec.Header().Get("Content-Security-Policy"))
		}
		seen[nonce] = true
	}
}

func TestPacked(t *testing.T) {
	text := strings.Repeat("script ", 1000)
	h := handler(fstest.MapFS{"index.html": {Data: []byte("start")}, "assets/a.js": {Data: []byte(text)}})
	f := func(accept, encoding string) {
		t.Helper()
		r := httptest.NewRequest("GET", "/ui/assets/a.js", nil)
		r.Header.Set("Accept-Encoding", accept)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		var body io.Reader = rec.Body
		if encoding == "gzip" {
			if rec.Body.Len() > 200 {
				t.Errorf("%d bytes", rec.Body.Len())
			}
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		got, err := io.ReadAll(body)
		if err != nil || string(got) != text || rec.Header().Get("Content-Encoding") != encoding || rec.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %d bytes, %v, %v", accept, len(got), err, rec.Header())
		}
	}
	f("gzip, br", "gzip")
	f("", "")
}

// A build without the interface says how to get it.
func TestPlaceholder(t *testing.T) {
	files, err := fs.Sub(placeholder, "placeholder")
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	handler(files).ServeHTTP(rec, httptest.NewRequest("GET", "/ui/", nil))
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

// Package web is the user interface, carried inside the binary. The files in dist are built from web/ui; a build
// without them shows a page that says so, and everything else works all the same.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed all:dist
var dist embed.FS

//go:embed placeholder
var placeholder embed.FS

// policy lets pages load what this server sends and nothing else: no inline script or style, no frames, no other hosts.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// Handler serves the interface under /ui/. Every address without a file behind it shows the start page, which finds out
// by itself what to show.
func Handler() http.Handler {
	return handler(files())
}

func files() fs.FS {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	if _, err := fs.Stat(built, "index.html"); err == nil {
		return built
	}
	page, err := fs.Sub(placeholder, "placeholder")
	if err != nil {
		panic(err)
	}
	return page
}

func handler(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/ui")
		name = strings.TrimPrefix(name, "/")
		if info, err := fs.Stat(files, name); name == "" || err != nil || info.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			name = "index.html"
		}
		if strings.HasPrefix(name, "assets/") { // built with a digest in their names
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		serve(w, r, files, name)
	})
}

// serve sends one file. http.FileServer would redirect index.html away.
func serve(w http.ResponseWriter, r *http.Request, files fs.FS, name string) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the files are part of the binary
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

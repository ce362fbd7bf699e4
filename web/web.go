// Package web is the user interface, carried inside the binary. The files in dist are built from web/ui; a build
// without them shows a page that says so, and everything else works all the same.
package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"io"
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

// policy lets pages load what this server sends and nothing else: no inline script, no frames, no other hosts. Styles that a
// script puts into the page must carry the word that came with it. Pictures may be previewed before they are sent.
const policy = "default-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// permissions takes from pages what they do not use.
const permissions = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"

// nonceMark is the placeholder in the start page for the nonce of its styles.
const nonceMark = "__STYLE_NONCE__"

// missing is the answer for a part of the interface that this build does not have.
const missing = `{"error":{"code":"unknown_path","message":"this build has no such part of the interface; load the page again"}}`

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
	packed := &assetCache{files: files}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := rand.Text()
		h := w.Header()
		h.Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions)
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/ui")
		name = strings.TrimPrefix(name, "/")
		if _, err := fs.Stat(files, name); err != nil && strings.HasPrefix(name, "assets/") { // of an older build
			h.Set("Cache-Control", "no-store")
			h.Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, missing)
			return
		}
		if info, err := fs.Stat(files, name); name == "" || err != nil || info.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			name = "index.html"
		}
		if name == "index.html" {
			h.Set("Cache-Control", "no-store") // its nonce is for this answer alone
			page := bytes.ReplaceAll(read(files, name), []byte(nonceMark), []byte(nonce))
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(page))
			return
		}
		if strings.HasPrefix(name, "assets/") { // built with a digest in their names
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		packed.serve(w, r, name)
	})
}

func read(files fs.FS, name string) []byte {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return data
}

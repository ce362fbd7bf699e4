package web

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// assetCache keeps the files as they are sent: each is compressed once, at its first request.
type assetCache struct {
	files  fs.FS
	packed sync.Map // name → []byte
}

// serve sends one file.
func (s *assetCache) serve(w http.ResponseWriter, r *http.Request, name string) {
	if !packs(name) {
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(read(s.files, name)))
		return
	}
	w.Header().Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(read(s.files, name)))
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(s.pack(name)))
}

// packs reports whether a file is text; pictures are compressed already.
func packs(name string) bool {
	switch path.Ext(name) {
	case ".js", ".css", ".svg", ".json", ".map", ".txt":
		return true
	}
	return false
}

func (s *assetCache) pack(name string) []byte {
	if data, ok := s.packed.Load(name); ok {
		return data.([]byte)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	z.Write(read(s.files, name)) // a buffer takes everything
	z.Close()
	s.packed.Store(name, out.Bytes())
	return out.Bytes()
}

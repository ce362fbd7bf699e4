package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// EndBodies stops reading bodies of rows, also those whose clients send nothing, and answers with a report of the rows so far. It
// is called once, some time before the connections are closed.
func (s *Server) EndBodies() { s.end() }

// whenEnded calls f when bodies are to end, unless stop is called before.
func (s *Server) whenEnded(f func()) (stop func() bool) { return context.AfterFunc(s.ended, f) }

// closeGently lets a client that still sends its body read the answer. A connection that is closed with unread data is reset, and
// clients then ignore the answer. The standard library waits half a second between answer and close when a body was too large, so
// this marks the body as too large. HTTP/2 does not need it.
func (w *answer) closeGently() {
	http.NewResponseController(w).SetReadDeadline(time.Now()) // nothing more of the body is waited for
	http.MaxBytesReader(w.ResponseWriter, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

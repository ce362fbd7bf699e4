package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// EndBodies ends the bodies of rows that are under way, also those that wait for their clients: no more of them is read, and the clients learn
// what became of the rows so far. It is called once, some time before the connections are closed.
func (s *Server) EndBodies() { s.end() }

// whenEnded calls f when bodies are to end, unless stop is called before.
func (s *Server) whenEnded(f func()) (stop func() bool) { return context.AfterFunc(s.ended, f) }

// part sees to it that a client which still sends its body finds the answer. A connection that is closed with something unread in it is reset,
// and then clients do not look for an answer. The standard library waits half a second between answer and close when a body was too large,
// so this body is made one. HTTP/2 needs nothing of the kind.
func (w *answer) part() {
	http.NewResponseController(w).SetReadDeadline(time.Now()) // nothing more of the body is waited for
	http.MaxBytesReader(w.ResponseWriter, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

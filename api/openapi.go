package api

import (
	_ "embed"
	"net/http"
)

// openapiText describes this interface to programs. It is written by hand; tests hold it to the table of routes and to
// real requests and answers.
//
//go:embed openapi.json
var openapiText []byte

func (s *Server) openapi(w *answer, _ *request) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.Write(openapiText)
	return nil
}

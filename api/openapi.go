package api

import (
	_ "embed"
	"encoding/json"
	"net/http"
)

var openapiRoutes = []Route{{
	Method: "GET", Path: "/api/openapi.json", serve: (*Server).openapi,
	ID: "openapi", Tag: "service", Help: "This interface, described in OpenAPI 3.1.",
	Answers: []Answer{answers(200, "The document.", json.RawMessage(`{"type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": true}`))},
}}

// openapiText describes this interface to programs. It is generated from Routes; tests hold it to real requests and answers.
//
//go:embed openapi.json
var openapiText []byte

func (s *Server) openapi(w *answer, _ *request) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.Write(openapiText)
	return nil
}

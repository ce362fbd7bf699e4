package main

import (
	"bytes"
	"io"
	"net/http"
)

const bareReport = `{"rows":1,"accepted":1,"rejected":0,"discarded":0,"created":{"resources":0,"views":0,"objects":0,"elements":0},` +
	`"updated":0,"unchanged":0,"removed":0,"errors":[],"errors_truncated":false}`

// bareAnswer does the least that an endpoint does, and answers with a report.
func bareAnswer(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil || r.URL.Query().Get("a") != "1" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, bareReport)
}

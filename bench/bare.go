package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
)

// bareCommand is the hidden argument with which the program becomes a bare HTTP server.
const bareCommand = "bare"

// Paths of the bare server, as long as that of the real one, so that requests have the same size.
const (
	plainPath = "/p" // does not look at the query
	queryPath = "/d"
)

// startBare starts the bare server in a process of its own, and gives its address and what ends it.
func (b *bench) startBare(ctx context.Context) (addr string, end func(), err error) {
	cmd := exec.CommandContext(ctx, b.self, bareCommand)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		cmd.Process.Kill()
		_ = cmd.Wait() // which says that it was killed
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", nil, fmt.Errorf("the bare server does not say where it listens: %w", err)
	}
	return strings.TrimSpace(line), end, nil
}

// bareHTTP sends single rows to a server that does nothing with them.
func (b *bench) bareHTTP(ctx context.Context, l *limits, seconds float64) error {
	addr, end, err := b.startBare(ctx)
	if err != nil {
		return err
	}
	defer end()
	for _, clients := range clientCounts {
		j := job{Addr: addr, Path: "/api/send?a=1", Key: "none", Objects: 10_000, Rows: 1, Clients: clients, Seconds: max(1, seconds)}
		o, err := b.load(ctx, j, func() {})
		if err != nil {
			return err
		}
		l.http = append(l.http, o)
	}
	return nil
}

// bareServer does the least that an endpoint does, and answers with a report; it says where it listens and runs until
// killed.
func bareServer(out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.Addr())
	return http.Serve(l, http.HandlerFunc(bareAnswer))
}

var bareReport = []byte(`{"rows":1,"accepted":1,"rejected":0,"discarded":0,"created":{"resources":0,"views":0,"objects":0,"elements":0},` +
	`"updated":0,"unchanged":0,"removed":0,"errors":[],"errors_truncated":false}`)

func bareAnswer(w http.ResponseWriter, r *http.Request) {
	if !bareTakes(r) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(bareReport)
}

// bareTakes reads as much of a request as its path asks for.
func bareTakes(r *http.Request) bool {
	switch r.URL.Path {
	case plainPath:
		return true
	case queryPath:
		q := r.URL.Query()
		return q.Get("apikey") != "" && q.Get("resname") != "" && q.Get("o") != "" && q.Get("i1") != ""
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(r.Body)
	return err == nil && r.URL.Query().Get("a") == "1"
}

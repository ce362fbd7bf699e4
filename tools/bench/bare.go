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
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil || r.URL.Query().Get("a") != "1" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(bareReport)
}

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// wrkConnections are kept alive by the one thread of wrk.
const wrkConnections = 64

//go:embed wrk.lua
var wrkScript []byte

// findWrk finds the load generator, and lets the set-up of the tests install it where it is missing.
func findWrk(ctx context.Context, log io.Writer) (string, error) {
	path, err := exec.LookPath("wrk")
	if err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, "scripts/setup")
	cmd.Stdout, cmd.Stderr = log, log
	setup := cmd.Run()
	if path, err = exec.LookPath("wrk"); err != nil {
		return "", errors.Join(errors.New("the part legacy needs wrk: install it (on Debian: apt-get install wrk), or leave the part out with -only"), setup)
	}
	return path, nil
}

// wrkOutcome is what wrk has seen.
type wrkOutcome struct {
	requests      int // answered with success
	refused       int // answered otherwise
	failed        int // not answered
	seconds       float64
	p50, p99, max float64 // milliseconds
	cpu           float64 // seconds, of wrk
}

func (w *wrkOutcome) rate() float64 { return float64(w.requests) / w.seconds }

// runWrk sends the addresses, a path on each line, in turn to a server.
func runWrk(ctx context.Context, wrk, dir, addr string, paths []byte, seconds int) (*wrkOutcome, error) {
	script, list := filepath.Join(dir, "wrk.lua"), filepath.Join(dir, "wrk.paths")
	if err := errors.Join(os.WriteFile(script, wrkScript, 0o600), os.WriteFile(list, paths, 0o600)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, wrk, "-t1", "-c"+strconv.Itoa(wrkConnections), "-d"+strconv.Itoa(seconds)+"s", "--timeout", "10s", "-s", script, "http://"+addr, "--", list)
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("wrk: %w: %s", err, bytes.TrimSpace(faults.Bytes()))
	}
	o, err := parseWrk(string(out))
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, bytes.TrimSpace(faults.Bytes()))
	}
	o.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return o, nil
}

// parseWrk reads the line that our script adds to what wrk prints. Every field must be there: a missing one must not
// look like a zero.
func parseWrk(text string) (*wrkOutcome, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "outcome ")
		if !ok {
			continue
		}
		got := map[string]float64{}
		for _, f := range strings.Fields(rest) {
			name, value, _ := strings.Cut(f, "=")
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("wrk tells %q: %w", f, err)
			}
			got[name] = v
		}
		for _, name := range []string{"requests", "micros", "status", "connect", "read", "write", "timeout", "p50", "p99", "max"} {
			if _, ok := got[name]; !ok {
				return nil, fmt.Errorf("wrk does not tell %s: %q", name, line)
			}
		}
		return &wrkOutcome{
			requests: int(got["requests"] - got["status"]), refused: int(got["status"]),
			failed:  int(got["connect"] + got["read"] + got["write"] + got["timeout"]),
			seconds: got["micros"] / 1e6, p50: got["p50"] / 1e3, p99: got["p99"] / 1e3, max: got["max"] / 1e3,
		}, nil
	}
	return nil, fmt.Errorf("wrk tells no outcome: %.300q", text)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is the real program in its own process.
type server struct {
	cmd         *exec.Cmd
	data        string
	addr, admin string
	key         string
	log         *os.File
	ready       time.Duration // from the start of the process until it was ready
}

// start starts the program on a data folder, in its default configuration but for the flags, and waits until it is ready.
// With an empty key it makes one.
func (b *bench) start(ctx context.Context, data, key string, flags ...string) (*server, error) {
	s := &server{data: data, key: key}
	var err error
	if s.addr, err = freeAddr("tcp"); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddr("tcp"); err != nil {
		return nil, err
	}
	if s.log, err = os.OpenFile(data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, b.binary, append([]string{"serve", "--data", data, "--listen", s.addr, "--admin-listen", s.admin}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 20 * time.Second
	start := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.waitReady(ctx); err != nil {
		return nil, errors.Join(err, s.stop(), s.tail())
	}
	s.ready = time.Since(start)
	if s.key != "" {
		return s, nil
	}
	out, err := exec.CommandContext(ctx, b.binary, "key", "create", "--data", data, "--name", "bench", "--level", "readwritedelete").Output()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a key: %w", err), s.stop(), s.tail())
	}
	s.key = strings.TrimSpace(string(out))
	return s, nil
}

// freeAddr finds a port on loopback, of tcp or udp, that is free now.
func freeAddr(network string) (string, error) {
	if network == "udp" {
		c, err := net.ListenPacket(network, "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		defer c.Close()
		return c.LocalAddr().String(), nil
	}
	l, err := net.Listen(network, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *server) waitReady(ctx context.Context) error {
	return until(ctx, 5*time.Minute, 5*time.Millisecond, "the server is ready", func(ctx context.Context) (bool, error) {
		_, err := s.get(ctx, s.addr, "/readyz")
		return err == nil, nil
	})
}

// until asks again and again whether something is done.
func until(ctx context.Context, atMost, every time.Duration, what string, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		if err := pause(ctx, every); err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// stop ends the process as an operator would. To stop it again does nothing.
func (s *server) stop() error {
	if s.cmd.ProcessState != nil {
		return nil
	}
	defer s.log.Close()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(30*time.Second, func() { s.cmd.Process.Kill() })
	defer kill.Stop()
	if err := s.cmd.Wait(); err != nil {
		return errors.Join(fmt.Errorf("stop of the server: %w", err), s.tail())
	}
	return nil
}

// kill ends the process at once, as kill -9 does.
func (s *server) kill() error {
	defer s.log.Close()
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	return err
}

// tail is the end of the server's log, as an error.
func (s *server) tail() error {
	text, err := os.ReadFile(s.data + ".log")
	if err != nil {
		return err
	}
	return fmt.Errorf("its log ends with:\n%s", text[max(0, len(text)-2000):])
}

func (s *server) get(ctx context.Context, addr, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	return s.answer(r)
}

func (s *server) answer(r *http.Request) ([]byte, error) {
	r.Header.Set("x-api-key", s.key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %.300s", r.Method, r.URL.Path, res.StatusCode, body)
	}
	return body, err
}

// provision sends rows to a package.
func (s *server) provision(ctx context.Context, method, packageType string, rows []byte) ([]byte, error) {
	return s.upload(ctx, method, "/api/provisioning/"+packageType, "text/csv", rows)
}

// send sends rows of data, all of which must be taken.
func (s *server) send(ctx context.Context, body []byte, rows int) error {
	answer, err := s.upload(ctx, http.MethodPost, "/api/send", "text/csv", body)
	if err == nil && accepted(answer) != rows {
		err = fmt.Errorf("of %d rows not all were taken: %.300s", rows, answer)
	}
	return err
}

func (s *server) upload(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType)
	return s.answer(r)
}

// count asks how many rows of a collection there are since a moment.
func (s *server) count(ctx context.Context, collection string, since time.Time) (int, error) {
	q := url.Values{
		"q": {"SELECT COUNT(*) AS n FROM " + collection}, "from": {since.UTC().Format("2006-01-02T15:04:05.000000Z")},
		"to": {time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
	}
	return s.number(ctx, q)
}

// number asks a query whose answer is the number n.
func (s *server) number(ctx context.Context, q url.Values) (int, error) {
	body, err := s.get(ctx, s.addr, "/api/sql?"+q.Encode())
	if err != nil {
		return 0, err
	}
	var a struct{ Rows []struct{ N int } }
	if err := json.Unmarshal(body, &a); err != nil || len(a.Rows) != 1 {
		return 0, fmt.Errorf("%s: %.200s", q.Get("q"), body)
	}
	return a.Rows[0].N, nil
}

// waitVisible asks until all rows are counted. As an answer means visible, the first time should do.
func (s *server) waitVisible(ctx context.Context, collection string, since time.Time, want int) error {
	what := fmt.Sprintf("%d rows can be queried", want)
	return until(ctx, 2*time.Minute, 10*time.Millisecond, what, func(ctx context.Context) (bool, error) {
		n, err := s.count(ctx, collection, since)
		if err == nil && n > want {
			err = fmt.Errorf("%d rows were acknowledged, %d can be queried", want, n)
		}
		return n == want, err
	})
}

// settle waits until nothing is left of the backlogs in the metrics.
func (s *server) settle(ctx context.Context, backlogs ...string) error {
	return s.waitMetrics(ctx, "the backlogs are empty", func(text []byte) bool {
		return !slices.ContainsFunc(backlogs, func(name string) bool { return metric(text, name) != 0 })
	})
}

// settleRows waits until all rows are in their files.
func (s *server) settleRows(ctx context.Context) error { return s.settle(ctx, "belfry_backlog_rows") }

// waitSummaries waits until the server has found everything summed up.
func (s *server) waitSummaries(ctx context.Context) error {
	return s.waitMetrics(ctx, "all rows are summed up", func(text []byte) bool {
		return metric(text, "belfry_summaries_complete_timestamp_seconds") > 0
	})
}

const (
	orderedMessage = "rows were put in order" // in the log
	orderedRows    = 1_000_000                // about so many are put in order; fewer stay as they are
)

// waitOrdered waits until so many rows that have arrived are in order. The server begins when they have been there for a minute,
// looks for more every 15 seconds, and makes a copy of each file.
func (s *server) waitOrdered(ctx context.Context, rows int) error {
	start, idle := time.Now(), time.Now()
	return until(ctx, 15*time.Minute, 200*time.Millisecond, "rows are in order", func(context.Context) (bool, error) {
		text, err := os.ReadFile(s.data + ".log")
		copies, globErr := filepath.Glob(filepath.Join(s.data, "rows", "*", "*.order.new"))
		if len(copies) > 0 {
			idle = time.Now()
		}
		done := bytes.Contains(text, []byte(orderedMessage)) && time.Since(start) > 80*time.Second && time.Since(idle) > 20*time.Second
		return done || rows < orderedRows, errors.Join(err, globErr)
	})
}

func (s *server) waitMetrics(ctx context.Context, what string, done func(text []byte) bool) error {
	return until(ctx, 10*time.Minute, 20*time.Millisecond, what, func(ctx context.Context) (bool, error) {
		text, err := s.get(ctx, s.admin, "/metrics")
		return err == nil && done(text), err
	})
}

// metric reads a plain metric; -1 when it is not there.
func metric(text []byte, name string) float64 {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
				return v
			}
		}
	}
	return -1
}

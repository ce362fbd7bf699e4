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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is the real program in a process of its own.
type server struct {
	cmd         *exec.Cmd
	binary      string
	data        string
	addr, admin string
	key         string
	log         *os.File
	ready       time.Duration // from the start of the process until it was ready
}

// startServer starts the program on a data folder, in its default configuration, and waits until it is ready. With an
// empty key it makes one.
func (b *bench) startServer(ctx context.Context, data, key string) (*server, error) {
	s := &server{binary: b.binary, data: data, key: key}
	var err error
	if s.addr, err = freeAddr(); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddr(); err != nil {
		return nil, err
	}
	if s.log, err = os.OpenFile(data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, b.binary, "serve", "--data", data, "--listen", s.addr, "--admin-listen", s.admin)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 20 * time.Second
	start := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.waitReady(ctx, 5*time.Minute); err != nil {
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

// freeAddr finds a port on loopback that nobody uses at this moment.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *server) waitReady(ctx context.Context, atMost time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		if _, err := s.get(ctx, s.addr, "/readyz"); err == nil {
			return nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("the server does not get ready: %w", err)
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

// stop ends the process as an operator would.
func (s *server) stop() error {
	defer s.log.Close()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(30*time.Second, func() { s.cmd.Process.Kill() })
	defer kill.Stop()
	return s.cmd.Wait()
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
	if err == nil && res.StatusCode != 200 {
		err = fmt.Errorf("%s %s: %d %.300s", r.Method, r.URL.Path, res.StatusCode, body)
	}
	return body, err
}

// provision makes the resources of so many objects.
func (s *server) provision(ctx context.Context, objects int) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/api/provisioning/custom", bytes.NewReader(resourceNames(objects)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/csv")
	_, err = s.answer(r)
	return err
}

// count asks how many rows of data there are since a moment.
func (s *server) count(ctx context.Context, since time.Time) (int, error) {
	q := url.Values{
		"q": {"SELECT COUNT(*) AS n FROM objectdata"}, "from": {since.UTC().Format("2006-01-02T15:04:05.000000Z")},
		"to": {time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
	}
	body, err := s.get(ctx, s.addr, "/api/sql?"+q.Encode())
	if err != nil {
		return 0, err
	}
	var a struct{ Rows []struct{ N int } }
	if err := json.Unmarshal(body, &a); err != nil || len(a.Rows) != 1 {
		return 0, fmt.Errorf("count of rows: %.200s", body)
	}
	return a.Rows[0].N, nil
}

// settle waits until nothing is on its way from the journal any more.
func (s *server) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		text, err := s.get(ctx, s.admin, "/metrics")
		if err != nil {
			return err
		}
		if metric(text, "belfry_backlog_rows") == 0 && metric(text, "belfry_backlog_records") == 0 {
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
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

// profile takes a CPU profile of the server and gives the functions that used most of it.
func (s *server) profile(ctx context.Context, seconds float64, file string) (string, error) {
	data, err := s.get(ctx, s.admin, fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(seconds))))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=15", s.binary, file).Output()
	if err != nil {
		return "", fmt.Errorf("go tool pprof: %w", err)
	}
	return trimProfile(string(out)), nil
}

// trimProfile leaves out what names this machine.
func trimProfile(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "File:") && !strings.HasPrefix(line, "Build ID:") && !strings.HasPrefix(line, "Time:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// cpu is what the process has used, in seconds: user and system.
func (s *server) cpu() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(text))
}

// ticks is how many of the kernel's units of CPU time make a second, on every Linux.
const ticks = 100

// parseStat reads the fields utime and stime; the name of the program before them may hold anything.
func parseStat(text string) (float64, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("process status %q is too short", text)
	}
	user, err1 := strconv.ParseUint(fields[11], 10, 64)
	system, err2 := strconv.ParseUint(fields[12], 10, 64)
	return float64(user+system) / ticks, errors.Join(err1, err2)
}

// memory gives the resident memory of the process now and at its peak, in MiB.
func (s *server) memory() (now, peak float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	return kibiField(string(text), "VmRSS:") / 1024, kibiField(string(text), "VmHWM:") / 1024, err
}

// kibiField reads a line such as "VmRSS:  1234 kB".
func kibiField(text, name string) float64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			v, _ := strconv.ParseFloat(f[1], 64)
			return v
		}
	}
	return 0
}

// disk is what a data folder takes, in bytes of allocated blocks.
type disk struct {
	rows, journal, meta, other int64
}

func (d disk) all() int64 { return d.rows + d.journal + d.meta + d.other }

// usage adds up a data folder, without the reserve, which is there whatever is stored.
func usage(dir string) (d disk, err error) {
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreGone(err)
		}
		size := info.Size()
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			size = s.Blocks * 512
		}
		rel, _ := filepath.Rel(dir, path)
		first, _, _ := strings.Cut(rel, string(filepath.Separator))
		switch {
		case first == "rows":
			d.rows += size
		case first == "journal":
			d.journal += size
		case strings.HasPrefix(first, "meta.db"):
			d.meta += size
		case first != "reserve":
			d.other += size
		}
		return nil
	})
	return d, err
}

// ignoreGone forgives a file that the server has removed meanwhile.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

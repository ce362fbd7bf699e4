package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"belfry"
)

// service is a server that a Go test talks to: a process of its own, as in the scripts.
type service struct {
	t    testing.TB
	bin  string
	data string

	flags []string // of serve
	key   string   // level readwritedelete
	base  string
	addr  string
	cmd   *exec.Cmd
	log   string // file of its log
}

// start runs a server on a new data folder until the test ends. flags are more flags of serve.
func start(t testing.TB, bin string, flags ...string) *service {
	t.Helper()
	if *update {
		t.Skip("has nothing to rewrite")
	}
	dir := t.TempDir()
	p := &service{t: t, bin: bin, flags: flags, data: filepath.Join(dir, "data"), log: filepath.Join(dir, "server.log")}
	out, err := p.command("key", "create", "--data", p.data, "--name", "test", "--level", "readwritedelete").Output()
	if err != nil {
		t.Fatal(err)
	}
	p.key = strings.TrimSpace(string(out))
	t.Cleanup(p.stop)
	p.serve()
	return p
}

// serve starts the server and waits until it is ready.
func (p *service) serve() {
	p.t.Helper()
	p.cmd = p.command(append([]string{"serve", "--data", p.data, "--listen", "127.0.0.1:0"}, p.flags...)...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ready := make(chan string)
	go p.follow(stderr, ready)
	addr, ok := <-ready
	if !ok {
		p.t.Fatal("the server ended before it was ready")
	}
	p.addr, p.base = addr, "http://"+addr
}

// crash kills the server without a warning and starts it again.
func (p *service) crash() {
	p.t.Helper()
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.serve()
}

func (p *service) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin, args...)
	cmd.Env = append(os.Environ(), "BELFRY_CONFIG=", "BELFRY_DATA=")
	return cmd
}

// follow keeps the log and says the address once the server is ready; a log that ends earlier closes the channel.
func (p *service) follow(stderr io.Reader, ready chan<- string) {
	listening := regexp.MustCompile(`msg=listening .*addr=(\S+)`)
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	var addr string
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			addr = m[1]
		}
		if ready != nil && strings.Contains(lines.Text(), "msg=ready") {
			ready <- addr
			ready = nil
		}
	}
	if ready != nil {
		close(ready)
	}
}

// stop ends the server as an operator would; it must have lived until then, and without a panic or a data race.
func (p *service) stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server ended with %v", err)
	}
	log, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, bad := range []string{"panic", "DATA RACE", "level=ERROR"} {
		if i := bytes.Index(log, []byte(bad)); i >= 0 {
			p.t.Errorf("the log says:\n%s", log[i:min(i+2000, len(log))])
		}
	}
}

// post sends a body with the key of the process; header is a list of names and values.
func (p *service) post(path string, body io.Reader, header ...string) (status int, answer []byte) {
	p.t.Helper()
	return p.request("POST", path, body, header...)
}

func (p *service) request(method, path string, body io.Reader, header ...string) (status int, answer []byte) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", p.key)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// report sends a body and gives the report of its rows.
func (p *service) report(path string, body io.Reader, header ...string) (status int, r belfry.Report) {
	p.t.Helper()
	status, answer := p.post(path, body, header...)
	if err := json.Unmarshal(answer, &r); err != nil {
		p.t.Fatalf("%v: %s", err, answer)
	}
	if r.Accepted+r.Rejected+r.Discarded != r.Rows {
		p.t.Errorf("%d accepted + %d rejected + %d discarded is not %d rows", r.Accepted, r.Rejected, r.Discarded, r.Rows)
	}
	return status, r
}

// query gives the rows of an answer, each as its values by name.
func (p *service) query(text string, params ...string) (rows []map[string]any) {
	p.t.Helper()
	values := url.Values{"q": {text}, "apikey": {p.key}}
	for i := 0; i+1 < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	res, err := http.Get(p.base + "/api/sql?" + values.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Rows []map[string]any }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != 200 {
		p.t.Fatalf("%s: status %d, %v", text, res.StatusCode, err)
	}
	return answer.Rows
}

// count gives the one number of SELECT COUNT(*) … over the last hour.
func (p *service) count(rest string) int {
	p.t.Helper()
	rows := p.query("SELECT COUNT(*) "+rest, "span", "1h")
	return int(rows[0]["COUNT(*)"].(float64))
}

// healthy tells whether the server lives and takes data.
func (p *service) healthy() {
	p.t.Helper()
	for _, path := range []string{"/healthz", "/readyz"} {
		res, err := http.Get(p.base + path)
		if err != nil {
			p.t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			p.t.Errorf("%s: status %d", path, res.StatusCode)
		}
	}
}

// self is the program under test, as built for the scripts.
func self(t testing.TB) string {
	t.Helper()
	bin, err := exec.LookPath("belfry")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a running service that a test talks to when a script would not do.
type process struct {
	t      testing.TB
	data   string
	config string                // a file, or nothing
	flags  []string              // of serve, beside its own
	as     func(serve *exec.Cmd) // who else it is to run as
	cmd    *exec.Cmd
	base   string
	client *http.Client

	mu    sync.Mutex
	log   bytes.Buffer
	ended chan struct{} // the log is complete
}

const adminPassword = "first-of-all-passwords"

// newProcess starts a service at the log level debug in a folder of its own, which prepare may fill first.
func newProcess(t testing.TB, prepare func(p *process)) *process {
	t.Helper()
	if *update {
		t.Skip("has nothing to rewrite")
	}
	dir := t.TempDir()
	p := &process{t: t, data: filepath.Join(dir, "data"), config: filepath.Join(dir, "belfry.yaml"), client: newClient()}
	p.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	if err := os.WriteFile(p.config, []byte("limits: {stop: 5m}\n"), 0o644); err != nil { // on a busy machine it takes its time
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(p)
	}
	t.Cleanup(func() {
		if p.cmd != nil && p.cmd.Process != nil { // the test has failed before it could stop it
			p.crash()
		}
	})
	p.start()
	return p
}

// belfry runs a command and gives what it prints.
func (p *process) belfry(args ...string) string {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("belfry %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (p *process) command(args ...string) *exec.Cmd {
	cmd := exec.Command("belfry", args...) // testscript.Main has put it into PATH
	cmd.Env = append(os.Environ(), "BELFRY_CONFIG="+p.config, "BELFRY_NO_COLLECT=true", "BELFRY_DATA="+p.data, "BELFRY_ADMIN_PASSWORD="+adminPassword)
	return cmd
}

// key creates a key.
func (p *process) key(name, level string, flags ...string) string {
	p.t.Helper()
	return p.belfry(append([]string{"key", "create", "--name", name, "--level", level}, flags...)...)
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = p.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "debug"}, p.flags...)...)
	if p.as != nil {
		p.as(p.cmd)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lines := make(chan string, 1000)
	p.ended = make(chan struct{})
	go p.follow(stderr, lines)
	m := p.await(lines, regexp.MustCompile(`msg=listening .*scheme=(\S+) .*addr=(\S+)`))
	p.base = m[1] + "://" + m[2]
	p.await(lines, regexp.MustCompile(`msg=(ready|"started, but not ready")`))
}

func (p *process) follow(r io.Reader, lines chan<- string) {
	defer close(p.ended)
	defer close(lines)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.mu.Lock()
		fmt.Fprintln(&p.log, in.Text())
		p.mu.Unlock()
		select {
		case lines <- in.Text():
		default: // nobody waits for this one
		}
	}
}

func (p *process) await(lines <-chan string, re *regexp.Regexp) []string {
	p.t.Helper()
	limit := time.After(hang)
	for {
		select {
		case line, ok := <-lines:
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			} else if !ok {
				p.t.Fatalf("the service ended before it said %q:\n%s", re, p.logged())
			}
		case <-limit:
			p.t.Fatalf("the service did not say %q:\n%s", re, p.logged())
		}
	}
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// stop ends the service; all of its log has been read then.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
	err := p.cmd.Wait()
	p.cmd = nil
	if err != nil {
		p.t.Fatalf("after SIGTERM: %v\n%s", err, p.logged())
	}
}

// crash kills it.
func (p *process) crash() {
	p.cmd.Process.Kill()
	<-p.ended
	p.cmd.Wait()
	p.cmd = nil
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	body string
	code string // of an error
}

// ask sends a request with headers in the form "Name: value".
func (p *process) ask(method, target, body string, headers ...string) reply {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+target, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	res, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var e struct{ Error struct{ Code string } }
	if res.StatusCode >= 400 {
		json.Unmarshal(text, &e)
	}
	return reply{res, string(text), e.Error.Code}
}

// logIn gives the cookie of a new session.
func (p *process) logIn(customer, user, password string) string {
	p.t.Helper()
	res := p.ask("POST", "/api/session", fmt.Sprintf(`{"customer":%q,"user":%q,"password":%q}`, customer, user, password))
	if res.StatusCode != 200 || len(res.Cookies()) != 1 {
		p.t.Fatalf("%s cannot log in: %d %s", user, res.StatusCode, res.body)
	}
	return "Cookie: belfry_session=" + res.Cookies()[0].Value
}

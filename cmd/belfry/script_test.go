package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite expected output")

// TestMain lets the test binary be belfry too: a script's server is a process of its own, with the race detector and
// the coverage of the test run.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil { // a script mostly waits, for the disk and for its server
		panic(err)
	}
	testscript.Main(m, map[string]func(){"belfry": main})
}

// TestScripts runs the scripts in testdata/script against real processes; those in its folder api are named after the
// sentences of the specification. Beside the commands of testscript they have:
//
//	serve [flags]                 start a server on $WORK/data and wait until it is ready; its log goes to server.log
//	halt, crash                   end it with SIGTERM, which must end in exit status 0, or with SIGKILL; stop is something else:
//	                              it ends the script there, as passed
//	hup                           send SIGHUP and wait until the server has dealt with it
//	key VAR LEVEL [flags]         create a key named VAR and put it into the environment
//	http [flags] METHOD PATH      send a request; prints status, headers and body. -H header, -d body file, -k VAR key,
//	                              -s VAR session
//	login VAR USER                log in with the password in BELFRY_USER_PASSWORD and put the session into the environment
//	send VAR FILE [query]         POST /api/send with the key in VAR; prints status and body
//	sql VAR QUERY [params]        GET /api/sql with the key in VAR; prints the body
//	provision VAR PACKAGE FILE [query]   POST /api/provisioning/PACKAGE likewise; remove does it with DELETE
//	export VAR PACKAGE            GET /api/provisioning/PACKAGE; prints the body alone
//	act VAR KIND JSON [header]…   POST /api/ackmanagenote/KIND with that body; prints status and body
//	stall VAR METHOD PATH [FILE]  begin a request that does not end before the script does or says release
//	pack gzip|zstd FROM TO        compress a file
//	write FILE PART…              make a file of these parts, with escapes as in Go; 255*x is x 255 times
//	fill SIZE FILE                make a CSV file of at least that many bytes
//	flip OFFSET FILE              change one byte of a file; a negative offset counts from its end
//	tmpfs SIZE DIR                mount a small file system there
//	ballast FREE FILE             grow a file until its file system has no more than that free
//	awaitlog REGEXP               wait until the server's log says so
//	relay on|off|hold N           put a relay before the server, at $RELAY; the answer it holds never arrives
//	awaitrelay held|missed        wait until it holds that answer, or has missed the server
//	nokeys                        no key that was made appears in the log or in a file of the data folder
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values[serverKey{}] = &server{}
			e.Values[relayKey{}] = new(*relay)
			e.Setenv("BELFRY_DATA", filepath.Join(e.WorkDir, "data"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return runtime.GOOS == "linux" && os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": cmdServe, "halt": cmdHalt, "crash": cmdCrash, "hup": cmdHup, "key": cmdKey, "http": cmdHTTP,
			"send": cmdSend, "sql": cmdSQL, "pack": cmdPack, "fill": cmdFill, "nokeys": cmdNoKeys,
			"act": cmdAct, "provision": cmdBulk("POST"), "remove": cmdBulk("DELETE"), "export": cmdExport,
			"login": cmdLogin, "write": cmdWrite, "stall": cmdStall, "release": cmdRelease,
			"flip":  cmdFlip,
			"relay": cmdRelay, "awaitrelay": cmdAwaitRelay,
			"tmpfs": cmdTmpfs, "ballast": cmdBallast, "awaitlog": cmdAwaitLog,
		},
	})
}

// scripts lists the files of all scripts.
func scripts(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.txtar", filepath.Join("api", "*.txtar")} {
		found, err := filepath.Glob(filepath.Join("testdata", "script", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no scripts: %v", err)
		}
		files = append(files, found...)
	}
	return files
}

type serverKey struct{}

// server is the process a script talks to.
type server struct {
	cmd    *exec.Cmd
	lines  chan string // of the log
	base   string
	client *http.Client
	keys   []string

	stalled []net.Conn // requests that were begun and not ended
}

func of(ts *testscript.TestScript) *server { return ts.Value(serverKey{}).(*server) }

func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	if s.cmd != nil {
		ts.Fatalf("a server runs already")
	}
	bin, err := lookPath(ts, "belfry")
	ts.Check(err)
	// Addresses in scripts are nobody's to be asked.
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "debug", "--no-collect"}, args...)
	// On a busy machine a stop takes its time. Scripts with a file of their own say so, too.
	if ts.Getenv("BELFRY_CONFIG") == "" {
		args = append(args, "--config", ts.MkAbs("patient.yaml"))
		ts.Check(os.WriteFile(ts.MkAbs("patient.yaml"), []byte("limits: {stop: 5m}\n"), 0o600))
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = environ(ts)
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	log, err := os.OpenFile(ts.MkAbs("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Check(cmd.Start())
	s.cmd, s.lines = cmd, make(chan string, 1000)
	go follow(stderr, log, s.lines)
	ts.Defer(func() {
		if s.cmd == cmd {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	line := await(ts, s, regexp.MustCompile(`msg=listening .*scheme=(\S+) .*addr=(\S+)`))
	s.base = line[1] + "://" + line[2]
	ts.Setenv("URL", s.base)
	s.client = newClient()
	await(ts, s, regexp.MustCompile(`msg=(ready|"started, but not ready")`))
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, name); isFile(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH", name)
}

func isFile(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

func environ(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WORK", "BELFRY_DATA", "BELFRY_CONFIG", "BELFRY_ADMIN_PASSWORD", "GOCOVERDIR", "TESTSCRIPT_COVER_DIR"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// follow copies the log of a server into a file and hands on its lines.
func follow(r io.Reader, log *os.File, lines chan string) {
	defer log.Close()
	defer close(lines)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		fmt.Fprintln(log, in.Text())
		select {
		case lines <- in.Text():
		default: // nobody waits for this one
		}
	}
}

// await reads the log until a line matches; the end of the log is the end of the server.
func await(ts *testscript.TestScript, s *server, re *regexp.Regexp) []string {
	limit := time.After(10 * time.Minute) // only to end a test that hangs
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				ts.Fatalf("the server ended before it said %q:\n%s", re, ts.ReadFile("server.log"))
			}
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			}
		case <-limit:
			ts.Fatalf("the server did not say %q:\n%s", re, ts.ReadFile("server.log"))
		}
	}
}

func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: trustAnyone()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       60 * time.Second,
	}
}

func cmdHalt(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	for range s.lines { // until it has closed its log
	}
	err := s.cmd.Wait()
	s.cmd = nil
	if err != nil {
		ts.Fatalf("after SIGTERM: %v\n%s", err, ts.ReadFile("server.log"))
	}
}

func cmdCrash(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	ts.Check(s.cmd.Process.Kill())
	s.cmd.Wait()
	s.cmd = nil
}

func cmdHup(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	ts.Check(s.cmd.Process.Signal(syscall.SIGHUP))
	await(ts, s, regexp.MustCompile(`msg="configuration (reloaded|not changed)`))
}

func cmdKey(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: key VAR LEVEL [flags]")
	}
	bin, err := lookPath(ts, "belfry")
	ts.Check(err)
	var out, errs bytes.Buffer
	cmd := exec.Command(bin, append([]string{"key", "create", "--name", args[0], "--level", args[1]}, args[2:]...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = ts.Getenv("WORK"), environ(ts), &out, &errs
	if err := cmd.Run(); err != nil {
		ts.Fatalf("%v: %s", err, errs.String())
	}
	key := strings.TrimSuffix(out.String(), "\n")
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(key) {
		ts.Fatalf("not a key alone: %q", out.String())
	}
	of(ts).keys = append(of(ts).keys, key)
	ts.Setenv(args[0], key)
}

// do sends a request and prints the answer, all of it or the status and the body alone.
func do(ts *testscript.TestScript, r *http.Request, headers bool) {
	res, err := of(ts).client.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	out := ts.Stdout()
	fmt.Fprintf(out, "HTTP %d\n", res.StatusCode)
	if len(res.Header.Get("X-Request-Id")) != 16 {
		ts.Fatalf("no X-Request-Id in the answer")
	}
	if headers {
		var lines []string
		for name, values := range res.Header {
			if !slices.Contains([]string{"Date", "X-Request-Id", "Content-Length"}, name) {
				lines = append(lines, name+": "+strings.Join(values, ", "))
			}
		}
		slices.Sort(lines)
		fmt.Fprintln(out, strings.Join(lines, "\n"))
	}
	out.Write(body)
	checkShape(ts, res, body)
	checkReport(ts, res, body)
}

// checkShape holds every error to its one shape.
func checkShape(ts *testscript.TestScript, res *http.Response, body []byte) {
	if res.StatusCode < 400 || res.Request.Method == "HEAD" {
		return
	}
	if res.Header.Get("Content-Type") != "application/json" || !bytes.HasPrefix(body, []byte(`{"error":{"code":"`)) {
		ts.Fatalf("status %d is not answered with an error body:\n%s", res.StatusCode, body)
	}
	if again := res.Header.Get("Retry-After") != ""; again != (res.StatusCode == 429 || res.StatusCode == 503) {
		ts.Fatalf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
}

func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	var headers []string
	var body io.Reader
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	flags.Func("H", "header", func(h string) error { headers = append(headers, h); return nil })
	flags.Func("d", "body", func(f string) error { body = strings.NewReader(ts.ReadFile(f)); return nil })
	flags.Func("k", "key", func(v string) error { headers = append(headers, "X-Api-Key: "+ts.Getenv(v)); return nil })
	flags.Func("s", "session", func(v string) error { headers = append(headers, "Cookie: belfry_session="+ts.Getenv(v)); return nil })
	ts.Check(flags.Parse(args))
	if flags.NArg() != 2 {
		ts.Fatalf("usage: http [flags] METHOD PATH")
	}
	r, err := http.NewRequest(flags.Arg(0), of(ts).base+flags.Arg(1), body)
	ts.Check(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, strings.TrimSpace(value))
		if strings.EqualFold(name, "Host") {
			r.Host = strings.TrimSpace(value)
		}
	}
	do(ts, r, true)
}

func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: send VAR FILE [query]")
	}
	r, err := http.NewRequest("POST", of(ts).base+"/api/send?"+strings.Join(args[2:], "&"), strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	r.Header.Set("Content-Type", "text/csv")
	r.Header.Set("X-Api-Key", ts.Getenv(args[0]))
	do(ts, r, false)
}

func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: sql VAR QUERY [params]")
	}
	params := url.Values{"q": {args[1]}, "apikey": {ts.Getenv(args[0])}}
	for _, p := range args[2:] {
		name, value, _ := strings.Cut(p, "=")
		params.Set(name, value)
	}
	r, err := http.NewRequest("GET", of(ts).base+"/api/sql?"+params.Encode(), nil)
	ts.Check(err)
	do(ts, r, false)
}

func cmdPack(ts *testscript.TestScript, neg bool, args []string) {
	in := []byte(ts.ReadFile(args[1]))
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if args[0] == "zstd" {
		w, _ = zstd.NewWriter(&out)
	}
	w.Write(in)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o600))
}

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	var size int
	_, err := fmt.Sscan(args[0], &size)
	ts.Check(err)
	var b bytes.Buffer
	b.WriteString("type,resname,object,class,view,i1\n")
	for b.Len() < size {
		b.WriteString("data,big,filler,c,big,12.5\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}

func cmdNoKeys(ts *testscript.TestScript, neg bool, args []string) {
	keys := of(ts).keys
	if len(keys) == 0 {
		ts.Fatalf("no key was made, so there is nothing to look for")
	}
	var once sync.Once
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, k := range keys {
			for _, form := range []string{k, strings.ReplaceAll(k, "-", ""), url.QueryEscape(k)} {
				if bytes.Contains(data, []byte(form)) {
					once.Do(func() { ts.Fatalf("%s holds a key", path) })
				}
			}
		}
		return err
	}))
}

func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	var at int
	_, err := fmt.Sscan(args[0], &at)
	ts.Check(err)
	data := []byte(ts.ReadFile(args[1]))
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

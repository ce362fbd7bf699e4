package crash

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

// hangTimeout ends a test that hangs. No test passes or fails by how long something took below it.
const hangTimeout = 3 * time.Minute

// server is the program on one data folder. It can be started, killed and started again.
type server struct {
	t      testing.TB
	bin    string
	data   string
	config string   // file; empty for none
	env    []string // beside that of the test
	files  int      // that the process may have open; 0: as many as this one
	client *http.Client

	cmd   *exec.Cmd
	begun time.Time
	base  string
	addr  chan string   // the address, once it listens
	ended chan struct{} // closed when the process has ended and its log is read
	exit  error

	mu     sync.Mutex
	log    bytes.Buffer // of the process that runs, or of the last one
	before string       // the log of the run before
	bad    []string     // lines of any process that no kill excuses
}

// newServer prepares a program with the given configuration, in YAML.
func newServer(t testing.TB, data, config string) *server {
	t.Helper()
	s := &server{t: t, bin: binary(t, false), data: data, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: hangTimeout,
	}}
	if config != "" {
		s.config = filepath.Join(t.TempDir(), "belfry.yaml")
		s.configure(config)
	}
	t.Cleanup(func() {
		s.kill()
		s.client.CloseIdleConnections()
	})
	return s
}

func (s *server) configure(config string) {
	s.t.Helper()
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// command is a call of the program on the data folder.
func (s *server) command(args ...string) *exec.Cmd {
	args = append(args, "--data", s.data)
	if s.config != "" {
		args = append(args, "--config", s.config)
	}
	cmd := exec.Command(s.bin, args...)
	if s.files > 0 {
		cmd = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, s.files), s.bin}, args...)...)
	}
	cmd.Env = append(os.Environ(), "BELFRY_ADMIN_PASSWORD=crash-test-password", "GORACE=halt_on_error=1", "BELFRY_NO_COLLECT=true")
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// launch starts the process and returns at once.
func (s *server) launch() {
	s.t.Helper()
	cmd := s.command("serve", "--listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.client.CloseIdleConnections()
	s.mu.Lock()
	s.before = s.log.String()
	s.log.Reset()
	s.mu.Unlock()
	s.begun = time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd, s.addr, s.ended, s.base = cmd, make(chan string, 1), make(chan struct{}), ""
	go s.follow(stderr, cmd, s.addr, s.ended)
}

var (
	listening = regexp.MustCompile(`msg=listening .*scheme=(\S+) .*addr=(\S+)`)
	terrible  = regexp.MustCompile(`level=ERROR|DATA RACE|^panic:|^fatal error:|the metadata have more`) // the last: no kill leaves names of removed items behind
)

func (s *server) follow(r io.Reader, cmd *exec.Cmd, addr chan<- string, ended chan<- struct{}) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if *verbose {
			s.t.Log(line)
		}
		s.mu.Lock()
		fmt.Fprintln(&s.log, line)
		if terrible.MatchString(line) {
			s.bad = append(s.bad, line)
		}
		s.mu.Unlock()
		if m := listening.FindStringSubmatch(line); m != nil {
			addr <- m[1] + "://" + m[2]
		}
	}
	s.exit = cmd.Wait()
	close(ended)
}

// text is the log of the process so far.
func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// ready waits until the program says that it is, and gives the time since its start.
func (s *server) ready() time.Duration {
	s.t.Helper()
	s.listens()
	s.await("ready", func() bool {
		res, err := s.client.Get(s.base + "/readyz")
		if err != nil {
			return false
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return time.Since(s.begun)
}

// listens waits until the program has an address.
func (s *server) listens() {
	s.t.Helper()
	select {
	case s.base = <-s.addr:
	case <-s.ended:
		s.t.Fatalf("the program ended by itself: %v\n%s", s.exit, s.text())
	case <-time.After(hangTimeout):
		s.t.Fatalf("the program does not listen:\n%s", s.text())
	}
}

// answers waits until requests are dealt with, whatever readyz says; on a full disk it says no.
func (s *server) answers(c *client) {
	s.t.Helper()
	s.listens()
	s.await("answering queries", func() bool {
		_, err := c.sql("SELECT name FROM objectstatus", "rows=1")
		return err == nil
	})
}

// await asks again and again until something holds; the program must not end meanwhile.
func (s *server) await(what string, holds func() bool) {
	s.t.Helper()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	limit := time.After(hangTimeout)
	for !holds() {
		select {
		case <-again.C:
		case <-s.ended:
			s.t.Fatalf("waiting for %s: the program ended by itself: %v\n%s", what, s.exit, s.text())
		case <-limit:
			s.cmd.Process.Signal(syscall.SIGQUIT) // it tells what its goroutines do
			select {
			case <-s.ended:
			case <-time.After(hangTimeout):
			}
			s.t.Fatalf("waiting for %s in vain\n%s", what, s.text())
		}
	}
}

// start launches and waits.
func (s *server) start() time.Duration {
	s.t.Helper()
	s.launch()
	return s.ready()
}

// kill ends the process as a power cut would, as far as the process can tell.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// stop asks the process to end; it must do so with success.
func (s *server) stop() time.Duration {
	s.t.Helper()
	begun := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(hangTimeout):
		s.t.Fatalf("the program does not stop:\n%s", s.text())
	}
	s.cmd = nil
	if s.exit != nil {
		s.t.Fatalf("after SIGTERM: %v\n%s", s.exit, s.text())
	}
	return time.Since(begun)
}

// innocent fails the test if the log of any process so far has a line that must not be there.
func (s *server) innocent() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bad) > 0 {
		s.t.Errorf("the log says:\n%s\nlast log:\n%s", strings.Join(s.bad, "\n"), tail(s.log.String()))
		s.bad = nil
	}
}

func tail(log string) string { return log[max(0, len(log)-8000):] }

// cli runs a command on the data folder and gives what it prints.
func (s *server) cli(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hangTimeout)
	defer cancel()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return "", errors.Join(err, errors.New(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// key makes a key of the customer that may do everything.
func (s *server) key(customer, name string) string {
	s.t.Helper()
	key, err := s.cli("key", "create", "--customer", customer, "--name", name, "--level", "readwritedelete")
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

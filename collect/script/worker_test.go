package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
)

// testWorker turns a process of the tests into a worker.
var testWorker = []string{"/proc/self/exe", os.Args[0], "script-worker"}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == testWorker[2] {
		if err := Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// testWorkers run in processes of the tests.
func testWorkers(t *testing.T) *Workers {
	w := &Workers{Command: testWorker}
	t.Cleanup(w.Close)
	return w
}

// endless cannot be interrupted: a built-in function that goes over 2^53 elements.
const endless = `Array.prototype.indexOf.call({length: 2 ** 53}, 1)`

// open starts a script whose function message has a body.
func (s *Workers) open(ctx context.Context, c belfry.CustomerID, body string) (*Runner, error) {
	r, err := New(s, c, "function message(m) { "+body+"; return m }", new(atomic.Int32))
	if err != nil {
		return nil, err
	}
	return r, r.Open(ctx)
}

// all runs the script on n messages, and returns the result of each.
func (l *Runner) all(ctx context.Context, n int) (results []Result) {
	for len(results) < n {
		var messages [][]byte
		for i := len(results); i < n; i++ {
			messages = append(messages, fmt.Appendf(nil, `{"n":%d}`, i))
		}
		results = append(results, l.Run(ctx, messages)...)
	}
	return results
}

// checkSeen fails the test unless the script has marked each message.
func checkSeen(t *testing.T, results []Result) {
	t.Helper()
	for i, r := range results {
		if want := fmt.Sprintf(`{"kept":{"n":%d,"seen":true},"feeds":[]}`, i); r.Err != nil || string(r.Text) != want {
			t.Errorf("message %d: %s, %v", i, r.Text, r.Err)
		}
	}
}

// A worker that ends for an unknown reason costs nothing: its messages are tried again.
func TestWorkerDies(t *testing.T) {
	s := testWorkers(t)
	s.Pause = time.Millisecond
	r, err := s.open(t.Context(), 1, "m.seen = true")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		w := s.live[1].p
		if w.cmd.Process.Kill(); i%2 == 0 {
			w.in.Close() // as when the pipe breaks before the end of the process is noticed
		}
		checkSeen(t, r.all(t.Context(), 20))
	}
	if r.kills.Load() != 0 {
		t.Errorf("%d kills", r.kills.Load())
	}
}

// A worker has nothing of the service: no environment, no files, and it ends with its input.
func TestWorkerIsBare(t *testing.T) {
	secret, err := os.CreateTemp(t.TempDir(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	t.Setenv("BELFRY_ADMIN_PASSWORD", "secret")
	p, err := startProcess(testWorker, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	id := p.openSession()
	if _, err := p.call(frameOpen, id, [][]byte{number(1000), number(1000), []byte("function message(m) { return m }")}, 10*time.Second, func([]byte) {}); err != nil {
		t.Fatal(err)
	}
	proc := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	env, err := os.ReadFile(proc + "/environ")
	if err != nil || strings.Contains(string(env), "secret") || strings.Contains(string(env), "PATH=") {
		t.Errorf("its environment: %q, %v", env, err)
	}
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		to, _ := os.Readlink(proc + "/fd/" + f.Name())
		if n, _ := strconv.Atoi(f.Name()); n > 2 && !strings.HasPrefix(to, "anon_inode:") {
			t.Errorf("it has %s open", to)
		}
	}
	limits, _ := os.ReadFile(proc + "/limits")
	for line := range strings.Lines(string(limits)) {
		if strings.HasPrefix(line, "Max data size") && strings.Contains(line, "unlimited") {
			t.Errorf("%s", line)
		}
	}
	p.in.Close()
	<-p.dead
}

// Customers take turns when there are more of them than workers.
func TestWorkersTakeTurns(t *testing.T) {
	s := testWorkers(t)
	s.Max = 1
	var all sync.WaitGroup
	for c := range 3 {
		all.Go(func() {
			r, err := s.open(t.Context(), belfry.CustomerID(c+1), "m.seen = true")
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				checkSeen(t, r.all(t.Context(), 3))
			}
		})
	}
	all.Wait()
	if n := len(s.live); n != 1 {
		t.Errorf("%d workers", n)
	}
}

// One process, and a customer whose scripts have to be killed one after the other: another customer's scripts run many times
// between two of them.
func TestScriptsBesideBadOnes(t *testing.T) {
	s := testWorkers(t)
	s.Max, s.Stall, s.Limit = 1, 300*time.Millisecond, Limit{10 * time.Second, 50 * time.Millisecond}
	once := func(ctx context.Context, c belfry.CustomerID, body string) error {
		r, err := s.open(ctx, c, body)
		if err != nil {
			return err
		}
		defer r.Close()
		return r.all(ctx, 1)[0].Err
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var killed atomic.Int32
	first := make(chan struct{})
	var bad sync.WaitGroup
	for range 6 {
		bad.Go(func() {
			for ctx.Err() == nil {
				if err := once(ctx, 1, endless); errors.Is(err, errKilled) && killed.Add(1) == 1 {
					close(first)
				}
			}
		})
	}
	<-first
	for range 30 {
		if err := once(t.Context(), 2, "m.seen = true"); err != nil {
			t.Error(err)
		}
	}
	if n := killed.Load(); n > 15 {
		t.Errorf("%d scripts were killed while another customer had 30 messages", n)
	}
	stop()
	bad.Wait()
}

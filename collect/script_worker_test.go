package collect

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
)

// quickEnv kills scripts that make no progress early.
func quickEnv(t *testing.T) *Env {
	e := testEnv(t)
	e.scripts.stall = 600 * time.Millisecond // half of it in processor time, so that a busy machine ends no others
	e.scripts.limit = scriptLimit{200 * time.Millisecond, 50 * time.Millisecond}
	e.scripts.pause = time.Millisecond
	return e
}

// numbered makes messages; those whose number is in bad are marked.
func numbered(n int, bad ...int) (all []Syslog) {
	for i := range n {
		m := Syslog{Message: strconv.Itoa(i)}
		if slices.Contains(bad, i) {
			m.App = "bad"
		}
		all = append(all, m)
	}
	return all
}

// endless cannot be interrupted: a built-in function that goes over 2^53 elements.
const endless = `Array.prototype.indexOf.call({length: 2 ** 53}, 1)`

// A message that ends the worker costs only that message: it is kept unchanged. All others, of this receiver and of
// another one of the same customer, are processed, each once.
func TestScriptKilled(t *testing.T) {
	e := quickEnv(t)
	e.scripts.limit.start = 10 * time.Second // starting a worker on a busy machine takes long
	kills := new(atomic.Int32)
	p, _, err := newPipeline[Syslog](t.Context(), e, 1, map[string]string{"script": `function message(m) { if (m.app === "bad") ` + endless + `; m.category = "seen"; return m }`}, kills)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := newPipeline[Syslog](t.Context(), e, 1, map[string]string{"script": `function message(m) { m.category = "other"; return m }`}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		for open := true; open; {
			select {
			case <-over:
				open = false
			default:
			}
			all := numbered(50)
			for i, v := range other.apply(t.Context(), all) {
				if v.failed != nil || all[i].Category != "other" {
					t.Errorf("the other receiver: %v", v.failed)
				}
			}
		}
	})
	all := numbered(20, 7)
	for i, v := range p.apply(t.Context(), all) {
		if want := i == 7; (v.failed != nil) != want || (all[i].Category == "") != want || v.rejectedBy != "" {
			t.Errorf("message %d: %q, %v", i, all[i].Category, v.failed)
		}
	}
	if kills.Load() != 1 || p.off() {
		t.Errorf("%d kills, off: %v", kills.Load(), p.off())
	}
	// Repeatedly: the script is no longer run, and nothing is lost.
	for range scriptKills - 1 {
		p.backoff = backoff{}
		for i, v := range p.apply(t.Context(), numbered(10, 2)) {
			if v.rejectedBy != "" {
				t.Errorf("message %d is lost", i)
			}
		}
	}
	if !p.off() {
		t.Errorf("%d kills, and it is still run", kills.Load())
	}
	close(over)
	beside.Wait()
}

// A worker that ends for an unknown reason costs nothing: its messages are tried again.
func TestWorkerDies(t *testing.T) {
	e := testEnv(t)
	e.scripts.pause = time.Millisecond
	p, _, err := newPipeline[Syslog](t.Context(), e, 1, map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		w := e.scripts.live[1].p
		if w.cmd.Process.Kill(); i%2 == 0 {
			w.in.Close() // as when the pipe breaks before the end of the process is noticed
		}
		all := numbered(20)
		for i, v := range p.apply(t.Context(), all) {
			if v.failed != nil || all[i].Category != "seen" {
				t.Errorf("message %d: %q, %v", i, all[i].Category, v.failed)
			}
		}
	}
	if p.script.kills.Load() != 0 {
		t.Errorf("%d kills", p.script.kills.Load())
	}
}

// A receiver whose script has to be killed repeatedly is switched off, and its object shows why; another one continues.
func TestScriptSwitchedOff(t *testing.T) {
	h := newFixture(t, Kinds)
	h.env.scripts.pause = time.Millisecond
	h.env.scripts.stall, h.env.scripts.limit = 200*time.Millisecond, scriptLimit{2 * time.Second, 50 * time.Millisecond}
	bad, good := freePort(t, "udp"), freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen,script",
		"Bad,"+bad+","+cell(`function message(m) { `+endless+`; return m }`),
		"Good,"+good+","+cell(`function message(m) { m.category = "good"; return m }`))
	h.up("Bad", "Good")
	c := dial(t, "udp", "127.0.0.1", bad)
	for range scriptKills {
		if _, err := c.Write([]byte("<13>a line")); err != nil {
			t.Fatal(err)
		}
	}
	h.await("it is off", func() bool {
		s := h.state("Bad - Receiver")
		return s.Status == belfry.Unavailable && strings.HasPrefix(s.Info, "switched off: ")
	})
	if n := h.env.Totals.Failed.Load(); n != scriptKills {
		t.Errorf("%d were counted as kept without the script", n)
	}
	h.holds("syslog", []string{"a line|", "a line|", "a line|"}, "message", "category")
	if _, err := dial(t, "udp", "127.0.0.1", good).Write([]byte("<13>more")); err != nil {
		t.Fatal(err)
	}
	h.holds("syslog", []string{"a line|", "a line|", "a line|", "more|good"}, "message", "category")
	h.provision("log-syslog-receiver", "name,script", "Bad,")
	h.up("Bad")
}

// Scripts that crash or hang the worker are refused when they are provisioned, also in a dry run.
func TestWorstScriptsRefused(t *testing.T) {
	e := quickEnv(t)
	f := func(script, want string) {
		t.Helper()
		column, err := checkPipeline[Syslog](t.Context(), e, 1, map[string]string{"script": script})
		if err == nil || column != "script" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %s: %v", script, column, err)
		}
	}
	f(strings.Repeat("[", 523000), "it has 523000 bytes, and a script may have 65536")
	f(strings.Repeat("(", 30000), "it has brackets inside brackets, 30000 deep")
	f(endless+`; function message(m) { return m }`, "its process was ended")
	f(`let a = []; for (;;) a.push(new ArrayBuffer(1 << 20))`, "the script is wrong: ")
}

// A worker has nothing of the service: no environment, no files, and it ends with its input.
func TestWorkerIsBare(t *testing.T) {
	secret, err := os.CreateTemp(t.TempDir(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	t.Setenv("BELFRY_ADMIN_PASSWORD", "secret")
	p, err := startScripts(testWorker, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	lane := p.openSession()
	if _, err := p.call(frameOpen, lane, [][]byte{number(1000), number(1000), []byte("function message(m) { return m }")}, 10*time.Second, func([]byte) {}); err != nil {
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
	e := testEnv(t)
	e.scripts.max = 1
	var all sync.WaitGroup
	for c := range 3 {
		all.Go(func() {
			p, _, err := newPipeline[Syslog](t.Context(), e, belfry.CustomerID(c+1), map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				messages := numbered(3)
				for i, v := range p.apply(t.Context(), messages) {
					if v.failed != nil || messages[i].Category != "seen" {
						t.Error(v.failed)
					}
				}
			}
		})
	}
	all.Wait()
	if n := len(e.scripts.live); n != 1 {
		t.Errorf("%d workers", n)
	}
}

// One process, and a customer whose scripts have to be killed one after the other: another customer's scripts run many times
// between two of them.
func TestScriptsBesideBadOnes(t *testing.T) {
	e := testEnv(t)
	e.scripts.max, e.scripts.stall = 1, 300*time.Millisecond
	e.scripts.limit = scriptLimit{10 * time.Second, 50 * time.Millisecond}
	ask := func(ctx context.Context, customer belfry.CustomerID, body string) error {
		p, _, err := newPipeline[Syslog](ctx, e, customer, map[string]string{"script": "function message(m) { " + body + "; return m }"}, new(atomic.Int32))
		if err != nil {
			return err
		}
		defer p.close()
		return p.apply(ctx, []Syslog{{}})[0].failed
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var killed atomic.Int32
	first := make(chan struct{})
	var bad sync.WaitGroup
	for range 6 {
		bad.Go(func() {
			for ctx.Err() == nil {
				if err := ask(ctx, 1, endless); errors.Is(err, errScriptKilled) && killed.Add(1) == 1 {
					close(first)
				}
			}
		})
	}
	<-first
	for range 30 {
		if err := ask(t.Context(), 2, `m.category = "seen"`); err != nil {
			t.Error(err)
		}
	}
	if n := killed.Load(); n > 15 {
		t.Errorf("%d scripts were killed while another customer had 30 messages", n)
	}
	stop()
	bad.Wait()
}

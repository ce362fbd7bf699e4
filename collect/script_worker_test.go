package collect

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/collect/script"
	"belfry/collect/syslog"
)

// quickEnv kills scripts that make no progress early.
func quickEnv(t *testing.T) *Env {
	e := testEnv(t)
	e.scripts.Stall = 600 * time.Millisecond // half of it in processor time, so that a busy machine ends no others
	e.scripts.Limit = script.Limit{Start: 200 * time.Millisecond, Message: 50 * time.Millisecond}
	e.scripts.Pause = time.Millisecond
	return e
}

// numbered makes messages; those whose number is in bad are marked.
func numbered(n int, bad ...int) (all []syslog.Message) {
	for i := range n {
		m := syslog.Message{Message: strconv.Itoa(i)}
		if slices.Contains(bad, i) {
			m.App = "bad"
		}
		all = append(all, m)
	}
	return all
}

// scriptKills is after how many kills a script is switched off.
const scriptKills = 3

// endless cannot be interrupted: a built-in function that goes over 2^53 elements.
const endless = `Array.prototype.indexOf.call({length: 2 ** 53}, 1)`

// A message that ends the worker costs only that message: it is kept unchanged. All others, of this receiver and of
// another one of the same customer, are processed, each once.
func TestScriptKilled(t *testing.T) {
	e := quickEnv(t)
	e.scripts.Limit.Start = 10 * time.Second // starting a worker on a busy machine takes long
	kills := new(atomic.Int32)
	p, _, err := newPipeline[syslog.Message](t.Context(), e, syslogFormat{}, 1, map[string]string{"script": `function message(m) { if (m.app === "bad") ` + endless + `; m.category = "seen"; return m }`}, kills)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := newPipeline[syslog.Message](t.Context(), e, syslogFormat{}, 1, map[string]string{"script": `function message(m) { m.category = "other"; return m }`}, new(atomic.Int32))
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

// A receiver whose script has to be killed repeatedly is switched off, and its object shows why; another one continues.
func TestScriptSwitchedOff(t *testing.T) {
	h := newFixture(t, Kinds)
	h.env.scripts.Pause = time.Millisecond
	h.env.scripts.Stall, h.env.scripts.Limit = 200*time.Millisecond, script.Limit{Start: 2 * time.Second, Message: 50 * time.Millisecond}
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
		column, err := checkPipeline[syslog.Message](t.Context(), e, syslogFormat{}, 1, map[string]string{"script": script})
		if err == nil || column != "script" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %s: %v", script, column, err)
		}
	}
	f(strings.Repeat("[", 523000), "it has 523000 bytes, and a script may have 65536")
	f(strings.Repeat("(", 30000), "it has brackets inside brackets, 30000 deep")
	f(endless+`; function message(m) { return m }`, "its process was ended")
	f(`let a = []; for (;;) a.push(new ArrayBuffer(1 << 20))`, "the script is wrong: ")
}

package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry/collect/syslog"
)

// testEnv runs scripts in a process of the tests.
func testEnv(t *testing.T) *Env {
	e := &Env{Log: slog.New(slog.DiscardHandler), Now: time.Now, Worker: testWorker}
	e.scripts.Command = testWorker
	t.Cleanup(e.scripts.Close)
	return e
}

// one applies the pipeline to one message.
func (p *pipeline[M]) one(m *M) verdict[M] {
	all := []M{*m}
	v := p.apply(context.Background(), all)
	*m = all[0]
	return v[0]
}

func TestScript(t *testing.T) {
	env := testEnv(t)
	f := func(text string, want string) {
		t.Helper()
		m := syslog.Message{Severity: 3, App: "kernel", Message: "link down"}
		s, _, err := newPipeline[syslog.Message](t.Context(), env, syslogFormat{}, 1, map[string]string{"script": text}, new(atomic.Int32))
		if err != nil {
			if got := err.Error(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %s", text, got)
			}
			return
		}
		defer s.close()
		for range 2 { // the second message finds a machine that works, whatever the first did
			m = syslog.Message{Severity: 3, App: "kernel", Message: "link down"}
			s.backoff = backoff{} // on a slow machine a single failure may be one too many
			v := s.one(&m)
			got := fmt.Sprint(v.rejectedBy == "", " ", m.Severity, " ", m.Category, " ", m.Message, " ", v.feeds)
			if v.failed != nil {
				got = fmt.Sprint(v.rejectedBy == "", " ", m.Message, " ", v.failed)
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %s", text, got)
			}
		}
	}
	f(`function message(m) { return m }`, "true 3  link down []")
	f(`const message = m => { m.category = "net"; m.severity = 1; return m }`, "true 1 net link down []")
	f(`function message(m) { return null }`, "false 3  link down []")
	f(`function message(m) { data("web", {i1: 3, i2: "on"}); log("web", m.message, {class: "c", view: "v"}); return m }`,
		"true 3  link down [{false web  map[i1:3 i2:on]   } {true web link down map[]  c v}]")
	f(`let n = 0; function message(m) { m.message = m.message.toUpperCase(); return m }`, "true 3  LINK DOWN []")
	f(`function message(m) { return m`, "the script is wrong: SyntaxError: unexpected token in expression: '' (line 1, column 31)")
	f(`function massage(m) { return m }`, "the script is wrong: the script has no function message(m)")
	f(`function message(m) { }`, "true link down script: TypeError: message(m) returned nothing")
	f(`function message(m) { return 3 }`, "true link down script: TypeError: message(m) returned a number")
	f("function message(m) {\n return m.nothing.at.all }", "true link down script: TypeError: cannot read property 'at' of undefined (line 2)")
	f(`function message(m) { m.severity = "high"; return m }`, "true link down script: result of message(m): severity is a text, and must be a whole number")
	f(`function message(m) { m.severity = 12; return m }`, "true link down script: result of message(m): severity is 12; it is a number from 0 to 7")
	f(`function message(m) { m.facility = -1; return m }`, "true link down script: result of message(m): facility is -1; it is a number from 0 to 23")
	f(`function message(m) { m.message = "x".repeat(1 << 18); return m }`, "true link down script: result of message(m): message has 262144 bytes, and at most 196608 are kept")
	f(`function message(m) { m.message = "a\0b"; return m }`, "true 3  a\u2400b []")
	f(`function message(m) { for (;;); }`, "true link down script: the script ran for too long")
	f(`for (;;);`, "the script is wrong: the script ran for too long")
	f(`function message(m) { return message(m) }`, "true link down script: the script called itself too often")
	f(`function message(m) { const a = []; for (;;) a.push("x".repeat(1 << 20) + a.length) }`, "true link down script: the script ")
	f(`function message(m) { return "x".repeat(1 << 29) }`, "true link down script: ")
	f(`function message(m) { for (let i = 0; i < 200; i++) data("o", {i1: i}); return m }`, "true link down script: RangeError: a message may feed at most 100 objects")
	f(`function message(m) { m.message = typeof require + typeof fetch + typeof std + typeof os + typeof process; return m }`,
		"true 3  undefinedundefinedundefinedundefinedundefined []")
	f(`JSON.parse = JSON.stringify = String = null; function message(m) { return m }`, "true 3  link down []")
}

// A script can return everything that a device can send.
func TestScriptLongest(t *testing.T) {
	s, _, err := newPipeline[syslog.Message](t.Context(), testEnv(t), syslogFormat{}, 1, map[string]string{"script": "function message(m) { m.category = 'seen'; return m }"}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	p := syslog.Parser{Zone: time.UTC, Now: time.Now}
	m := p.Parse(strings.Repeat("\x00", tcpLength-1) + "a")
	if v := s.one(&m); v.failed != nil || m.Category != "seen" || len(m.Message) <= 2*tcpLength {
		t.Errorf("%d bytes: %v", len(m.Message), v.failed)
	}
}

// A script that fails repeatedly is suspended, so that others need not wait; one that works again is run as before.
func TestScriptRests(t *testing.T) {
	s, _, err := newPipeline[syslog.Message](t.Context(), testEnv(t), syslogFormat{}, 1, map[string]string{"script": `function message(m) { if (m.app) return m; throw new Error("no app") }`}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	f := func(app, want string) {
		t.Helper()
		s.backoff.spent = 0 // on a slow machine, failures take long enough for a rest
		v := s.one(&syslog.Message{App: app, Message: "x"})
		if got := fmt.Sprint(v.failed); v.rejectedBy != "" || !strings.HasPrefix(got, want) {
			t.Errorf("by %q: %s", v.rejectedBy, got)
		}
	}
	for range backoffAfter - 1 {
		f("", "script: Error: no app")
	}
	f("a", "<nil>")
	for range backoffAfter {
		f("", "script: Error: no app")
	}
	f("a", "script: it failed 20 times in a row and is suspended for 10s: Error: no app")
	s.backoff.until = time.Now()
	f("", "script: Error: no app")
	f("a", "script: it failed 21 times in a row") // once more was enough
	s.backoff.until = time.Now()
	f("a", "<nil>")
	f("", "script: Error: no app")
	f("a", "<nil>")

	var r backoff
	r.failed(errors.New("slow"), time.Now(), backoffAfterSpent)
	if r.why == nil {
		t.Error("one that takes long goes on")
	}
}

// A filter that is no longer accepted switches its receiver off, with the reason.
func TestStoredFilterTooCostly(t *testing.T) {
	filter := strings.Repeat(`lower(message) == "x" or `, 51) + "false"
	c, err := Kinds["log-syslog-receiver"].New(testEnv(t), Task{Kind: "log-syslog-receiver", Answers: map[string]string{"listen": freePort(t, "udp"), "filter": filter}})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context(), nil)
	if _, off := err.(switchedOff); !off || !strings.Contains(err.Error(), "switched off: the filter is wrong: its functions read whole texts too often") {
		t.Error(err)
	}
}

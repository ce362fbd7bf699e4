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
)

func TestFilter(t *testing.T) {
	m := &Syslog{IP: "192.0.2.1", Severity: 3, Facility: 23, App: "kernel", Message: "eth0: link down"}
	f := func(text, want string) {
		t.Helper()
		got := ""
		filter, err := NewFilter(text, new(Syslog))
		if err == nil {
			var keep bool
			keep, err = filter.Keep(m)
			got = fmt.Sprint(keep)
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", text, got)
		}
	}
	f(`severity <= 4 && message contains "link"`, "true")
	f(`severity > 4 || app == "sshd"`, "false")
	f(`message matches "link (up|down)$" and ip startsWith "192.0.2."`, "true")
	f(`facility in [16, 17, 23]`, "true")
	f(`lower(app) == "kernel" and len(message) > 3`, "true")
	f(`sevrity <= 4`, "line 1, column 1: unknown name sevrity")
	f(`severity <= "4"`, "line 1, column 10: invalid operation")
	f(`severity`, "expected bool, but got int")
	f("severity < 4 &&\n  (app == ", "line 2, column 10: ")
	f(`message matches "("`, "line 1, column ")
	f(`all(1..1000000000, all(1..1000000000, true))`, "line 1, column 6: a range must be")
	f(`len(repeat("a", 1000000000)) > 1`, "line 1, column 5: a filter has no function repeat")
	f(strings.Repeat("(", 200)+"true"+strings.Repeat(")", 200), "it has brackets inside brackets, 200 deep")
	f(strings.Repeat("[", 523000), "it has 523000 bytes, and a filter may have 16384")
	f(strings.Repeat("!", 9001)+"true", "")
	f(strings.Repeat("not ", 4000)+"true", "")
	f(`all(1..40, all(1..40, # < 50))`, "it takes up to 2001 steps")
	f(`all(1..30, all(1..10, # < 50))`, "true")
	f(`any(split(message, ""), any(split(message, ""), true))`, "line 1, column 5: a filter has no function split")
	f(`severity in 0..3 and facility in 16..23`, "true")
	f(`severity in 0..3000000`, "line 1, column 14: a range must be")
	f(`message + message == app`, "line 1, column 9: a filter cannot put texts together")
	f(`facility * 8 + severity == 187`, "true")
	f(`let a = message; a == app`, "line 1, column ")
	f(`$env.app == "web"`, "line 1, column 1: a filter has no $env; write the name of the field alone")
	f(`$env["app"] == "web"`, "line 1, column 1: a filter has no $env")
	f(`app == "web" or any(1..2, "app" in $env)`, "line 1, column 36: a filter has no $env")
	f(`replace(message, "", message) == app`, "line 1, column 1: a filter has no function replace")
	f(`message matches message`, "line 1, column 9: the pattern of matches")
	f(`message matches "`+strings.Repeat("(a{100}){10}", 3)+`"`, "it takes up to 2001 steps")
	f(`devicetime.Hour() < 25 and devicetime.IsZero()`, "true")
	f(`devicetime.Format(message) == app`, "line 1, column 12: a filter cannot call this")
	f(`message[0:4] == "eth0" and upper(app) startsWith "KERN"`, "true")
}

// testEnv runs scripts in a process of the tests.
func testEnv(t *testing.T) *Env {
	e := &Env{Log: slog.New(slog.DiscardHandler), Now: time.Now, Worker: testWorker}
	e.scripts.command = testWorker
	t.Cleanup(e.scripts.close)
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
		m := Syslog{Severity: 3, App: "kernel", Message: "link down"}
		s, _, err := newPipeline[Syslog](t.Context(), env, 1, map[string]string{"script": text}, new(atomic.Int32))
		if err != nil {
			if got := err.Error(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %s", text, got)
			}
			return
		}
		defer s.close()
		for range 2 { // the second message finds a machine that works, whatever the first did
			m = Syslog{Severity: 3, App: "kernel", Message: "link down"}
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
	f(`function message(m) { }`, "true link down script: TypeError: message(m) gave nothing back")
	f(`function message(m) { return 3 }`, "true link down script: TypeError: message(m) gave back a number")
	f("function message(m) {\n return m.nothing.at.all }", "true link down script: TypeError: cannot read property 'at' of undefined (line 2)")
	f(`function message(m) { m.severity = "high"; return m }`, "true link down script: what message(m) gave back: severity is a text, and must be a whole number")
	f(`function message(m) { m.severity = 12; return m }`, "true link down script: what message(m) gave back: severity is 12; it is a number from 0 to 7")
	f(`function message(m) { m.facility = -1; return m }`, "true link down script: what message(m) gave back: facility is -1; it is a number from 0 to 23")
	f(`function message(m) { m.message = "x".repeat(1 << 18); return m }`, "true link down script: what message(m) gave back: message has 262144 bytes, and at most 196608 are kept")
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
	s, _, err := newPipeline[Syslog](t.Context(), testEnv(t), 1, map[string]string{"script": "function message(m) { m.category = 'seen'; return m }"}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	lines := lineReader{zone: time.UTC, now: time.Now}
	m := lines.read(strings.Repeat("\x00", tcpLength-1) + "a")
	if v := s.one(&m); v.failed != nil || m.Category != "seen" || len(m.Message) <= 2*tcpLength {
		t.Errorf("%d bytes: %v", len(m.Message), v.failed)
	}
}

// A script that fails repeatedly is suspended, so that others need not wait; one that works again is run as before.
func TestScriptRests(t *testing.T) {
	s, _, err := newPipeline[Syslog](t.Context(), testEnv(t), 1, map[string]string{"script": `function message(m) { if (m.app) return m; throw new Error("no app") }`}, new(atomic.Int32))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	f := func(app, want string) {
		t.Helper()
		s.backoff.spent = 0 // on a slow machine, failures take long enough for a rest
		v := s.one(&Syslog{App: app, Message: "x"})
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
	f("a", "script: it failed 20 times in a row and rests for 10s: Error: no app")
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

func TestFeed(t *testing.T) {
	f := func(feed Feed, want string) {
		t.Helper()
		row, err := feed.row("R")
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s %s %s %s %v", row.Type, row.Resource, row.Object, row.Log, row.Indicators)
		}
		if got != want {
			t.Errorf("got %s", got)
		}
	}
	f(Feed{Object: "o", Values: map[string]any{"i1": 3.5}}, "data R o  [{1 3.5}]")
	f(Feed{Object: "o", Values: map[string]any{"i12": "on"}, Resource: "S"}, "data S o  [{12 on}]")
	f(Feed{Object: "o", Log: true, Text: "line"}, "log R o line []")
	f(Feed{Object: "o", Values: map[string]any{"x": 1.0}}, `data("o", …): there is no indicator "x"; they are i1, i2, …`)
	f(Feed{Object: "o", Values: map[string]any{"i1": nil}}, `data("o", …): i1 is neither a number nor a text`)
}

func FuzzFilter(f *testing.F) {
	f.Add(`severity <= 4 && message contains "link"`, "link down")
	f.Add(`all(1..100000, # > 0) or message matches "a(b|c)*"`, "")
	f.Fuzz(func(t *testing.T, text, message string) {
		if filter, err := NewFilter(text, new(Syslog)); err == nil {
			filter.Keep(&Syslog{Message: message})
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	})
}

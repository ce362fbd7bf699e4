package script

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"
)

// runOnce runs a script on a message as a worker does, with clocks for the time it took and for the CPU time of the
// process, in which other scripts run, too. Both clocks are read when the message begins and when it is done.
func runOnce(t *testing.T, body string, took, cpu time.Duration, others int32) Result {
	t.Helper()
	s, err := newScript("var k = []; function message(m) { "+body+"; return m }", Limit{time.Minute, time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.limit.Message = defaultMessageTime
	now, used := time.Unix(0, 0), -cpu
	var out bytes.Buffer
	w := &server{out: bufio.NewWriter(&out), now: func() time.Time {
		defer func() { now = now.Add(took) }()
		return now
	}, cpu: func() (time.Duration, bool) {
		used += cpu
		return used, true
	}}
	w.running.Store(others)
	w.run(1, s, append(number(2), "{}"...))
	w.flush()
	f, err := readFrame(&out)
	if err != nil {
		t.Fatal(err)
	}
	return readOutcome(f.body)
}

// A failed script has an error text, even if it leaves no memory for it.
func TestScriptErrorHasText(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if r := runOnce(t, body, 0, 0, 0); r.Err == nil || !strings.HasPrefix(r.Err.Error(), want) {
			t.Errorf("%s: %v", body, r.Err)
		}
	}
	f(`for (let i = 0; i < 1e7; i++) k.push(new Array(1000).fill(i))`, "the script used more than 16 MiB of memory")
	f(`for (;;) k.push({})`, "the script used more than 16 MiB of memory")
	f(`throw ""`, "the script failed with an error that has no text")
	f(`throw Symbol("x")`, "the script failed with an error that has no text")
	f(`throw Error("full")`, "Error: full")
}

// A built-in function may exceed the limit without being interrupted: a late result does not count, unless the machine
// was too busy to run the script.
func TestLateResult(t *testing.T) {
	f := func(took, cpu time.Duration, others int32, want string) {
		t.Helper()
		r, got := runOnce(t, `let a = new Array(10).fill(0); a.sort(function () { for (;;); })`, took, cpu, others), ""
		if r.Err != nil {
			got = r.Err.Error()
		}
		if got != want || r.Took != took {
			t.Errorf("after %v: %q, %v", took, got, r.Took)
		}
	}
	const limit = defaultMessageTime * raceFactor
	f(limit, limit, 0, "")
	f(limit+time.Microsecond, limit, 0, "the script ran for too long")
	f(10*limit, limit/10, 0, "") // the machine was busy with others
	f(2*limit, 2*limit, 1, "")   // and so was the process
	f(2*limit, 4*limit, 1, "the script ran for too long")
}

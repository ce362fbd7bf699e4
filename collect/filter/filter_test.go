package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// line and trap are messages with fields of all types.
type line struct {
	IP         string    `expr:"ip"`
	Facility   int       `expr:"facility"`
	Severity   int       `expr:"severity"`
	App        string    `expr:"app"`
	Message    string    `expr:"message"`
	DeviceTime time.Time `expr:"devicetime"`
}

type trap struct {
	Name     string   `expr:"name"`
	P        []string `expr:"p"`
	Varbinds string   `expr:"varbinds"`
}

func TestFilter(t *testing.T) {
	m := &line{IP: "192.0.2.1", Severity: 3, Facility: 23, App: "kernel", Message: "eth0: link down"}
	f := func(text, want string) {
		t.Helper()
		got := ""
		filter, err := New(text, new(line))
		if err == nil {
			var keep bool
			keep, err = filter.Keep(m, 33)
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
	f(`$env.app == "web"`, "line 1, column 1: a filter has no $env; write only the name of the field")
	f(`$env["app"] == "web"`, "line 1, column 1: a filter has no $env")
	f(`app == "web" or any(1..2, "app" in $env)`, "line 1, column 36: a filter has no $env")
	f(`replace(message, "", message) == app`, "line 1, column 1: a filter has no function replace")
	f(`message matches message`, "line 1, column 9: the pattern of matches")
	f(`message matches "`+strings.Repeat("(a{100}){10}", 3)+`"`, "it takes up to 2001 steps")
	f(`devicetime.Hour() < 25 and devicetime.IsZero()`, "true")
	f(`devicetime.Format(message) == app`, "line 1, column 12: a filter cannot call this")
	f(`message[0:4] == "eth0" and upper(app) startsWith "KERN"`, "true")
}

func FuzzFilter(f *testing.F) {
	f.Add(`severity <= 4 && message contains "link"`, "link down")
	f.Add(`all(1..100000, # > 0) or message matches "a(b|c)*"`, "")
	f.Fuzz(func(t *testing.T, text, message string) {
		if filter, err := New(text, new(line)); err == nil {
			filter.Keep(&line{Message: message}, len(message))
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	})
}

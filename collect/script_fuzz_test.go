package collect

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"belfry/collect/syslog"

	"belfry/collect/script"
)

// Random scripts have many endless loops, which would take nearly all the time with the usual limits.
const soon = 2 * time.Millisecond

// tryScript runs a script on messages, one after the other as a receiver does, and checks what must hold for every
// script: no message is lost or changed because the script failed, and every kept message can be stored.
func tryScript(t *testing.T, env *Env, start time.Duration, text, message string) (ran bool) {
	t.Helper()
	env.scripts.Limit = script.Limit{Start: start, Message: soon}
	s, _, err := newPipeline[syslog.Message](t.Context(), env, syslogFormat{}, 1, map[string]string{"script": text}, new(atomic.Int32))
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
		return false
	}
	defer s.close()
	full := syslog.Message{IP: "192.0.2.7", Host: "h", Facility: 23, Severity: 7, App: message, ProcID: "1", MsgID: "2", Category: "c", Data: "{}", DeviceTime: time.Unix(1, 0).UTC()}
	for _, m := range []syslog.Message{{Message: message}, full, {}} {
		was := m
		v := s.one(&m)
		if v.failed != nil && (v.rejectedBy != "" || m != was) {
			t.Errorf("%v: of %+v it made %+v, %s", v.failed, was, m, v.rejectedBy)
		}
		if err := checkMessage(s.format, &m); v.failed == nil && v.rejectedBy == "" && err != nil {
			t.Errorf("kept: %v", err)
		}
	}
	return true
}

// FuzzScript runs few executions per second, as the interpreter is large and the fuzzer copies its whole coverage. So
// each does a lot, and TestScriptWords continues without the fuzzer.
func FuzzScript(f *testing.F) {
	f.Add(`function message(m) { m.category = m.app; return m }`, "text")
	f.Add(`function message(m) { for (;;); }`, "")
	f.Add(`function message(m) { return message(m) }`, "")
	f.Add(`for (;;);`, "")
	f.Add(`let n = 0; function message(m) { if (n++ > 1) throw m; log("o", m.message, {view: "v"}); data("o", {i1: n}); return n ? m : null }`, "text")
	f.Add(`let s = "x"; function message(m) { for (;;) s += s; }`, "")
	f.Fuzz(func(t *testing.T, text, message string) { tryScript(t, testEnv(t), 10*soon, text, message) })
}

// TestScriptWords makes scripts of meaningful words, of which far more run than of random letters.
func TestScriptWords(t *testing.T) {
	words := strings.Fields(`m m m m. m. severity facility message app category devicetime = = == === ( ) ( ) { } [ ] , ; ; ; . + - * / ! ? : => ...
		0 1 -1 2.5 1e400 NaN null undefined true "" "x" /x/g ` + "`${m}` " + `return throw if else for while do break try catch finally new delete typeof in of let var
		const function class extends this async await yield JSON JSON.stringify Object Object.freeze Symbol Proxy Reflect Array String BigInt(7) Promise eval
		globalThis message __belfry data log ("o",{i1:1}) ("o","text") (m) (m) toJSON __proto__ prototype constructor length Math.random() Date RegExp`)
	env := testEnv(t)
	random := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for range 150 {
		var body []string
		for range 1 + random.IntN(6) {
			body = append(body, words[random.IntN(len(words))])
		}
		text := "function message(m) { " + strings.Join(body, " ") + "; return m }"
		if tryScript(t, env, 2*time.Second, text, "text") {
			ran++
		}
		if t.Failed() {
			t.Fatal(text)
		}
	}
	if ran < 5 {
		t.Errorf("only %d ran", ran)
	}
}

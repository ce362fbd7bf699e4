package filter

import (
	regex "regexp/syntax"
	"strings"
	"testing"

	"github.com/expr-lang/expr/ast"
)

// What a filter may cost for one message is bounded, however long the message is.
func TestFilterWork(t *testing.T) {
	long := strings.Repeat("a", 60000)
	f := func(text, message, want string) {
		t.Helper()
		filter, err := New(text, new(line))
		if err == nil {
			_, err = filter.Keep(&line{App: "web", Message: message}, len("web")+len(message))
		}
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v", text, err)
		}
	}
	const tooMuch = "it takes more than 300000 steps for this message, which has 60003 bytes; make its patterns simpler"
	f(`message matches "[ab]*a[ab]{900}c"`, long, tooMuch)
	f(`message matches "[ab]*a[ab]{900}c"`, "short", "")
	f(`app == "db" and message matches "[ab]*a[ab]{900}c"`, long, "")
	f(strings.Repeat(`message matches "[ab]*a[ab]{40}c" or `, 35)+"false", long, tooMuch)
	f(strings.Repeat(`message matches "[ab]*a[ab]{40}c" or `, 35)+"false", "a message of the usual length: link down", "")
	f(strings.Repeat(`message matches "zzz" or `, 35)+"false", long, tooMuch)
	f(`message matches "(?i)error|fail|down" or message contains "x" or lower(message) contains "y"`, long, "")
	f(strings.Repeat(`lower(message) contains "x" or `, 10)+"false", long, tooMuch)
	f(strings.Repeat(`lower(message) contains "x" or `, 10)+"false", long[:2000], "")
	f(strings.Repeat(`lower(message) == "x" or `, 51)+"false", "", "its functions read whole texts too often: this costs 601, and a filter may cost 600, where lower and upper count as 12")
	f(strings.Repeat(`message contains "x" or `, 240)+"false", long[:2000], "")
	f(`all(1..100, lower(message) == "x")`, "", "its functions read whole texts too often")
}

// Reading all values of a trap costs as much as reading the trap once.
func TestFilterWorkOfLists(t *testing.T) {
	m, size := &trap{Name: "linkDown", P: make([]string, ListSize)}, len("linkDown")
	for i := range m.P {
		m.P[i] = strings.Repeat("a", 300)
		size += len(m.P[i])
	}
	f := func(text, want string) {
		t.Helper()
		filter, err := New(text, new(trap))
		if err == nil {
			_, err = filter.Keep(m, size)
		}
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v", text, err)
		}
	}
	f(`any(p, lower(#) contains "x")`, "")
	f(`any(p, # matches "(?i)b+$")`, "")
	f(`any(p, # matches "[ab]*a[ab]{10}c")`, "it takes more than 300000 steps")
	f(`any(p, lower(varbinds) contains #)`, "read whole texts too often")
}

// Only patterns that are too large are refused before they are compiled.
func TestInstructions(t *testing.T) {
	for _, text := range []string{
		"", "a", "(?i)abc", "[ab]*a[ab]{180}c", "(a|b|c){1,90}", "(?:x*)*", `^\bx+?$|.`, "(((a))){3,}", "(){5}", `[^\x00-\x{10FFFF}]{3}`, "(?:a|b|){7}", "x{0}",
	} {
		re, err := regex.Parse(text, regex.Perl)
		if err != nil {
			t.Fatal(err)
		}
		re = re.Simplify()
		program, err := regex.Compile(re)
		if err != nil {
			t.Fatal(err)
		}
		if n := instructions(re, maxSteps); n > len(program.Inst) || n < len(program.Inst)/2-2 {
			t.Errorf("%s: %d, and %d when compiled", text, n, len(program.Inst))
		}
	}
	re, err := regex.Parse("(?:"+strings.Repeat("ab", 1500)+"){1000}", regex.Perl) // three million
	if err != nil {
		t.Fatal(err)
	}
	if n := instructions(re.Simplify(), maxSteps); n <= maxSteps || n > 2*maxSteps {
		t.Errorf("counted %d", n)
	}
	if steps := (&cost{}).pattern(&ast.StringNode{Value: "(?:" + strings.Repeat("ab", 1500) + "){1000}"}); steps != maxSteps+1 {
		t.Errorf("%d steps", steps)
	}
}

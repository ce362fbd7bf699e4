package filter

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkPattern: a pattern matches where that of the standard library does, again and again.
func checkPattern(t *testing.T, text, in string) {
	t.Helper()
	if len(text) > 200 || len(in) > 1000 {
		return
	}
	want, err := regexp.Compile(text)
	p, err2 := newPattern(text)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%q: %v, %v", text, err, err2)
	}
	if err != nil {
		return
	}
	for _, s := range []string{in, in + in, in} {
		budget := 1 << 40
		if got, err := p.match(s, &budget); err != nil || got != want.MatchString(s) {
			t.Errorf("%q in %q: %v %v", text, s, got, err)
		}
	}
}

func TestPattern(t *testing.T) {
	patterns := []string{
		"", "a", "^a", "a$", "^a$", "^$", "^", "$", "link (up|down)$", "(?i)LINK", "(?i)straße|k", `\bup\b`, `\Bp`, `(?m)^b$`, `(?s)a.b`, "a.b", "a*", "a+?b", "(a|ab)(c|bcd)$",
		"[^a]", "[[:upper:]]+", `\d{2,3}`, `\x{FFFD}`, "é", "[é-ü]", `\z`, `\A\s*$`, "(?:)|a", "x*$", "a{0}b", "[a-c]x|[d-f]y", `\w+@\w+`, "(^|,)b", "(?U)a+$", `\pL`, `[^\x00-\x7f]`,
	}
	texts := []string{"", "a", "b", "aab", "link down", "link up", "x link up\n", "LINK", "li\u212a", "STRASSE straße", "a\nb", "b\na", "\nb\n", "abcd", "12", "a1234", "\xff", "é", "ü\xffé", "  ", ",b", "dy", "me@home", "日本", "aaaa"}
	for _, p := range patterns {
		for _, s := range texts {
			checkPattern(t, p, s)
		}
	}
}

// The steps of a match are bounded, whatever pattern and text are.
func TestPatternBudget(t *testing.T) {
	long := strings.Repeat("a", 60000)
	f := func(text, in string, within bool) {
		t.Helper()
		p, err := newPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		budget := maxWork
		if _, err := p.match(in, &budget); (err == nil) != within || budget < -len(p.insts)-1 {
			t.Errorf("%s: %v, %d left", text, err, budget)
		}
	}
	f("[ab]*a[ab]{900}c", long, false)
	f("[ab]*a[ab]{900}c", long[:300], true)
	f("(?i)error|fail|down", long, true)
	f("(?i)error|fail|down", strings.Repeat("ж", 30000), true)
	f(".*x", long, true)
	p, _ := newPattern("zzz")
	budget := maxWork
	if p.match(long, &budget); budget > maxWork-len(long)/skipBytes {
		t.Errorf("looking for a word is not free: %d", maxWork-budget)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("(?i)a(b|c)*$", "xabcB")
	f.Add(`\bé+|^[^a-c]\B`, "éa")
	f.Fuzz(func(t *testing.T, text, in string) {
		if utf8.ValidString(text) {
			checkPattern(t, text, in)
		}
	})
}

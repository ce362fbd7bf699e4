package query

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLikePattern(t *testing.T) {
	f := func(pattern, text string, want bool) {
		t.Helper()
		if got := matchPattern(normalPattern(pattern), text); got != want {
			t.Errorf("%q LIKE %q is %v", text, pattern, got)
		}
	}
	f("", "", true)
	f("", "a", false)
	f("%", "", true)
	f("_", "", false)
	f("a%c", "abbbc", true)
	f("a%c", "abbbcd", false)
	f("%b%b%", "abcb", true)
	f("_%_", "a", false)
	f("__", "é", false)
	f("_", "é", true)
	f(`\%`, "%", true)
	f(`\%`, "a", false)
	f(`a\\%`, `a\b`, true)
	f(`C:\Win%`, `C:\Windows`, true) // a backslash before any other character is literal
	f(`C:\\Win%`, `C:\Windows`, true)
	f(`C:\Win%`, "C:Windows", false)
	f(`C:\`, `C:\`, true)
	f(`C:\\`, `C:\`, true)
	f(`C:\%`, "C:%", true)
	f(`\é\`, `\é\`, true)
	f("A", "a", false)
	f("a%b", "a\nb", true)
	f(strings.Repeat("%a", 30)+"%z", strings.Repeat("a", 3000), false) // exponential in a naive implementation
}

func TestNormalPattern(t *testing.T) {
	f := func(pattern, want string) {
		t.Helper()
		if got := normalPattern(pattern); got != want || normalPattern(got) != got {
			t.Errorf("%q becomes %q, want %q", pattern, got, want)
		}
	}
	f("%%_%", "_%")
	f(`\a\%\_\\`, `\\a\%\_\\`)
	f(`a\`, `a\\`)
	f("a%_b_%", "a_%b_%")
}

func TestMatch(t *testing.T) {
	f := func(term, text string, want bool) {
		t.Helper()
		m := Match{Words: wordsOf(term)}
		if got := m.Matches(text); got != want {
			t.Errorf("%q in %q is %v", term, text, got)
		}
		if got := regexp.MustCompile(m.Regexp()).MatchString(text); got != want {
			t.Errorf("%q in %q is %v for %s", term, text, got, m.Regexp())
		}
	}
	f("a a b", "a a a b", true)
	f("a b a c", "a b a b a c", true)
	f("foo", "éfoo", false)
	f("foo", "«foo»", true)
	f("foo", "foo_", false)
	f("%", "a", true)
	f("%", "--", false)
	f("% b", "-- b", false)
	f("% b", "a b", true)
	f("b %", "b --", false)
	f("a % c", "a bb c", true)
	f("a % c", "a c", false)
	f("_", "é", true)
	f("__", "é", false)
	f("a%b%c", "xabc axbxc", true)
	f("%foo%", "xfoox", true)
	f("s", "\u017f", true)
	f("ß", "SS", false)
	f("ß", "\u1e9e", true)
	f("i", "İ", false)
	f("ι", "\u0345", true)
}

// FuzzMatch compares the two matchers with Go's regular expressions, using those that an engine gets.
func FuzzMatch(f *testing.F) {
	f.Add("foo%", "a foo bar")
	f.Add("a b", "A-B")
	f.Add("_%é \\%", "é%É")
	f.Add("%% %", "ſK İ ς")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) || len(pattern) > 60 {
			return
		}
		normal := normalPattern(pattern)
		want := regexp.MustCompile(`(?s)\A(?:` + PatternRegexp(normal) + `)\z`).MatchString(text)
		if got := matchPattern(normal, text); got != want {
			t.Errorf("%q LIKE %q is %v", text, pattern, got)
		}
		m := Match{Words: wordsOf(pattern)}
		if n := len(m.Words); n == 0 || n > MaxWords {
			return
		}
		got := m.Matches(text)
		if want := regexp.MustCompile(m.Regexp()).MatchString(text); got != want {
			t.Errorf("%q in %q is %v, but not for %s", pattern, text, got, m.Regexp())
		}
		if back, err := ParseSearch(m.Search()); err != nil || !slices.Equal(back.Words, m.Words) {
			t.Errorf("%q is written as %q and read as %v, %v", pattern, m.Search(), back.Words, err)
		}
		if !got {
			return
		}
		for _, f := range m.Fragments() {
			if !regexp.MustCompile(f).MatchString(text) {
				t.Errorf("%q has the words %q, but not the fragment %q", text, pattern, f)
			}
		}
		have := map[string]bool{}
		for w := range Words(text) {
			have[w] = true
		}
		for _, w := range m.Tokens() {
			if !have[w] {
				t.Errorf("%q has the words %q, but not the token %q", text, pattern, w)
			}
		}
	})
}

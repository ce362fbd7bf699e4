package query

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, slices.Collect(Words(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	f("")
	f(" -- ;/")
	f("Error: disk_1 FULL", "error", "disk_1", "full")
	f("10.0.0.1:443", "10", "0", "0", "1", "443")
	f("a", "a")
	f("GRÖSSE größe", "grösse", "größe")
	f("\u212Aelvin \u017Fyslog", "kelvin", "syslog")
	f("ΣΑΣ σας", "σασ", "σασ")
	f("İstanbul ıstanbul", "İstanbul", "ıstanbul")
	f("cafe\u0301 ok", "cafe\u0301", "ok")
	f("हिन्दी। ok", "हिन्दी", "ok")
	f("，错误。error、", "错误", "error")
	f("on🔥fire 𝒜𐐀", "on", "fire", "𝒜𐐨")
	f("日本語 ٣٤ Ⅷ ½", "日本語", "٣٤", "ⅷ", "½")
	f("a\xffb\xc3", "a", "b")
	f("x\u00a0y\u2003z", "x", "y", "z")
}

// TestFold: every part of a word folds to one of its own cases, and all of its cases fold to the same.
func TestFold(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if !isWordRune(r) {
			continue
		}
		got := fold(r)
		same := got == r
		for c := nextCase(r); c != r; c = nextCase(c) {
			same = same || c == got
			if !isWordRune(c) {
				t.Fatalf("%U, a case of %U, is no part of a word", c, r)
			}
			if other := fold(c); other != got {
				t.Fatalf("%U folds to %U, its other case %U to %U", r, got, c, other)
			}
		}
		if !same {
			t.Fatalf("%U folds to %U, which is no case of it", r, got)
		}
	}
}

func TestTokenizerAllocatesNothing(t *testing.T) {
	line := strings.Repeat("GET /index.html 200 Größe disk_1 took 12ms; ", 10)
	var tok Tokenizer
	run := func() {
		tok.Reset(line)
		for _, ok := tok.Next(); ok; _, ok = tok.Next() {
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package query

import (
	"fmt"
	"strings"
	"testing"

	"belfry"

	"github.com/google/go-cmp/cmp"
)

func readLucene(text string) (Clause, error) {
	c, _, err := parseLucene(inQuery, text, 0)
	return c, err
}

func TestPrintLucene(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		c, err := readLucene(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			return
		}
		if got := ClauseText(c); got != want {
			t.Errorf("%s\nprints %s\nwant   %s", in, got, want)
		}
		again, err := readLucene(want)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			return
		}
		if diff := cmp.Diff(c, again, sameTree); diff != "" {
			t.Errorf("%s: printed and parsed again it differs:\n%s", in, diff)
		}
	}
	f("a", "a")
	f("a b", "a OR b")
	f("a || b OR c", "a OR b OR c")
	f("(a b) c", "(a OR b) OR c")
	f("a && b c", "a AND b OR c")
	f("a AND (b AND c)", "a AND (b AND c)")
	f("NOT a", "NOT a")
	f("!a", "NOT a")
	f("-a", "NOT a")
	f("+a", "a")
	f("a -b", "-b a")
	f("a NOT b", "-b a")
	f("a OR NOT b", "a OR NOT b")
	f("a OR -b c", "a OR NOT b OR c")
	f("+a OR -b c", "+a (NOT b) c")
	f("-a -b", "-a -b")
	f("+a -b c", "+a -b c")
	f("+a AND b c", "+(a AND b) c")
	f("a AND NOT b", "a AND NOT b")
	f("NOT NOT a", "NOT NOT a")
	f("- -a", "NOT NOT a")
	f("NOT (a b)", "NOT (a OR b)")
	f("f:a", "f:a")
	f("f: a", "f:a")
	f("f:(a)", "f:a")
	f("f:(g:a)", "g:a")
	f("f:(a g:b)", "f:(a OR g:b)")
	f("f:(NOT a)", "f:(NOT a)")
	f("f:(>=5 AND <10)", "f:([5 TO *] AND [* TO 10})")
	f("f:>5", "f:{5 TO *]")
	f("f:<= 5", "f:[* TO 5]")
	f("f:[1 TO 2}", "f:[1 TO 2}")
	f("f:{* TO *}", "f:[* TO *]")
	f(`f:["a b" TO c\ d]`, `f:[a\ b TO c\ d]`)
	f(`f:[\* TO TO]`, `f:[\* TO \TO]`)
	f("f:2026-11-15T08:00:00Z", `f:2026-11-15T08\:00\:00Z`)
	f(`f:\-`, `f:\-`)
	f("f:-", `f:\-`)
	f("f:-5", `f:\-5`)
	f("<html>", `\<html>`)
	f("a*b?c", "a*b?c")
	f(`a\*b\?c\\`, `a\*b\?c\\`)
	f("50%_off", "50%_off")
	f(`"a \"b\" *"`, `"a \"b\" *"`)
	f(`"%_\\"`, `"%_\\"`)
	f(`\AND`, `\AND`)
	f("f:AND", `f:\AND`)
	f("and or not", "and OR or OR not")
	f("*:*", "*:*")
	f("*", "*")
	f(`quikc\~ a\~1 "c~2"`, `quikc\~ OR a\~1 OR "c~2"`)
	f(`\/err.\*\/ "/a/" f:\/a/`, `\/err.\*/ OR "/a/" OR f:\/a/`)
	f("/ AND /var/log/messages f:/dev/sda", `\/ AND \/var/log/messages OR f:\/dev/sda`)
	f("a/b/ 1/2 f:(/ OR /x)", `a/b/ OR 1/2 OR f:(\/ OR \/x)`)
	f("a^2 (b c)^0.5 f:[1 TO 2]^3", "a OR (b OR c) OR f:[1 TO 2]")
	f("日本:語", "日本:語")
}

// TestLuceneRefused: Lucene features beyond our language are rejected by name, with their position and an alternative.
func TestLuceneRefused(t *testing.T) {
	f := func(in string, column int, name, instead string) {
		t.Helper()
		_, err := readLucene(in)
		place := fmt.Sprintf("in _query_, line 1, column %d: %s", column, name)
		if belfry.CodeOf(err) != belfry.BadQuery || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), instead) {
			t.Errorf("%s: %v, want %q and %q", in, err, place, instead)
		}
	}
	for in, column := range map[string]int{"quikc~": 6, "a quikc~1": 8, "quikc~0.8^2": 6, "f:quikc~": 8, "f:(a b~)": 7, "wild*~": 6} {
		f(in, column, "fuzzy search", "wildcards")
	}
	for in, column := range map[string]int{`"a b"~2`: 6, `"a b"~`: 6, `f:"a b"~10`: 8, `+f:("a b"~3)`: 10} {
		f(in, column, "proximity search", "AND")
	}
	for in, column := range map[string]int{
		"/err.*/": 1, "a /joh?n(ath[oa]n)/": 3, "f:/[mb]oat/": 3, "f:(a OR /b/)": 9, "/a b/ c": 1, `/a\/b/^2`: 1, "-/x/": 2, "/a/~": 1, "//": 1, "/var/log/": 1,
	} {
		f(in, column, "regular expressions", "LIKE")
	}
}

func TestLuceneLimits(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		_, err := readLucene(in)
		if err == nil || belfry.CodeOf(err) != belfry.BadQuery || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s…: %v, want %q", in, err, want)
		}
	}
	f(strings.Repeat("(", MaxDepth+1)+"a"+strings.Repeat(")", MaxDepth+1), "nested more than 100 deep")
	f(strings.Repeat("f:(", MaxDepth+1)+"a"+strings.Repeat(")", MaxDepth+1), "nested more than 100 deep")
	f(strings.Repeat("NOT ", MaxDepth+1)+"a", "nested more than 100 deep")
	f(strings.Repeat("-", MaxDepth+1)+"a", "nested more than 100 deep")
	f(strings.Repeat("a ", MaxTerms+1), "more than 10000")
	f(strings.Repeat("x", MaxText+1), "the limit is 1048576")
	f("\xff", "UTF-8")
	f("a\x00", "NUL")

	if _, err := readLucene(strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth)); err != nil {
		t.Errorf("%d parentheses: %v", MaxDepth, err)
	}
	// Depth and terms count together with those of the enclosing query.
	sql := "SELECT a FROM x WHERE "
	for _, q := range []string{
		sql + strings.Repeat("(", 60) + "_query_='" + strings.Repeat("(", 60) + "a" + strings.Repeat(")", 60) + "'" + strings.Repeat(")", 60),
		sql + "_query_='" + strings.Repeat("a ", 6000) + "' AND _query_='" + strings.Repeat("a ", 6000) + "'",
	} {
		if _, err := Parse(q); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%.60s…: %v", q, err)
		}
	}
}

func TestLuceneLinear(t *testing.T) {
	f := func(name, before, s, after string) {
		t.Helper()
		text := func(n int) string { return before + strings.Repeat(s, n) + after }
		_, few, _ := parseLucene(inQuery, text(300), 0)
		_, many, _ := parseLucene(inQuery, text(3000), 0)
		if few == 0 || many > 11*few || many > 3*len(text(3000)) {
			t.Errorf("%s: %d steps, then %d for %d bytes", name, few, many, len(text(3000)))
		}
	}
	f("terms", "", "a ", "")
	f("alternatives", "a", " OR a", "")
	f("stars", "f:", "*?", "")
	f("escapes", "", `\*`, "")
	f("open phrase", `"`, `\"a`, "")
	f("blanks", "a", "  \t", "b")
	f("boosts", "", "a^1.5 ", "")
	f("slashes", "", "/a ", "")
	f("ranges", "", "f:[a TO b] ", "")
	f("colons", "f", "::", "")
}

func FuzzLucene(f *testing.F) {
	for _, s := range []string{
		"", "a b", `+a -b c:"d e"~3^2`, "f:(a OR NOT b) && g:[1 TO *}", `\AND f:\- *:*`, "f:>=5 AND f:(>1 <2)", "((((", "a:b:c", `"`, `\`, "f:[a TO", "!!-+a", "^", "~", "a^b", "*:x", "日本*", "/a/ b", "/a /b", `\/a\/`, "a~1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, steps, err := parseLucene(inQuery, text, 0)
		if steps > 3*len(text)+10 {
			t.Errorf("%d steps for %d bytes", steps, len(text))
		}
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadQuery {
				t.Errorf("%v is not an error for clients", err)
			}
			return
		}
		printed := ClauseText(c)
		if len(printed) > MaxText {
			return
		}
		again, err := readLucene(printed)
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if diff := cmp.Diff(c, again, sameTree); diff != "" {
			t.Fatalf("%q prints as %q, which is another query:\n%s", text, printed, diff)
		}
	})
}

package duck

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"belfry/query"
	"belfry/store/duck/dialect"
)

// textOf returns a dialect's condition on column m of table x, with its arguments.
func textOf(write func(d *query.Dialect, arg func(string) string) string) (string, []any) {
	d := dialect.New("item")
	var args []any
	condition := write(d, func(s string) string { args = append(args, s); return d.Param(len(args)) })
	return "SELECT i FROM x WHERE " + condition + " ORDER BY i", args
}

// TestWordsOfTheEngine checks for every character whether the engine counts it as part of a word, and for every letter
// its other cases.
func TestWordsOfTheEngine(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run := func(text string, args ...any) (list []rune) {
		t.Helper()
		r, err := c.Query(t.Context(), text, args...)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			list = append(list, rune(r.Int(0)))
		}
		return list
	}
	last := rune(unicode.MaxRune)
	table := func() {
		run("CREATE OR REPLACE TABLE x AS SELECT i, chr(i::INTEGER) AS m FROM range(1, $1) AS r(i) WHERE i NOT BETWEEN 55296 AND 57343", int64(last)+1)
	}
	f := func(m query.Match) {
		t.Helper()
		text, args := textOf(func(d *query.Dialect, arg func(string) string) string { return d.Match("m", arg, m) })
		got := run(text, args...)
		var want []rune
		for r := rune(1); r <= last; r++ {
			if (r < 0xd800 || r > 0xdfff) && m.Matches(string(r)) {
				want = append(want, r)
			}
		}
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%v: the engine finds %d characters, we %d", m.Words, len(got), len(want))
		}
	}
	table()
	f(query.Match{Words: []query.Word{{Text: "?", Wild: true}}})
	last = 0x2fff // letters that have cases in common with the ones below end before
	table()
	for _, r := range "aksiµßöσιåʒ" {
		for w := range query.Words(string(r)) {
			f(query.Match{Words: []query.Word{{Text: w}}})
		}
	}
}

// TestTextLimits runs the largest patterns that a query may have. The engine accepts them, and their time does not grow
// with the number of ways to match them.
func TestTextLimits(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(t.Context(), "CREATE TABLE x AS SELECT 1 AS i, repeat('a', 2000) AS m"); err != nil {
		t.Fatal(err)
	}
	f := func(name string, write func(d *query.Dialect, arg func(string) string) string) {
		t.Helper()
		text, args := textOf(write)
		r, err := c.Query(t.Context(), text, args...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if r.Next() {
			t.Errorf("%s: found", name)
		}
	}
	like := func(pattern string) func(*query.Dialect, func(string) string) string {
		return func(d *query.Dialect, arg func(string) string) string { return d.Like("m", arg, pattern) }
	}
	match := func(word query.Word, n int) func(*query.Dialect, func(string) string) string {
		m := query.Match{Words: slices.Repeat([]query.Word{word}, n)}
		return func(d *query.Dialect, arg func(string) string) string { return d.Match("m", arg, m) }
	}
	f("many %", like(strings.Repeat("%a", 400)+"%z"))
	f("many % and an escape", like(strings.Repeat("%a", 400)+`%\%`))
	f("many % and _", like(strings.Repeat("%_a", 300)+"%z"))
	f("only _", like(strings.Repeat("_", query.MaxPattern)))
	f("beyond ASCII", like(strings.Repeat("𐐀", query.MaxPattern/4)+"_"))
	f("words", match(query.Word{Text: "sksk"}, query.MaxWords))
	f("any words", match(query.Word{Text: "*", Wild: true}, query.MaxWords))
	f("wildcards", match(query.Word{Text: strings.Repeat("*a", query.MaxWildcards) + "z", Wild: true}, 1))
	f("long words", match(query.Word{Text: strings.Repeat("k", query.MaxPattern)}, 1))
}

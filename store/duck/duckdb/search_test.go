package duckdb

import (
	"slices"
	"strings"
	"testing"

	"belfry/query"
)

// searchOf makes a search of words; one with * or ? is a pattern.
func searchOf(words string) query.Match {
	var m query.Match
	for _, w := range strings.Fields(words) {
		m.Words = append(m.Words, query.Word{Text: w, Wild: strings.ContainsAny(w, "*?")})
	}
	return m
}

// TestQuickSearch: what is decided by bytes alone, and what is left to Go.
func TestQuickSearch(t *testing.T) {
	f := func(words, text string, want int) {
		t.Helper()
		if got := quickSearch(searchOf(words).Search(), text); got != want {
			t.Errorf("%q in %q is %d, not %d", words, text, got, want)
		}
	}
	const no, yes, ask = 0, 1, 2
	long := strings.Repeat("a line of words ", 10)
	f("timeout", "timeout", yes)
	f("timeout", "a TimeOut.", yes)
	f("timeout", long+"timeout", yes)
	f("timeout", long+"timeouts", no)
	f("timeout", "timeouts, my_timeout, Timeout!", yes)
	f("timeout", "timeou", no)
	f("timeout", "", no)
	f("timeout", "“timeout”", ask)
	f("timeout", "étimeouts", no)
	f("timeout", "“timeout” or timeout", yes)
	f("timeout", "ünd "+long+"timeou", no)
	f("disk", "the DISK", yes)
	f("disk", "the diſk", ask)
	f("disk", "é disk", yes)
	f("disk", "é risk", ask)
	f("conn*", "a Connection", yes)
	f("conn*", "disconnected", no)
	f("*ion", "a Connection.", yes)
	f("*ion", "ions", no)
	f("*nn*", "CONNECTED", yes)
	f("c?nn*", "connected", ask)
	f("c?nn*", "cored", no)
	f("connection refused", "refused connection", ask)
	f("connection refused", "Connection lost", no)
	f("größe", "grün", ask)
	f("größe", "klein", no)
	f("ärger", "é", no)
	f("я", "any", ask)
	f("日志", "日志", yes)
	f("日志", "の日志", ask)
	f("日志", "日誌", no)
	f("*", "any", ask)
	f("_", "a _ b", yes)
	f("7", "17 7", yes)
}

// TestSearchBroken calls the engine's function with searches that Search never writes.
func TestSearchBroken(t *testing.T) {
	e, err := Open(nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := AddSearch(c); err != nil {
		t.Fatal(err)
	}
	f := func(search string, broken bool) {
		t.Helper()
		n, err := c.Number(t.Context(), "SELECT count(*) FROM (VALUES ('a word'), (NULL), (repeat('a word ', 9))) AS r(t) WHERE has_words(t, $1)", search)
		if n != 0 || broken != (err != nil) {
			t.Errorf("%q: %d rows, %v", search, n, err)
		}
	}
	f("", true)
	f("9", true)
	f("0:|", true)
	f("0:", true)
	f("0:word|", true)
	f("0:other|", false) // no text is left to test
	f("0:word|"+strings.Repeat("a ", query.MaxWords+1), true)
}

// FuzzQuickSearch compares what is decided by bytes with the words of the text.
func FuzzQuickSearch(f *testing.F) {
	for _, text := range []string{"timeout", "Connection refused by upſtream", "das größe Maß", "日志 日", "a_b 10.0.0.1", strings.Repeat("ab ", 30) + "abc"} {
		for _, pattern := range []string{"timeout", "conn*", "*ion", "*a*", "refused by", "größe", "日", "ab", "sk", "10 0"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		var m query.Match
		for _, w := range strings.Fields(pattern) {
			parts := slices.Collect(query.Words(w))
			word := query.Word{Text: strings.Join(parts, "*")}
			if strings.HasPrefix(w, "*") {
				word.Text = "*" + word.Text
			}
			if strings.HasSuffix(w, "*") && word.Text != "*" {
				word.Text += "*"
			}
			word.Wild = strings.Contains(word.Text, "*")
			if word.Text != "" {
				m.Words = append(m.Words, word)
			}
		}
		if n := len(m.Words); n == 0 || n > query.MaxWords {
			return
		}
		got := quickSearch(m.Search(), text)
		if want := m.Matches(text); got == 0 && want || got == 1 && !want {
			t.Errorf("%q in %q is %d, but %v by its words", m.Search(), text, got, want)
		}
	})
}

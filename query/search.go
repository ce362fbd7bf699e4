package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An engine that runs our own test of texts gets a Match as one text:
//
//	7:timeout|timeout                                              the word timeout
//	3:conn|~conn*                                                  words that begin with conn
//	0:connection upstream refused|connection refused by upstream   a phrase
//
// In front are marks and fragments: texts that every matching text has in it, with letters in either case. They let most
// texts be refused by a look for some bytes. Behind are the words. None of the marks is part of a word.
const (
	SearchWhole = 1 << iota // the one fragment, within its borders, is all there is to find
	SearchStart             // no word reaches over the beginning of the fragment
	SearchEnd               // nor over its end

	searchMarks = '0'
	maxSearched = 3 // fragments; more of them refuse hardly any text that these do not

	// maxFragment is how many bytes a fragment has at most, and a pattern of a word that our own test takes. The time of a
	// test grows with both pattern and text, and nothing stops it inside a row.
	maxFragment = 32
)

// Searchable tells whether our own test is to be used.
func (m Match) Searchable() bool {
	return !slices.ContainsFunc(m.Words, func(w Word) bool { return w.Wild && len(w.Text) > maxFragment })
}

// Search writes the condition for an engine that runs our own test.
func (m Match) Search() string {
	fragments := m.PlainFragments()
	marks := 0
	if len(m.Words) == 1 && len(fragments) == 1 {
		marks = m.Words[0].marks(fragments[0])
	}
	var b strings.Builder
	b.WriteByte(byte(searchMarks + marks))
	b.WriteByte(':')
	b.WriteString(strings.Join(fragments, " "))
	b.WriteByte('|')
	for i, w := range m.Words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.Wild {
			b.WriteByte('~')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// marks tells what it takes to find the word when its fragment has been found.
func (w Word) marks(fragment string) int {
	switch before, after, _ := strings.Cut(w.Text, fragment); {
	case !w.Wild && before+after == "":
		return SearchWhole | SearchStart | SearchEnd
	case !w.Wild:
		return 0
	case before == "" && after == "*":
		return SearchWhole | SearchStart
	case before == "*" && after == "":
		return SearchWhole | SearchEnd
	case before == "*" && after == "*":
		return SearchWhole
	}
	return 0
}

// ParseSearch reads what Search has written.
func ParseSearch(text string) (Match, error) {
	_, words, ok := strings.Cut(text, "|")
	var m Match
	for _, w := range strings.Fields(words) {
		text, wild := strings.CutPrefix(w, "~")
		m.Words = append(m.Words, Word{Text: text, Wild: wild})
	}
	if !ok || len(m.Words) == 0 || len(m.Words) > MaxWords {
		return Match{}, fmt.Errorf("read search: %q is not 1 to %d words", text, MaxWords)
	}
	return m, nil
}

// PlainFragments are the longest fragments, one of a word, whose characters are either without cases or of ASCII.
func (m Match) PlainFragments() []string {
	var list []string
	for _, w := range m.Words {
		best := ""
		for _, part := range strings.FieldsFunc(w.Text, func(r rune) bool { return !isPlain(r) }) {
			if len(part) > len(best) {
				best = part
			}
		}
		for len(best) > maxFragment {
			_, size := utf8.DecodeLastRuneInString(best)
			best = best[:len(best)-size]
		}
		if best != "" && !slices.Contains(list, best) {
			list = append(list, best)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list[:min(len(list), maxSearched)]
}

// isPlain tells whether a character of a folded word can be looked for by its bytes.
func isPlain(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '*' && r != '?'
	}
	return nextCase(r) == r
}

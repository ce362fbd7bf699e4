package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An engine that calls our own text search gets a Match as one text:
//
//	7:timeout|timeout                                              the word timeout
//	3:conn|~conn*                                                  words that begin with conn
//	0:connection upstream refused|connection refused by upstream   a phrase
//
// First come flags and fragments: texts that every matching text contains, with letters in either case. Most texts are
// rejected by a search for these bytes. The words follow. None of the separators is part of a word.
const (
	SearchWhole = 1 << iota // finding the only fragment, within its borders, is enough
	SearchStart             // a word must begin where the fragment begins
	SearchEnd               // a word must end where the fragment ends

	flagsBase    = '0'
	maxFragments = 3 // more of them would reject hardly any further texts

	// maxFragment is the maximum length of a fragment, and of a word pattern that our own search accepts, in bytes. The time
	// of a search grows with both pattern and text, and it cannot be interrupted inside a row.
	maxFragment = 32
)

// Searchable reports whether our own search can be used.
func (m Match) Searchable() bool {
	return !slices.ContainsFunc(m.Words, func(w Word) bool { return w.Wild && len(w.Text) > maxFragment })
}

// Search writes the condition for an engine that calls our own search.
func (m Match) Search() string {
	fragments := m.PlainFragments()
	flags := 0
	if len(m.Words) == 1 && len(fragments) == 1 {
		flags = m.Words[0].searchFlags(fragments[0])
	}
	var b strings.Builder
	b.WriteByte(byte(flagsBase + flags))
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

// searchFlags returns what is needed to find the word once its fragment has been found.
func (w Word) searchFlags(fragment string) int {
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

// ParseSearch reads the text that Search has written.
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

// PlainFragments returns the longest fragments, one per word, whose characters are caseless or ASCII.
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
	return list[:min(len(list), maxFragments)]
}

// isPlain reports whether a character of a folded word can be searched for by its bytes.
func isPlain(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '*' && r != '?'
	}
	return nextCase(r) == r
}

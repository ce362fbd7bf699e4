package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxWords limits the words of a phrase.
const MaxWords = 30

// MaxMatches limits the words and phrases a query may search for: an engine compiles each separately, in each file.
const MaxMatches = 100

// MaxWildcards limits the wildcards of a term or phrase that is searched by word.
const MaxWildcards = 30

// Tokens returns words that every matching text has. A filter of words may skip texts that lack one of them.
func (m Match) Tokens() []string {
	var list []string
	for _, w := range m.Words {
		if !w.Wild {
			list = append(list, w.Text)
		}
	}
	return list
}

// Matches reports whether the text has the words one after another. Bit i of the state is set if the last i words of the
// text so far are the first i of the phrase.
func (m Match) Matches(text string) bool {
	var t Tokenizer
	t.Reset(text)
	state := uint64(1)
	for have, ok := t.Next(); ok; have, ok = t.Next() {
		next := uint64(1)
		for i, w := range m.Words {
			if state&(1<<i) != 0 && w.matches(have) {
				next |= 1 << (i + 1)
			}
		}
		if next&(1<<len(m.Words)) != 0 {
			return true
		}
		state = next
	}
	return false
}

func (w Word) matches(have []byte) bool {
	if !w.Wild {
		return w.Text == string(have)
	}
	return matchWild(w.Text, have)
}

// matchWild compares a word with a pattern; see matchPattern.
func matchWild(pattern string, word []byte) bool {
	p, t := 0, 0
	retry, from := -1, 0
	for t < len(word) {
		_, tn := utf8.DecodeRune(word[t:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			retry, from = p, t
			continue
		case p < len(pattern) && pattern[p] == '?':
			p, t = p+1, t+tn
			continue
		case p+tn <= len(pattern) && pattern[p:p+tn] == string(word[t:t+tn]):
			p, t = p+tn, t+tn
			continue
		case retry < 0:
			return false
		}
		_, size := utf8.DecodeRune(word[from:])
		from += size
		p, t = retry, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// wordsOf splits a pattern in LIKE form into words and patterns of words.
func wordsOf(pattern string) []Word {
	var words []Word
	var b strings.Builder
	wild := false
	end := func() {
		if b.Len() > 0 {
			words = append(words, Word{Text: b.String(), Wild: wild})
		}
		b.Reset()
		wild = false
	}
	for _, p := range pieces(normalPattern(pattern)) {
		switch {
		case p.kind == '%':
			b.WriteByte('*')
			wild = true
		case p.kind == '_':
			b.WriteByte('?')
			wild = true
		case isWordRune(p.char):
			b.WriteRune(fold(p.char))
		default:
			end()
		}
	}
	end()
	return words
}

// wordClass and betweenClass are the character classes of words and of the characters between them in a regular
// expression. They are written out, so that they do not depend on the Unicode version of an engine.
func wordClass() string    { return "[" + wordRanges() + "]" }
func betweenClass() string { return "[^" + wordRanges() + "]" }

// Regexp returns a regular expression that is found in matching texts and in no others. Each letter is written with all
// of its cases, so that it does not depend on the case folding of an engine.
func (m Match) Regexp() string {
	var b strings.Builder
	for i, w := range m.Words {
		first, last := i == 0, i == len(m.Words)-1
		text := w.Text
		if i > 0 {
			b.WriteString(betweenClass() + "+")
		}
		switch {
		case w.Wild && text == "*": // at an end one character of the word is enough
			b.WriteString(wordClass())
			if !first && !last {
				b.WriteByte('+')
			}
			continue
		case first && w.Wild && text[0] == '*':
			text = text[1:]
		case first:
			b.WriteString("(?:^|" + betweenClass() + ")")
		}
		open := last && w.Wild && strings.HasSuffix(text, "*")
		if open {
			text = text[:len(text)-1]
		}
		writeWord(&b, text, w.Wild)
		if last && !open {
			b.WriteString("(?:$|" + betweenClass() + ")")
		}
	}
	return b.String()
}

func writeWord(b *strings.Builder, text string, wild bool) {
	for _, r := range text {
		switch {
		case wild && r == '*':
			b.WriteString(wordClass() + "*")
		case wild && r == '?':
			b.WriteString(wordClass())
		default:
			writeCases(b, r)
		}
	}
}

// writeCases writes a character in all its cases.
func writeCases(b *strings.Builder, r rune) {
	if nextCase(r) == r {
		b.WriteRune(r)
		return
	}
	b.WriteByte('[')
	b.WriteRune(r)
	for c := nextCase(r); c != r; c = nextCase(c) {
		b.WriteRune(c)
	}
	b.WriteByte(']')
}

// Fragments returns, for up to three of the longest words, a regular expression that is found in every matching text.
// Engines find those several times faster than the words themselves.
func (m Match) Fragments() []string {
	var longest []string
	for _, w := range m.Words {
		best := ""
		for _, part := range strings.FieldsFunc(w.Text, func(r rune) bool { return r == '*' || r == '?' }) {
			if len(part) > len(best) {
				best = part
			}
		}
		if len(best) > 1 && !slices.Contains(longest, best) {
			longest = append(longest, best)
		}
	}
	slices.SortStableFunc(longest, func(a, b string) int { return len(b) - len(a) })
	var list []string
	for _, text := range longest[:min(len(longest), 3)] {
		var b strings.Builder
		for _, r := range text {
			writeCases(&b, r)
		}
		list = append(list, b.String())
	}
	return list
}

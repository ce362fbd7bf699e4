package query

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A word is a longest run of letters, digits and _, with case folded. A combining mark is part of a word, as in Lucene.
// Beyond ASCII all characters count that Unicode does not list as punctuation, symbol, space or control, and beyond the
// first 65,536 all but pictures: so the class has some 200 ranges, a quarter of those of letters and digits alone, and an
// engine compiles them in a quarter of the time, for each word in each file.
//
// This is the only definition of a word: search terms, texts and filters of words all use a Tokenizer, and an engine's
// pattern of a word is written from the same tables.

// Tokenizer splits texts into words. It allocates nothing per word. It must not be used concurrently.
type Tokenizer struct {
	text string
	word []byte
}

// Reset starts on a text.
func (t *Tokenizer) Reset(text string) { t.text = text }

// Next returns the next word of the text, folded. It is valid until the next call.
func (t *Tokenizer) Next() (word []byte, ok bool) {
	s, i := t.text, 0
	w := t.word[:0]
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if f := foldedASCII[c]; f != 0 {
				w = append(w, f)
			} else if len(w) > 0 {
				break
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if isWordRune(r) {
			w = utf8.AppendRune(w, fold(r))
		} else if len(w) > 0 {
			break
		}
	}
	t.text, t.word = s[i:], w
	return w, len(w) > 0
}

// Words iterates over the words of a text, folded.
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var t Tokenizer
		t.Reset(text)
		for w, ok := t.Next(); ok; w, ok = t.Next() {
			if !yield(string(w)) {
				return
			}
		}
	}
}

// foldedASCII has the folded byte of characters of words, and 0 for others.
var foldedASCII = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		b := byte(c)
		switch {
		case 'A' <= b && b <= 'Z':
			table[c] = b | 0x20
		case b == '_', 'a' <= b && b <= 'z', isDigit(b):
			table[c] = b
		}
	}
	return table
}()

// isWordRune reports whether the character is part of a word.
func isWordRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return foldedASCII[r] != 0
	case r > maxPlane0:
		return r < firstPicture || r > lastPicture
	case unicode.IsLetter(r):
		return true
	}
	return !unicode.In(r, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf)
}

const (
	maxPlane0    = 0xffff
	firstPicture = 0x1f000
	lastPicture  = 0x1faff
)

// wordRanges returns the characters of words as ranges in a regular expression's brackets.
var wordRanges = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("0-9A-Z_a-z")
	first := rune(-1)
	for r := rune(utf8.RuneSelf); r <= maxPlane0+1; r++ {
		switch in := isWordRune(r) && r <= maxPlane0 && !utf16.IsSurrogate(r); {
		case in && first < 0:
			first = r
		case !in && first >= 0:
			fmt.Fprintf(&b, `\x{%x}-\x{%x}`, first, r-1)
			first = -1
		}
	}
	fmt.Fprintf(&b, `\x{%x}-\x{%x}\x{%x}-\x{%x}`, maxPlane0+1, firstPicture-1, lastPicture+1, unicode.MaxRune)
	return b.String()
})

// fold returns the same character for all characters of words that differ in case only: the lower case of the first of
// them. It does not depend on a language and never changes the number of characters: ß is not ss, and the dotted capital
// İ has no other case here.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if f := foldedASCII[r]; f != 0 {
			return rune(f)
		}
		return r
	}
	first := r
	for c := nextCase(r); c != r; c = nextCase(c) {
		first = min(first, c)
	}
	lower := unicode.ToLower(first)
	for c := nextCase(first); c != first; c = nextCase(c) {
		if c == lower {
			return lower
		}
	}
	return first
}

// nextCase cycles through the characters that differ from r in case only, except those that are not part of a word.
func nextCase(r rune) rune {
	c := unicode.SimpleFold(r)
	for c != r && !isWordRune(c) {
		c = unicode.SimpleFold(c)
	}
	return c
}

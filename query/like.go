package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
)

// MaxPattern is the maximum length in bytes of a pattern of LIKE, a term with wildcards or a phrase. Engines compile it
// into an automaton, whose size they limit too.
const MaxPattern = 1000

// like checks a LIKE condition. A pattern without wildcards becomes equality, one that matches every text a test for
// presence.
func (k *checker) like(t Term, not bool, pattern Literal) (Pred, error) {
	col, err := k.operand(t)
	if err != nil {
		return nil, err
	}
	if pattern.Kind != StringLiteral {
		return nil, k.errorf(pattern.Pos, "LIKE takes a pattern in single quotes, found %s", shorten(pattern.String()))
	}
	return k.likeColumn(col, not, pattern.Text, pattern.Pos)
}

// likeColumn compares a column with a pattern of LIKE or of a term with wildcards.
func (k *checker) likeColumn(col Column, not bool, pattern string, pos Pos) (Pred, error) {
	if len(pattern) > MaxPattern {
		return nil, k.errorf(pos, "a pattern may have %d bytes, this one has %d", MaxPattern, len(pattern))
	}
	pattern = normalPattern(pattern)
	switch {
	case col.From == Constant:
		return Always(matchPattern(pattern, rawPeriod) != not), nil
	case col.Type == catalog.Value:
		number, text := parts(col)
		p := likeText(text, not, pattern)
		if not { // an indicator that is a number matches no pattern
			p = disjunction([]Pred{Null{number, true}, p})
		}
		return p, nil
	case col.Type != catalog.Text && col.Type != catalog.FullText:
		return nil, k.errorf(pos, "%s is of type %s and has no pattern; patterns compare texts", col.Name, col.Type)
	}
	return likeText(col, not, pattern), nil
}

// likeText compares a text. NOT LIKE is a comparison too, and so false for an absent value.
func likeText(col Column, not bool, pattern string) Pred {
	op := Equal
	if not {
		op = NotEqual
	}
	if text, plain := plainPattern(pattern); plain {
		return Compare{col, op, belfry.Value{Type: belfry.TextValue, Text: text}}
	}
	if pattern == "%" {
		return present(col, !not)
	}
	if not {
		return And{Null{col, true}, Not{Like{col, pattern}}}
	}
	return Like{col, pattern}
}

// piece is a part of a pattern: any text, any one character, or a literal character.
type piece struct {
	kind byte // % _ or 0
	char rune
}

// pieces parses a pattern. A backslash escapes a following %, _ or backslash; before any other character, and at the
// end, it is literal.
func pieces(pattern string) []piece {
	var list []piece
	escaped := false
	for i, r := range pattern {
		switch {
		case escaped:
			list, escaped = append(list, piece{char: r}), false
		case r == '%' || r == '_':
			list = append(list, piece{kind: byte(r)})
		case r == '\\' && i+1 < len(pattern) && strings.IndexByte(`%_\`, pattern[i+1]) >= 0:
			escaped = true
		default:
			list = append(list, piece{char: r})
		}
	}
	return list
}

// writePattern writes a pattern in which every backslash escapes the next character.
func writePattern(list []piece) string {
	var b strings.Builder
	for _, p := range list {
		switch {
		case p.kind != 0:
			b.WriteByte(p.kind)
			continue
		case p.char == '%' || p.char == '_' || p.char == '\\':
			b.WriteByte('\\')
		}
		b.WriteRune(p.char)
	}
	return b.String()
}

// normalPattern returns the normal form, which is the same for all patterns with the same meaning: in a run of wildcards
// the single characters come first, then one %.
func normalPattern(pattern string) string {
	list := pieces(pattern)
	normal := list[:0]
	for i := 0; i < len(list); {
		if list[i].kind == 0 {
			normal = append(normal, list[i])
			i++
			continue
		}
		any := false
		for ; i < len(list) && list[i].kind != 0; i++ {
			if list[i].kind == '_' {
				normal = append(normal, list[i])
			} else {
				any = true
			}
		}
		if any {
			normal = append(normal, piece{kind: '%'})
		}
	}
	return writePattern(normal)
}

// plainPattern returns the only text that a pattern without wildcards matches.
func plainPattern(pattern string) (string, bool) {
	var b strings.Builder
	for _, p := range pieces(pattern) {
		if p.kind != 0 {
			return "", false
		}
		b.WriteRune(p.char)
	}
	return b.String(), true
}

// matchPattern reports whether the whole text matches the pattern, which is in normal form. It backtracks to the last %
// only, since an earlier one could not do better: the work is at most the product of both lengths.
func matchPattern(pattern, text string) bool {
	p, t := 0, 0
	retry, from := -1, 0 // pattern after the last %, and the position in the text of the next attempt
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '%' {
			p++
			retry, from = p, t
			continue
		}
		if pn, tn, ok := matchOne(pattern[p:], text[t:]); ok {
			p, t = p+pn, t+tn
			continue
		}
		if retry < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
		p, t = retry, from
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}

// matchOne compares the first character of the text with the first of the pattern, which is not %.
func matchOne(pattern, text string) (patternSize, textSize int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	_, size := utf8.DecodeRuneInString(text)
	skip := 0
	switch pattern[0] {
	case '_':
		return 1, size, true
	case '\\':
		skip = 1
	}
	_, n := utf8.DecodeRuneInString(pattern[skip:])
	return skip + n, size, pattern[skip:skip+n] == text[:size]
}

// PatternRegexp converts a pattern to a regular expression for the whole text.
func PatternRegexp(pattern string) string {
	var b strings.Builder
	for _, p := range pieces(pattern) {
		switch p.kind {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteByte('.')
		default:
			quoteRune(&b, p.char)
		}
	}
	return b.String()
}

// quoteRune writes a character as a literal of a regular expression.
func quoteRune(b *strings.Builder, r rune) {
	switch {
	case isWordRune(r):
		b.WriteRune(r)
	default:
		fmt.Fprintf(b, `\x{%x}`, r)
	}
}

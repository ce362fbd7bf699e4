package mib

import "strings"

// token is a token of a MIB file.
type token struct {
	kind tokenKind
	text string // strings without quotes
	line int
}

type tokenKind byte

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	stringToken
	signToken // ::= and everything else
)

// tokens splits a MIB file into tokens.
type tokens struct {
	rest string
	line int
}

// next returns the next token, and the end repeatedly.
func (t *tokens) next() token {
	t.skip()
	if t.rest == "" {
		return token{line: t.line}
	}
	line := t.line
	switch c := t.rest[0]; {
	case isLetter(c):
		return token{wordToken, t.cut(t.span(isWordByte)), line}
	case isDigit(c), c == '-' && len(t.rest) > 1 && isDigit(t.rest[1]):
		return token{numberToken, t.cut(1 + len(t.rest[1:]) - len(strings.TrimLeft(t.rest[1:], "0123456789"))), line}
	case c == '"', c == '\'':
		return t.quoted(c, line)
	case strings.HasPrefix(t.rest, "::="):
		return token{signToken, t.cut(3), line}
	case strings.HasPrefix(t.rest, ".."):
		return token{signToken, t.cut(2), line}
	}
	return token{signToken, t.cut(1), line}
}

// quoted reads a string, which may have several lines, or a number in quotes such as 'ff'h.
func (t *tokens) quoted(quote byte, line int) token {
	end := strings.IndexByte(t.rest[1:], quote)
	if end < 0 {
		t.rest = ""
		return token{signToken, "a string without an end", line}
	}
	text := t.cut(end + 2)
	t.line += strings.Count(text, "\n")
	if quote == '\'' && t.rest != "" && strings.IndexByte("hHbB", t.rest[0]) >= 0 {
		t.cut(1)
	}
	return token{stringToken, text[1 : len(text)-1], line}
}

// skip skips blanks and comments. Comments end with the line: most authors do not know that two hyphens end them, too.
func (t *tokens) skip() {
	for t.rest != "" {
		switch c := t.rest[0]; {
		case c == '\n':
			t.line++
			t.rest = t.rest[1:]
		case c <= ' ' || c == 0x7f:
			t.rest = t.rest[1:]
		case strings.HasPrefix(t.rest, "\ufeff"):
			t.rest = t.rest[3:]
		case strings.HasPrefix(t.rest, "--"):
			if i := strings.IndexByte(t.rest, '\n'); i >= 0 {
				t.rest = t.rest[i:]
			} else {
				t.rest = ""
			}
		default:
			return
		}
	}
}

func (t *tokens) cut(n int) string {
	text := t.rest[:n]
	t.rest = t.rest[n:]
	return text
}

// span counts the bytes of a word; two hyphens begin a comment.
func (t *tokens) span(of func(byte) bool) int {
	n := 0
	for n < len(t.rest) && of(t.rest[n]) && !strings.HasPrefix(t.rest[n:], "--") {
		n++
	}
	return n
}

func isLetter(c byte) bool   { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' || c == '_' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

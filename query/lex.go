package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of the text of a query. The parser visits each token once and the tree cannot exceed these limits, so its work
// is linear in the length of the text.
const (
	MaxText  = 1 << 20
	MaxDepth = 100
	MaxTerms = 10_000 // conditions, selected fields and order keys together
)

type kind uint8

const (
	tokEOF     kind = iota
	tokWord         // a bare word: keyword or name
	tokName         // a name in double quotes or backquotes
	tokString       // in single quotes
	tokNumber       // digits, with point and exponent
	tokSymbol       // punctuation and operators
	tokUnknown      // matched by no rule; the parser reports its position
)

// token is a part of the text. For strings and quoted names, text is the content of the quotes.
type token struct {
	kind kind
	text string
	pos  int // byte offset where it starts
	end  int
	dbl  bool // a tokName in double quotes, which is a string on the right side of a comparison
}

// found describes the token in an error message.
func (t token) found() string {
	switch t.kind {
	case tokEOF:
		return "the end of the query"
	case tokString:
		return "the string " + quoteString(shorten(t.text))
	case tokName:
		return "the name " + quoteName(shorten(t.text))
	}
	return fmt.Sprintf("%q", shorten(t.text))
}

// shorten limits the length of a text in a message.
func shorten(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// lexer splits the text into tokens, one at a time.
type lexer struct {
	text  string
	pos   int
	steps int // bytes read, for the test that the work is linear
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.text) && isBlank(l.text[l.pos]) {
		l.pos++
	}
	l.steps++
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokEOF, pos: start, end: start}, nil
	}
	switch c := l.text[start]; {
	case isLetter(c):
		return l.run(tokWord, isWord), nil
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number(), nil
	case c == '\'':
		return l.quoted(tokString, c)
	case c == '"', c == '`':
		return l.quoted(tokName, c)
	}
	return l.symbol(), nil
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

func (l *lexer) token(k kind, start int) token {
	l.steps += l.pos - start
	return token{kind: k, text: l.text[start:l.pos], pos: start, end: l.pos}
}

func (l *lexer) run(k kind, in func(byte) bool) token {
	start := l.pos
	for l.pos < len(l.text) && in(l.text[l.pos]) {
		l.pos++
	}
	return l.token(k, start)
}

// number reads digits, a point and an exponent, and any letters that follow, so that 12abc is one invalid token and not
// two valid ones.
func (l *lexer) number() token {
	start := l.pos
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		sign := (c == '+' || c == '-') && (l.text[l.pos-1] == 'e' || l.text[l.pos-1] == 'E') && isDigit(l.peek(1))
		if !isWord(c) && c != '.' && !sign {
			break
		}
		l.pos++
	}
	t := l.token(tokNumber, start)
	if !isNumber(t.text) {
		t.kind = tokUnknown
	}
	return t
}

// quoted reads a text in quotes; a doubled quote is one quote.
func (l *lexer) quoted(k kind, quote byte) (token, error) {
	start := l.pos
	var b strings.Builder
	for {
		l.pos++
		part := strings.IndexByte(l.text[l.pos:], quote)
		if part < 0 {
			return token{}, badQuery(l.text, start, "this %c is never closed; a %c inside is written twice", quote, quote)
		}
		b.WriteString(l.text[l.pos : l.pos+part])
		l.pos += part + 1
		if l.peek(0) != quote {
			break
		}
		b.WriteByte(quote)
	}
	t := l.token(k, start)
	t.text, t.dbl = b.String(), quote == '"'
	return t, nil
}

func (l *lexer) symbol() token {
	start := l.pos
	two := ""
	if l.pos+2 <= len(l.text) {
		two = l.text[l.pos : l.pos+2]
	}
	switch two {
	case "<>", "!=", "<=", ">=":
		l.pos += 2
		return l.token(tokSymbol, start)
	case "--", "/*":
		l.pos += 2
		return l.token(tokUnknown, start)
	}
	if strings.IndexByte("=<>(),*;-+", l.text[l.pos]) >= 0 {
		l.pos++
		return l.token(tokSymbol, start)
	}
	_, size := utf8.DecodeRuneInString(l.text[l.pos:])
	l.pos += size
	return l.token(tokUnknown, start)
}

func isBlank(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

// isNumber reports whether s is a finite decimal with optional sign, point and exponent. Blanks, infinities, hexadecimal
// digits and underscores, which strconv would accept, are not allowed.
func isNumber(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	whole := digits(s)
	rest, frac := s[whole:], 0
	if strings.HasPrefix(rest, ".") {
		frac = digits(rest[1:])
		rest = rest[1+frac:]
	}
	if whole+frac == 0 {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	return rest != "" && digits(rest) == len(rest)
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// quoteString and quoteName write the form that quoted reads.
func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func quoteName(s string) string   { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of the text of a query. The parser visits each token once and the tree cannot grow beyond these, so its work
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
	tokUnknown      // what no rule takes; the parser reports it where it stands
)

// token is a piece of the text. For strings and quoted names, text is what the quotes hold.
type token struct {
	kind kind
	text string
	pos  int // byte offset where it starts
	end  int
	dbl  bool // a tokName in double quotes, which stands for a string at the right of a comparison
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

// shorten keeps messages readable when the text is not.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// lexer cuts the text into tokens, one at a time.
type lexer struct {
	text  string
	at    int
	steps int // bytes looked at, for the test that the work is linear
}

func (l *lexer) next() (token, error) {
	for l.at < len(l.text) && isBlank(l.text[l.at]) {
		l.at++
	}
	l.steps++
	start := l.at
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
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

func (l *lexer) token(k kind, start int) token {
	l.steps += l.at - start
	return token{kind: k, text: l.text[start:l.at], pos: start, end: l.at}
}

func (l *lexer) run(k kind, in func(byte) bool) token {
	start := l.at
	for l.at < len(l.text) && in(l.text[l.at]) {
		l.at++
	}
	return l.token(k, start)
}

// number takes digits, a point and an exponent, and any letters that follow, so that 12abc is one wrong token and not
// two right ones.
func (l *lexer) number() token {
	start := l.at
	for l.at < len(l.text) {
		c := l.text[l.at]
		sign := (c == '+' || c == '-') && (l.text[l.at-1] == 'e' || l.text[l.at-1] == 'E') && isDigit(l.peek(1))
		if !isWord(c) && c != '.' && !sign {
			break
		}
		l.at++
	}
	t := l.token(tokNumber, start)
	if !isNumber(t.text) {
		t.kind = tokUnknown
	}
	return t
}

// quoted takes a text between quotes; a doubled quote stands for one.
func (l *lexer) quoted(k kind, quote byte) (token, error) {
	start := l.at
	var b strings.Builder
	for {
		l.at++
		part := strings.IndexByte(l.text[l.at:], quote)
		if part < 0 {
			return token{}, badQuery(l.text, start, "this %c is never closed; a %c inside is written twice", quote, quote)
		}
		b.WriteString(l.text[l.at : l.at+part])
		l.at += part + 1
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
	start := l.at
	two := ""
	if l.at+2 <= len(l.text) {
		two = l.text[l.at : l.at+2]
	}
	switch two {
	case "<>", "!=", "<=", ">=":
		l.at += 2
		return l.token(tokSymbol, start)
	case "--", "/*":
		l.at += 2
		return l.token(tokUnknown, start)
	}
	if strings.IndexByte("=<>(),*;-+", l.text[l.at]) >= 0 {
		l.at++
		return l.token(tokSymbol, start)
	}
	_, size := utf8.DecodeRuneInString(l.text[l.at:])
	l.at += size
	return l.token(tokUnknown, start)
}

func isBlank(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

// isNumber tells whether s is a finite decimal with a point, optional sign and exponent. Blanks, infinities,
// hexadecimal digits and underscores, which strconv would take, are not.
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

// quoteString and quoteName write what quoted reads.
func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func quoteName(s string) string   { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

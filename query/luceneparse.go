package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"belfry"
)

// Names of the texts in Lucene syntax, for error messages.
const (
	inQuery  = "_query_"
	inFilter = "fq"
)

// parseLucene parses a query in Lucene syntax:
//
//	list    = item { [OR | ||] item }            items without an operator are alternatives too
//	item    = unary { (AND | &&) unary }
//	unary   = [+ | - | ! | NOT] unary | primary
//	primary = [field:] ( "(" list ")" | term | "phrase" | [low TO high] | >=value ) [^number]
//
// A + makes its item required and the plain ones beside it optional. A - or NOT excludes its item from the matches of the
// others, unless there is an OR beside it: then "all but this" is one more alternative. A boost ^ has no effect and is
// dropped.
//
// It also returns the number of steps it took. Terms are counted from the given number on.
func parseLucene(in, text string, terms int) (Clause, int, error) {
	if len(text) > MaxText {
		return nil, 0, belfry.Errorf(belfry.BadQuery, "%s has %d bytes; the limit is %d", in, len(text), MaxText)
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return nil, 0, belfry.Errorf(belfry.BadQuery, "%s must be UTF-8 text without NUL characters", in)
	}
	p := &luceneParser{in: in, text: text, terms: terms}
	c, err := p.parse()
	return c, p.steps, err
}

// lucene parses what follows _query_. Depth and terms count together with those of the enclosing query.
func (p *parser) lucene(field Name) (Expr, error) {
	if !p.symbol("=") {
		return nil, p.expected(`"=" after _query_`)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokString && (p.tok.kind != tokName || !p.tok.dbl) {
		return nil, p.expected("a Lucene query in single quotes")
	}
	inner := &luceneParser{in: inQuery, text: p.tok.text, depth: p.depth, terms: p.terms}
	c, err := inner.parse()
	if err != nil {
		return nil, err
	}
	p.terms = inner.terms
	return &LuceneExpr{c, inner.text}, p.advance()
}

// luceneParser is a recursive descent over the characters of the text; it never goes back.
type luceneParser struct {
	in     string
	text   string
	pos    int
	depth  int
	terms  int
	fields int // number of open field:( ; inside one a comparison needs no field
	steps  int

	noSlash bool // no slash after this position ends a term
}

func (p *luceneParser) parse() (Clause, error) {
	c, err := p.list()
	if err == nil && p.pos < len(p.text) {
		return nil, p.expected("AND", "OR", "a term", "the end") // an unmatched closing parenthesis
	}
	return c, err
}

func (p *luceneParser) errorf(pos int, format string, args ...any) error {
	return badQueryIn(p.in, p.text, pos, format, args...)
}

func (p *luceneParser) expected(options ...string) error {
	return p.errorf(p.pos, "found %s, expected %s", p.found(), orList(options))
}

// found describes the next token.
func (p *luceneParser) found() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	if w := p.operatorWord(); w != "" {
		return w
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return fmt.Sprintf("%q", string(r))
}

func (p *luceneParser) blanks() {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
		p.steps++
	}
}

func (p *luceneParser) peek(n int) byte {
	if p.pos+n < len(p.text) {
		return p.text[p.pos+n]
	}
	return 0
}

// operatorWord returns the operator in capitals that comes next; "" if there is none.
func (p *luceneParser) operatorWord() string {
	for _, w := range []string{"AND", "OR", "NOT"} {
		if strings.HasPrefix(p.text[p.pos:], w) {
			if n := p.pos + len(w); n == len(p.text) || endsTerm(p.text[n:], true) && p.text[n] != ':' {
				return w
			}
		}
	}
	return ""
}

// accept reads an operator, a word or two symbols, if it is next.
func (p *luceneParser) accept(word, symbols string) bool {
	p.blanks()
	switch {
	case p.operatorWord() == word:
		p.pos += len(word)
	case symbols != "" && strings.HasPrefix(p.text[p.pos:], symbols):
		p.pos += len(symbols)
	default:
		return false
	}
	p.steps += len(word)
	return true
}

func (p *luceneParser) enter() error {
	p.depth++
	if p.depth > MaxDepth {
		return p.errorf(p.pos, "conditions are nested more than %d deep", MaxDepth)
	}
	return nil
}

func (p *luceneParser) leave() { p.depth-- }

// mark is the prefix of an item.
type mark uint8

const (
	may mark = iota
	must
	mustNot
)

type item struct {
	mark mark
	of   Clause
	or   bool // there is an OR beside it
}

// list parses items up to the end or a closing parenthesis.
func (p *luceneParser) list() (Clause, error) {
	var items []item
	for or := false; ; {
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		it.or = or
		or = p.accept("OR", "||")
		it.or = it.or || or
		items = append(items, it)
		if p.pos == len(p.text) && !or || p.peek(0) == ')' && !or {
			return joinItems(items), nil
		}
	}
}

// joinItems combines the items of a list into one clause.
func joinItems(items []item) Clause {
	m := &MixedClause{}
	for _, it := range items {
		switch {
		case it.mark == must:
			m.Must = append(m.Must, it.of)
		case it.mark == mustNot && it.or:
			m.May = append(m.May, &NotClause{it.of})
		case it.mark == mustNot:
			m.Not = append(m.Not, it.of)
		default:
			m.May = append(m.May, it.of)
		}
	}
	switch {
	case len(items) == 1 && len(m.Not) == 1:
		return &NotClause{m.Not[0]}
	case len(items) == 1 && len(m.Must) == 1:
		return m.Must[0]
	case len(m.Must)+len(m.Not) > 0:
		return m
	case len(m.May) == 1:
		return m.May[0]
	}
	return &OrClause{m.May}
}

// item parses operands joined by AND. A + in such a chain applies to the whole chain.
func (p *luceneParser) item() (item, error) {
	one, err := p.unary()
	if err != nil || !p.accept("AND", "&&") {
		return one, err
	}
	all := item{of: &AndClause{[]Clause{one.clause()}}, mark: one.mark}
	if one.mark != must {
		all.mark = may
	}
	chain := all.of.(*AndClause)
	for {
		next, err := p.unary()
		if err != nil {
			return all, err
		}
		chain.Of = append(chain.Of, next.clause())
		if next.mark == must {
			all.mark = must
		}
		if !p.accept("AND", "&&") {
			return all, nil
		}
	}
}

// clause returns the clause of the item, negated if it is marked so.
func (it item) clause() Clause {
	if it.mark == mustNot {
		return &NotClause{it.of}
	}
	return it.of
}

func (p *luceneParser) unary() (item, error) {
	m := may
	switch {
	case p.accept("NOT", "!"), p.accept("-", "-"):
		m = mustNot
	case p.accept("+", "+"):
		m = must
	default:
		c, err := p.primary()
		return item{of: c}, err
	}
	if err := p.enter(); err != nil {
		return item{}, err
	}
	defer p.leave()
	inner, err := p.unary()
	return item{mark: m, of: inner.clause()}, err
}

// Lucene features beyond this language are rejected by name: a query with another meaning would silently find nothing or the
// wrong rows.

// noFuzzy rejects quikc~.
func (p *luceneParser) noFuzzy() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.pos, `fuzzy search (~ after a term) is not supported; write the term exactly, with wildcards as in web*, or several spellings with OR; `+
		`a ~ that is part of the term is written \~`)
}

// noProximity rejects "a b"~2.
func (p *luceneParser) noProximity() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.pos, `proximity search (~ after a phrase) is not supported; write the exact phrase without ~, or its words with AND`)
}

// noRegex rejects /regex/ at the beginning of a term. A path is accepted unless it ends with a slash: a slash before a
// blank or the end makes it a regular expression, which may contain blanks.
func (p *luceneParser) noRegex() error {
	if p.peek(0) != '/' || p.slashEnds(p.pos) || p.noSlash {
		return nil
	}
	for i := p.pos + 1; i < len(p.text); i++ {
		p.steps++
		switch {
		case p.text[i] == '\\':
			i++
		case p.text[i] == '/' && p.slashEnds(i):
			return p.errorf(p.pos, `regular expressions (/…/) are not supported; use the wildcards * and ?, or LIKE in SQL; `+
				`write a / at the start of a term as \/, or put the term in double quotes`)
		}
	}
	p.noSlash = true // nor does any later term
	return nil
}

// slashEnds reports whether the slash at i is followed by nothing that could be part of a term.
func (p *luceneParser) slashEnds(i int) bool {
	return i+1 == len(p.text) || strings.IndexByte(" \t\r\n)^~", p.text[i+1]) >= 0
}

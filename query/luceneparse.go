package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"belfry"
)

// The names of the places in which Lucene is written.
const (
	inQuery  = "_query_"
	inFilter = "fq"
)

// parseLucene reads a query in the language of Lucene:
//
//	list    = item { [OR | ||] item }            without an operator between them the items are alternatives too
//	item    = unary { (AND | &&) unary }
//	unary   = [+ | - | ! | NOT] unary | primary
//	primary = [field:] ( "(" list ")" | term | "phrase" | [low TO high] | >=value ) [^number]
//
// A + makes its item one that must hold, and the plain ones beside it optional. A - or NOT takes away what it names from
// what the others find, unless an OR stands beside it: then "all but this" is one alternative more. A boost ^ has no
// effect and is left out.
//
// It also returns the number of steps it took, and goes on counting at the given number of terms.
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

// lucene takes what follows _query_. Depth and terms count together with those of the query around it.
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
	at     int
	depth  int
	terms  int
	fields int // how many field:( are open: inside one a comparison needs no field
	steps  int

	noSlash bool // no slash behind this place ends a term
}

func (p *luceneParser) parse() (Clause, error) {
	c, err := p.list()
	if err == nil && p.at < len(p.text) {
		return nil, p.expected("AND", "OR", "a term", "the end") // a parenthesis that nothing opened
	}
	return c, err
}

func (p *luceneParser) errorf(at int, format string, args ...any) error {
	return badQueryIn(p.in, p.text, at, format, args...)
}

func (p *luceneParser) expected(options ...string) error {
	return p.errorf(p.at, "found %s, expected %s", p.found(), orList(options))
}

// found describes what stands next.
func (p *luceneParser) found() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	if w := p.operatorWord(); w != "" {
		return w
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return fmt.Sprintf("%q", string(r))
}

func (p *luceneParser) blanks() {
	for p.at < len(p.text) && isBlank(p.text[p.at]) {
		p.at++
		p.steps++
	}
}

func (p *luceneParser) peek(n int) byte {
	if p.at+n < len(p.text) {
		return p.text[p.at+n]
	}
	return 0
}

// operatorWord gives the operator in capitals that stands next, if one does.
func (p *luceneParser) operatorWord() string {
	for _, w := range []string{"AND", "OR", "NOT"} {
		if strings.HasPrefix(p.text[p.at:], w) {
			if n := p.at + len(w); n == len(p.text) || endsTerm(p.text[n:], true) && p.text[n] != ':' {
				return w
			}
		}
	}
	return ""
}

// accept takes an operator, which is a word or two symbols.
func (p *luceneParser) accept(word, symbols string) bool {
	p.blanks()
	switch {
	case p.operatorWord() == word:
		p.at += len(word)
	case symbols != "" && strings.HasPrefix(p.text[p.at:], symbols):
		p.at += len(symbols)
	default:
		return false
	}
	p.steps += len(word)
	return true
}

func (p *luceneParser) deeper() error {
	p.depth++
	if p.depth > MaxDepth {
		return p.errorf(p.at, "conditions are nested more than %d deep", MaxDepth)
	}
	return nil
}

func (p *luceneParser) shallower() { p.depth-- }

// mark is what stands before an item.
type mark uint8

const (
	may mark = iota
	must
	mustNot
)

type item struct {
	mark mark
	of   Clause
	or   bool // an OR stands beside it
}

// list takes items up to the end or to a closing parenthesis.
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
		if p.at == len(p.text) && !or || p.peek(0) == ')' && !or {
			return joined(items), nil
		}
	}
}

// joined makes one clause of a list.
func joined(items []item) Clause {
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

// item takes what AND joins. In such a chain a + says nothing new, but it holds for the chain.
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

// clause is the item by itself.
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
	if err := p.deeper(); err != nil {
		return item{}, err
	}
	defer p.shallower()
	inner, err := p.unary()
	return item{mark: m, of: inner.clause()}, err
}

// What Lucene has beyond this language is refused by its name: a query that is taken for another finds nothing, or the wrong
// rows, and does not say so.

// noFuzzy refuses quikc~.
func (p *luceneParser) noFuzzy() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.at, `fuzzy search (~ after a term) is not supported; write the term exactly, with wildcards as in web*, or several spellings with OR; `+
		`a ~ that is part of the term is written \~`)
}

// noProximity refuses "a b"~2.
func (p *luceneParser) noProximity() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.at, `proximity search (~ after a phrase) is not supported; write the exact phrase without ~, or its words with AND`)
}

// noRegex refuses /regex/ where a term begins. A path is none, unless it ends with a slash: what stands before a blank or the
// end makes the difference, as a regular expression may have blanks in it.
func (p *luceneParser) noRegex() error {
	if p.peek(0) != '/' || p.slashEnds(p.at) || p.noSlash {
		return nil
	}
	for at := p.at + 1; at < len(p.text); at++ {
		p.steps++
		switch {
		case p.text[at] == '\\':
			at++
		case p.text[at] == '/' && p.slashEnds(at):
			return p.errorf(p.at, `regular expressions (/…/) are not supported; use the wildcards * and ?, or LIKE in SQL; `+
				`a / that begins a term is written \/, or the term stands in double quotes`)
		}
	}
	p.noSlash = true // nor for any term behind this one
	return nil
}

// slashEnds tells whether nothing that could be part of a term follows the slash.
func (p *luceneParser) slashEnds(at int) bool {
	return at+1 == len(p.text) || strings.IndexByte(" \t\r\n)^~", p.text[at+1]) >= 0
}

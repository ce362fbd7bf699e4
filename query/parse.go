package query

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"belfry"
)

// Parse parses a query. Its errors have the position, what was found and what was expected.
func Parse(text string) (*Select, error) {
	s, _, err := parse(text)
	return s, err
}

// parse also returns the number of steps it took.
func parse(text string) (*Select, int, error) {
	if len(text) > MaxText {
		return nil, 0, belfry.Errorf(belfry.BadQuery, "the query has %d bytes; the limit is %d", len(text), MaxText)
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return nil, 0, belfry.Errorf(belfry.BadQuery, "the query must be UTF-8 text without NUL characters")
	}
	p := &parser{lex: lexer{text: text}}
	s, err := p.query()
	if s != nil {
		s.terms = p.terms
	}
	return s, p.lex.steps, err
}

// parser is a recursive descent with one token of lookahead. The first error ends it.
type parser struct {
	lex   lexer
	tok   token
	prev  int // end of the token before
	depth int
	terms int

	having bool // inside HAVING
}

func (p *parser) query() (*Select, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &Select{text: p.lex.text}
	for _, part := range []func(*Select) error{p.items, p.from, p.where, p.group, p.order, p.limit, p.end} {
		if err := part(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *parser) advance() (err error) {
	p.prev = p.tok.end
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) errorf(format string, args ...any) error {
	return badQuery(p.lex.text, p.tok.pos, format, args...)
}

// expected returns the error for an unexpected token. Options in capitals are keywords, and the nearest of them is
// suggested.
func (p *parser) expected(options ...string) error {
	hint := ""
	if p.tok.kind == tokWord {
		keywords := slices.DeleteFunc(slices.Clone(options), func(o string) bool {
			return o != strings.ToUpper(o) || strings.EqualFold(o, p.tok.text)
		})
		hint = didYouMean(p.tok.text, keywords)
	}
	if p.tok.kind == tokUnknown && (p.tok.text == "--" || p.tok.text == "/*") {
		hint = "; comments are not part of the language"
	}
	return p.errorf("found %s, expected %s%s", p.tok.found(), orList(options), hint)
}

func (p *parser) word(w string) bool {
	return p.tok.kind == tokWord && strings.EqualFold(p.tok.text, w)
}

func (p *parser) symbol(s string) bool { return p.tok.kind == tokSymbol && p.tok.text == s }

// accept reads the keyword if it is next.
func (p *parser) accept(w string) (bool, error) {
	if !p.word(w) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) acceptSymbol(s string) (bool, error) {
	if !p.symbol(s) {
		return false, nil
	}
	return true, p.advance()
}

// need reads the keyword or returns an error that names it and the alternatives.
func (p *parser) need(w string, or ...string) error {
	if p.word(w) {
		return p.advance()
	}
	return p.expected(append(or, w)...)
}

func (p *parser) needSymbol(s string, or ...string) error {
	if p.symbol(s) {
		return p.advance()
	}
	return p.expected(append(or, strconv.Quote(s))...)
}

// term counts the terms of the tree.
func (p *parser) term() error {
	p.terms++
	if p.terms > MaxTerms {
		return p.errorf("the query has more than %d conditions and fields", MaxTerms)
	}
	return nil
}

// name reads a name; what describes it in the error.
func (p *parser) name(what string) (Name, error) {
	quoted := p.tok.kind == tokName && p.tok.text != ""
	if !quoted && (p.tok.kind != tokWord || isReserved(p.tok.text)) {
		return Name{}, p.expected(what)
	}
	n := Name{p.tok.text, Pos(p.tok.pos)}
	return n, p.advance()
}

func (p *parser) where(s *Select) error {
	where, err := p.accept("WHERE")
	if err != nil || !where {
		return err
	}
	s.Where, err = p.or()
	return err
}

func (p *parser) or() (Expr, error) {
	of, err := p.list("OR", p.and)
	if err != nil || len(of) == 1 {
		return first(of), err
	}
	return &OrExpr{of}, nil
}

func (p *parser) and() (Expr, error) {
	of, err := p.list("AND", p.not)
	if err != nil || len(of) == 1 {
		return first(of), err
	}
	return &AndExpr{of}, nil
}

// list parses one or more conditions separated by the keyword.
func (p *parser) list(by string, one func() (Expr, error)) (of []Expr, err error) {
	for more := true; more; {
		e, err := one()
		if err != nil {
			return nil, err
		}
		of = append(of, e)
		if more, err = p.accept(by); err != nil {
			return nil, err
		}
	}
	return of, nil
}

func first(of []Expr) Expr {
	if len(of) == 0 {
		return nil
	}
	return of[0]
}

func (p *parser) not() (Expr, error) {
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	if !not {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := p.not()
	if err != nil {
		return nil, err
	}
	return &NotExpr{e}, nil
}

func (p *parser) enter() error {
	p.depth++
	if p.depth > MaxDepth {
		return p.errorf("conditions are nested more than %d deep", MaxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) primary() (Expr, error) {
	open, err := p.acceptSymbol("(")
	if err != nil {
		return nil, err
	}
	if !open {
		return p.condition()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	return e, p.needSymbol(")", "AND", "OR")
}

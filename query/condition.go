package query

import "strings"

// condition parses one comparison, or _query_.
func (p *parser) condition() (Expr, error) {
	if err := p.term(); err != nil {
		return nil, err
	}
	field, err := p.left()
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(field.Field.Text, "_query_") && field.Func.Text == "" {
		return p.lucene(field.Field)
	}
	if op, ok := p.operator(); ok {
		return p.compare(field, op)
	}
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	switch {
	case p.word("IN"):
		return p.in(field, not)
	case p.word("BETWEEN"):
		return p.between(field, not)
	case p.word("LIKE"):
		return p.like(field, not)
	case p.word("IS") && !not:
		return p.null(field)
	case p.symbol("("):
		return nil, p.errorf("a function has no quotes around its name")
	case not:
		return nil, p.expected("IN", "BETWEEN", "LIKE")
	}
	return nil, p.expected("=", "<>", "<", "<=", ">", ">=", "LIKE", "IN", "BETWEEN", "IS")
}

func (p *parser) operator() (Op, bool) {
	if p.tok.kind != tokSymbol {
		return 0, false
	}
	if p.tok.text == "!=" {
		return NotEqual, true
	}
	for op, text := range opTexts {
		if text == p.tok.text {
			return Op(op), true
		}
	}
	return 0, false
}

func (p *parser) compare(field Term, op Op) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	v, err := p.literal()
	if err != nil {
		return nil, err
	}
	return &CompareExpr{field, op, v}, nil
}

func (p *parser) null(field Term) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	return &NullExpr{field, not}, p.need("NULL")
}

func (p *parser) in(field Term, not bool) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.needSymbol("("); err != nil {
		return nil, err
	}
	e := &InExpr{Term: field, Not: not}
	for {
		v, err := p.literal()
		if err != nil {
			return nil, err
		}
		e.Values = append(e.Values, v)
		if err := p.term(); err != nil {
			return nil, err
		}
		more, err := p.acceptSymbol(",")
		if err != nil {
			return nil, err
		}
		if !more {
			return e, p.needSymbol(")", `","`)
		}
	}
}

func (p *parser) like(field Term, not bool) (Expr, error) {
	err := p.advance()
	if err != nil {
		return nil, err
	}
	e := &LikeExpr{Term: field, Not: not}
	e.Pattern, err = p.literal()
	return e, err
}

func (p *parser) between(field Term, not bool) (Expr, error) {
	err := p.advance()
	if err != nil {
		return nil, err
	}
	e := &BetweenExpr{Term: field, Not: not}
	if e.Low, err = p.literal(); err != nil {
		return nil, err
	}
	if err = p.need("AND"); err != nil {
		return nil, err
	}
	e.High, err = p.literal()
	return e, err
}

// literal parses a value. A name in double quotes is a string here, because many people write strings that way.
func (p *parser) literal() (Literal, error) {
	lit := Literal{Pos: Pos(p.tok.pos), Text: p.tok.text}
	switch {
	case p.tok.kind == tokString, p.tok.kind == tokName && p.tok.dbl:
		return lit, p.advance()
	case p.word("TRUE"), p.word("FALSE"):
		lit.Kind, lit.Text = BoolLiteral, strings.ToLower(lit.Text)
		return lit, p.advance()
	case p.word("NULL"):
		return lit, p.errorf("nothing compares with NULL; write IS NULL or IS NOT NULL")
	}
	return p.number(lit)
}

func (p *parser) number(lit Literal) (Literal, error) {
	lit.Kind = NumberLiteral
	minus, err := p.acceptSymbol("-")
	if err != nil {
		return lit, err
	}
	if !minus {
		if _, err := p.acceptSymbol("+"); err != nil {
			return lit, err
		}
	}
	if p.tok.kind != tokNumber {
		if p.tok.kind == tokWord {
			return lit, p.errorf("found %s, expected a value; quote strings and times with single quotes: '%s'",
				p.tok.found(), shorten(p.tok.text))
		}
		return lit, p.expected("a value: a string in single quotes, a number, TRUE or FALSE")
	}
	lit.Text = p.tok.text
	if minus {
		lit.Text = "-" + lit.Text
	}
	return lit, p.advance()
}

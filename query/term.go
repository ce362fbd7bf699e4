package query

import (
	"slices"
	"strings"
)

// pos returns the beginning of the term.
func (t Term) pos() Pos {
	if t.Func.Text != "" {
		return t.Func.Pos
	}
	return t.Field.Pos
}

// operand parses a field or a function of one; what describes it in the error.
func (p *parser) operand(what string) (t Term, err error) {
	bare := p.tok.kind == tokWord
	if t.Field, err = p.name(what); err != nil || !bare || !p.symbol("(") {
		return t, err
	}
	t.Func, t.Field = t.Field, Name{}
	if t.Func.function() == FuncNone {
		return t, badQuery(p.lex.text, int(t.Func.Pos), "there is no function %s%s; known are %s", shorten(t.Func.Text),
			didYouMean(strings.ToUpper(t.Func.Text), functionNames()), strings.Join(functionNames(), ", "))
	}
	if err = p.advance(); err != nil {
		return t, err
	}
	if err = p.arguments(&t); err != nil {
		return t, err
	}
	t.End = Pos(p.tok.end)
	return t, p.needSymbol(")")
}

// arguments parses the arguments of a function.
func (p *parser) arguments(t *Term) (err error) {
	f, what := &functions[t.Func.function()], "a field"
	if f.Rows {
		what = "*, DISTINCT or a field"
		if p.symbol("*") {
			t.Field = Name{"*", Pos(p.tok.pos)}
			return p.advance()
		}
	}
	if f.distinct != FuncNone {
		if t.Distinct, err = p.accept("DISTINCT"); err != nil {
			return err
		}
		if t.Distinct {
			what = "a field"
		}
	}
	if t.Field, err = p.name(what); err != nil {
		return err
	}
	if p.symbol("(") {
		return p.errorf("a function takes a field, not another function")
	}
	if f.Second == "" {
		return nil
	}
	if !p.symbol(",") {
		return p.expected(`"," and ` + f.Second)
	}
	if err = p.advance(); err != nil {
		return err
	}
	lit, err := p.literal()
	t.Arg = &lit
	return err
}

// operands parses a list of fields and functions.
func (p *parser) operands(what string) (list []Term, err error) {
	for more := true; more; {
		if err = p.term(); err != nil {
			return nil, err
		}
		t, err := p.operand(what)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		if more, err = p.acceptSymbol(","); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (p *parser) group(s *Select) error {
	group, err := p.accept("GROUP")
	if err != nil {
		return err
	}
	if group {
		if err := p.need("BY"); err != nil {
			return err
		}
		if s.Group, err = p.operands("a field to group by"); err != nil {
			return err
		}
	}
	if p.having, err = p.accept("HAVING"); err != nil || !p.having {
		return err
	}
	defer func() { p.having = false }()
	s.Having, err = p.or()
	return err
}

// left parses the left side of a condition: in WHERE a field, in HAVING also a function.
func (p *parser) left() (Term, error) {
	what := "a field, NOT or ("
	if p.having {
		what = "a field, a function, NOT or ("
	}
	t, err := p.operand(what)
	switch {
	case err != nil:
		return t, err
	case t.Func.Text != "" && !p.having:
		return t, badQuery(p.lex.text, int(t.Func.Pos), "functions are not allowed in WHERE; use HAVING after GROUP BY")
	case p.having && t.Func.Text == "" && strings.EqualFold(t.Field.Text, "_query_"):
		return t, badQuery(p.lex.text, int(t.Field.Pos), "_query_ selects rows; use it in WHERE")
	}
	return t, nil
}

// grouped reports whether the query has groups.
func (s *Select) grouped() bool {
	isFunc := func(t Term) bool { return t.Func.Text != "" }
	return s.Distinct || len(s.Group) > 0 || s.Having != nil ||
		slices.ContainsFunc(s.Items, func(i Item) bool { return isFunc(i.Term) }) ||
		slices.ContainsFunc(s.Order, func(k Key) bool { return isFunc(k.Term) })
}

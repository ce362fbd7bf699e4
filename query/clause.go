package query

import (
	"strconv"
	"strings"
)

func (p *parser) items(s *Select) error {
	if err := p.need("SELECT"); err != nil {
		return err
	}
	var err error
	if s.Distinct, err = p.accept("DISTINCT"); err != nil {
		return err
	}
	if s.Distinct && p.symbol("*") {
		return p.errorf("SELECT DISTINCT takes the fields that make rows differ; name them instead of *")
	}
	const alone = "* means all fields; name the fields instead, or leave out the others"
	if s.Star, err = p.acceptSymbol("*"); err != nil || s.Star {
		if p.symbol(",") {
			return p.errorf(alone)
		}
		return err
	}
	for {
		if s.Items != nil && p.symbol("*") {
			return p.errorf(alone)
		}
		item, err := p.item()
		if err != nil {
			return err
		}
		s.Items = append(s.Items, item)
		more, err := p.acceptSymbol(",")
		if err != nil || !more {
			return err
		}
	}
}

func (p *parser) item() (item Item, err error) {
	if err = p.term(); err != nil {
		return
	}
	if item.Term, err = p.operand("*, a field or a function like COUNT(*)"); err != nil {
		return
	}
	as, err := p.accept("AS")
	if err != nil || !as {
		return
	}
	item.As, err = p.name("a name after AS")
	return
}

func (p *parser) from(s *Select) (err error) {
	var or []string
	if !s.Star {
		or = []string{`","`}
	}
	if err = p.need("FROM", or...); err != nil {
		return err
	}
	if s.From, err = p.name("the name of a collection"); err != nil {
		return err
	}
	switch {
	case p.word("AS"):
		return p.asOf(s)
	case p.symbol(","), p.word("JOIN"):
		return p.errorf("a query reads exactly one collection")
	}
	return nil
}

func (p *parser) order(s *Select) error {
	order, err := p.accept("ORDER")
	if err != nil || !order {
		return err
	}
	if err := p.need("BY"); err != nil {
		return err
	}
	for {
		key, err := p.key()
		if err != nil {
			return err
		}
		s.Order = append(s.Order, key)
		more, err := p.acceptSymbol(",")
		if err != nil || !more {
			return err
		}
	}
}

func (p *parser) key() (k Key, err error) {
	if err = p.term(); err != nil {
		return
	}
	if k.Term, err = p.operand("a field to order by"); err != nil {
		return
	}
	if k.Desc, err = p.accept("DESC"); err != nil || k.Desc {
		return
	}
	_, err = p.accept("ASC")
	return
}

func (p *parser) limit(s *Select) (err error) {
	if s.Limit, err = p.count("LIMIT", MaxRows); err != nil || !s.Limit.Given {
		return err
	}
	s.Offset, err = p.count("OFFSET", MaxOffset)
	return err
}

func (p *parser) count(w string, limit int) (c Count, err error) {
	if c.Given, err = p.accept(w); err != nil || !c.Given {
		return
	}
	c.Pos = Pos(p.tok.pos)
	if p.tok.kind != tokNumber || digits(p.tok.text) != len(p.tok.text) {
		return c, p.expected("a number of rows after " + w)
	}
	if c.N, err = strconv.Atoi(p.tok.text); err != nil || c.N > limit {
		return c, p.errorf("%s takes a number from 0 to %d, found %s", w, limit, p.tok.found())
	}
	return c, p.advance()
}

func (p *parser) end(s *Select) error {
	if _, err := p.acceptSymbol(";"); err != nil {
		return err
	}
	if p.tok.kind == tokEOF {
		return nil
	}
	if p.tok.pos > 0 && strings.TrimSpace(p.lex.text[p.prev-1:p.prev]) == ";" {
		return p.errorf("found %s after the end of the query; a request is one query", p.tok.found())
	}
	return p.expected(s.continuations()...)
}

// continuations returns the keywords that may follow what has been read.
func (s *Select) continuations() []string {
	switch {
	case s.Offset.Given:
		return []string{"the end of the query"}
	case s.Limit.Given:
		return []string{"OFFSET", "the end of the query"}
	case s.Order != nil:
		return []string{"ASC", "DESC", `","`, "LIMIT", "the end of the query"}
	case s.Having != nil:
		return []string{"AND", "OR", "ORDER BY", "LIMIT", "the end of the query"}
	case s.Group != nil:
		return []string{`","`, "HAVING", "ORDER BY", "LIMIT", "the end of the query"}
	case s.Where != nil:
		return []string{"AND", "OR", "GROUP BY", "ORDER BY", "LIMIT", "the end of the query"}
	}
	return []string{"WHERE", "GROUP BY", "ORDER BY", "LIMIT", "the end of the query"}
}

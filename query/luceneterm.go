package query

import "strings"

// primary takes a group or a term, with its field, and a boost after it.
func (p *luceneParser) primary() (Clause, error) {
	p.blanks()
	c, err := p.unboosted()
	if err != nil || p.peek(0) != '^' {
		return c, err
	}
	p.at++
	if p.number() == "" {
		return nil, p.expected("a number after ^")
	}
	return c, nil
}

func (p *luceneParser) unboosted() (Clause, error) {
	switch p.peek(0) {
	case '(':
		return p.group()
	case '"', '[', '{':
		return p.value(Name{})
	case '<', '>':
		if p.fields > 0 {
			return p.value(Name{})
		}
	}
	if p.operatorWord() != "" {
		return nil, p.expected("a term")
	}
	start := p.at
	if err := p.noRegex(); err != nil {
		return nil, err
	}
	pattern, err := p.run(true)
	if err != nil {
		return nil, err
	}
	if p.peek(0) != ':' || p.at == len(p.text) {
		if err := p.term(start); err != nil {
			return nil, err
		}
		return &TermClause{Pattern: pattern, Pos: Pos(start)}, p.noFuzzy()
	}
	p.at++
	return p.field(pattern, start)
}

// field takes what follows a field and its colon.
func (p *luceneParser) field(pattern string, start int) (Clause, error) {
	if pattern == "%" {
		if p.peek(0) != '*' || p.at+1 < len(p.text) && !endsTerm(p.text[p.at+1:], true) {
			return nil, p.errorf(start, "found *:, expected the name of a field, or *:* for every row")
		}
		p.at++
		return &AllClause{}, p.term(start)
	}
	name, plain := plainPattern(pattern)
	if !plain {
		return nil, p.errorf(start, "found wildcards in the name of a field; name one field, or write a colon inside a term as \\:")
	}
	p.blanks()
	if p.peek(0) != '(' {
		return p.value(Name{name, Pos(start)})
	}
	p.fields++
	c, err := p.group()
	p.fields--
	if err != nil {
		return nil, err
	}
	return ofGroup(Name{name, Pos(start)}, c), nil
}

// ofGroup gives a clause the field of the group in which it stands alone.
func ofGroup(field Name, c Clause) Clause {
	switch c := c.(type) {
	case *TermClause:
		if c.Field.Text == "" {
			c.Field = field
		}
		return c
	case *RangeClause:
		if c.Field.Text == "" {
			c.Field = field
		}
		return c
	case *AllClause, *FieldClause:
		return c
	}
	return &FieldClause{field, c}
}

func (p *luceneParser) group() (Clause, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer p.shallower()
	p.at++
	c, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.peek(0) != ')' {
		return nil, p.expected("AND", "OR", "a term", `")"`)
	}
	p.at++
	return c, nil
}

// term counts what the tree is made of.
func (p *luceneParser) term(at int) error {
	p.terms++
	if p.terms > MaxTerms {
		return p.errorf(at, "the query has more than %d conditions and fields", MaxTerms)
	}
	return nil
}

// value takes a term, a phrase, a range or a comparison. Here a colon or a minus is part of a term.
func (p *luceneParser) value(field Name) (Clause, error) {
	start := p.at
	if err := p.term(start); err != nil {
		return nil, err
	}
	switch p.peek(0) {
	case '"':
		pattern, err := p.quoted()
		if err != nil {
			return nil, err
		}
		return &TermClause{Field: field, Quoted: true, Pattern: pattern, Pos: Pos(start)}, p.noProximity()
	case '[', '{':
		return p.between(field)
	case '<', '>':
		return p.comparison(field)
	}
	if err := p.noRegex(); err != nil {
		return nil, err
	}
	pattern, err := p.run(false)
	if err != nil {
		return nil, err
	}
	return &TermClause{Field: field, Pattern: pattern, Pos: Pos(start)}, p.noFuzzy()
}

// comparison takes >=value and the like, which is a range with one end.
func (p *luceneParser) comparison(field Name) (Clause, error) {
	c := &RangeClause{Field: field, Pos: Pos(p.at)}
	less, equal := p.peek(0) == '<', p.peek(1) == '='
	p.at++
	if equal {
		p.at++
	}
	p.blanks()
	end, err := p.end("")
	if err != nil {
		return nil, err
	}
	if less {
		c.High, c.OpenHigh = end, !equal
	} else {
		c.Low, c.OpenLow = end, !equal
	}
	return c, nil
}

// between takes [low TO high].
func (p *luceneParser) between(field Name) (_ Clause, err error) {
	c := &RangeClause{Field: field, Pos: Pos(p.at), OpenLow: p.peek(0) == '{'}
	p.at++
	if c.Low, err = p.end("*"); err != nil {
		return nil, err
	}
	p.blanks()
	if !strings.HasPrefix(p.text[p.at:], "TO") || !isBlank(p.peek(2)) {
		return nil, p.expected("TO between the ends of the range")
	}
	p.at += 2
	if c.High, err = p.end("*"); err != nil {
		return nil, err
	}
	p.blanks()
	switch p.peek(0) {
	case ']', '}':
		c.OpenHigh = p.peek(0) == '}' && c.High.Text != ""
	default:
		return nil, p.expected(`"]"`, `"}"`)
	}
	p.at++
	c.OpenLow = c.OpenLow && c.Low.Text != ""
	return c, nil
}

// end takes one end of a range, in quotes or not; none is how an open end is written.
func (p *luceneParser) end(none string) (End, error) {
	p.blanks()
	start := p.at
	var pattern string
	var err error
	if p.peek(0) == '"' {
		pattern, err = p.quoted()
	} else {
		pattern, err = p.run(false)
	}
	if err != nil {
		return End{}, err
	}
	raw := p.text[start:p.at]
	if none != "" && raw == none {
		return End{Pos: Pos(start)}, nil
	}
	text := literally(pattern)
	if text == "" {
		p.at = start
		return End{}, p.expected("a value")
	}
	return End{text, Pos(start)}, nil
}

// literally takes the wildcards of a pattern as the characters that they were written as.
func literally(pattern string) string {
	var b strings.Builder
	for _, c := range pieces(pattern) {
		switch c.kind {
		case '%':
			b.WriteByte('*')
		case '_':
			b.WriteByte('?')
		default:
			b.WriteRune(c.char)
		}
	}
	return b.String()
}

// number takes digits with a point.
func (p *luceneParser) number() string {
	start := p.at
	for isDigit(p.peek(0)) || p.peek(0) == '.' {
		p.at++
		p.steps++
	}
	return p.text[start:p.at]
}

// run takes the characters of a term. A colon ends it when it is one that follows a field.
func (p *luceneParser) run(colon bool) (string, error) {
	start := p.at
	var b strings.Builder
	for p.at < len(p.text) && !endsTerm(p.text[p.at:], colon) {
		if err := p.char(&b); err != nil {
			return "", err
		}
	}
	if p.at == start {
		return "", p.expected("a term")
	}
	return b.String(), nil
}

// endsTerm tells whether the text begins with what cannot be part of a term.
func endsTerm(s string, colon bool) bool {
	switch s[0] {
	case ' ', '\t', '\r', '\n', '(', ')', '[', ']', '{', '}', '"', '^', '~':
		return true
	case ':':
		return colon
	case '&':
		return strings.HasPrefix(s, "&&")
	case '|':
		return strings.HasPrefix(s, "||")
	}
	return false
}

// quoted takes a phrase.
func (p *luceneParser) quoted() (string, error) {
	start := p.at
	var b strings.Builder
	for p.at++; p.peek(0) != '"'; {
		if p.at == len(p.text) {
			return "", p.errorf(start, `this " is never closed; a " inside is written \"`)
		}
		if err := p.char(&b); err != nil {
			return "", err
		}
	}
	p.at++
	return b.String(), nil
}

// char takes one character of a term and writes it in the form of LIKE.
func (p *luceneParser) char(b *strings.Builder) error {
	c := p.text[p.at]
	p.at++
	p.steps++
	switch c {
	case '*':
		b.WriteByte('%')
		return nil
	case '?':
		b.WriteByte('_')
		return nil
	case '\\':
		if p.at == len(p.text) {
			return p.errorf(p.at-1, `found a backslash at the end, expected the character it stands for after it; a backslash itself is written \\`)
		}
		c = p.text[p.at]
		p.at++
	}
	if c == '%' || c == '_' || c == '\\' {
		b.WriteByte('\\')
	}
	b.WriteByte(c) // the other bytes of a longer character follow as they are
	return nil
}

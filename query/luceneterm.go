package query

import "strings"

// primary parses a group or a term, with its field, and a boost after it.
func (p *luceneParser) primary() (Clause, error) {
	p.blanks()
	c, err := p.unboosted()
	if err != nil || p.peek(0) != '^' {
		return c, err
	}
	p.pos++
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
	start := p.pos
	if err := p.noRegex(); err != nil {
		return nil, err
	}
	pattern, err := p.run(true)
	if err != nil {
		return nil, err
	}
	if p.peek(0) != ':' || p.pos == len(p.text) {
		if err := p.term(start); err != nil {
			return nil, err
		}
		return &TermClause{Pattern: pattern, Pos: Pos(start)}, p.noFuzzy()
	}
	p.pos++
	return p.field(pattern, start)
}

// field parses what follows a field and its colon.
func (p *luceneParser) field(pattern string, start int) (Clause, error) {
	if pattern == "%" {
		if p.peek(0) != '*' || p.pos+1 < len(p.text) && !endsTerm(p.text[p.pos+1:], true) {
			return nil, p.errorf(start, "found *:, expected the name of a field, or *:* for every row")
		}
		p.pos++
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

// ofGroup sets the field of a group on the only clause in it.
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
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.pos++
	c, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.peek(0) != ')' {
		return nil, p.expected("AND", "OR", "a term", `")"`)
	}
	p.pos++
	return c, nil
}

// term counts the terms of the tree.
func (p *luceneParser) term(pos int) error {
	p.terms++
	if p.terms > MaxTerms {
		return p.errorf(pos, "the query has more than %d conditions and fields", MaxTerms)
	}
	return nil
}

// value parses a term, a phrase, a range or a comparison. Here a colon or a minus is part of a term.
func (p *luceneParser) value(field Name) (Clause, error) {
	start := p.pos
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

// comparison parses >=value and the like: a range with one end.
func (p *luceneParser) comparison(field Name) (Clause, error) {
	c := &RangeClause{Field: field, Pos: Pos(p.pos)}
	less, equal := p.peek(0) == '<', p.peek(1) == '='
	p.pos++
	if equal {
		p.pos++
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

// between parses [low TO high].
func (p *luceneParser) between(field Name) (_ Clause, err error) {
	c := &RangeClause{Field: field, Pos: Pos(p.pos), OpenLow: p.peek(0) == '{'}
	p.pos++
	if c.Low, err = p.end("*"); err != nil {
		return nil, err
	}
	p.blanks()
	if !strings.HasPrefix(p.text[p.pos:], "TO") || !isBlank(p.peek(2)) {
		return nil, p.expected("TO between the ends of the range")
	}
	p.pos += 2
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
	p.pos++
	c.OpenLow = c.OpenLow && c.Low.Text != ""
	return c, nil
}

// end parses one end of a range, quoted or not; none is the text of an open end.
func (p *luceneParser) end(none string) (End, error) {
	p.blanks()
	start := p.pos
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
	raw := p.text[start:p.pos]
	if none != "" && raw == none {
		return End{Pos: Pos(start)}, nil
	}
	text := literalText(pattern)
	if text == "" {
		p.pos = start
		return End{}, p.expected("a value")
	}
	return End{text, Pos(start)}, nil
}

// literalText returns a pattern with its wildcards as the characters that were written.
func literalText(pattern string) string {
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

// number reads digits with a point.
func (p *luceneParser) number() string {
	start := p.pos
	for isDigit(p.peek(0)) || p.peek(0) == '.' {
		p.pos++
		p.steps++
	}
	return p.text[start:p.pos]
}

// run reads the characters of a term. With colon, a colon ends it.
func (p *luceneParser) run(colon bool) (string, error) {
	start := p.pos
	var b strings.Builder
	for p.pos < len(p.text) && !endsTerm(p.text[p.pos:], colon) {
		if err := p.char(&b); err != nil {
			return "", err
		}
	}
	if p.pos == start {
		return "", p.expected("a term")
	}
	return b.String(), nil
}

// endsTerm reports whether the text begins with a character that cannot be part of a term.
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

// quoted reads a phrase.
func (p *luceneParser) quoted() (string, error) {
	start := p.pos
	var b strings.Builder
	for p.pos++; p.peek(0) != '"'; {
		if p.pos == len(p.text) {
			return "", p.errorf(start, `this " is never closed; a " inside is written \"`)
		}
		if err := p.char(&b); err != nil {
			return "", err
		}
	}
	p.pos++
	return b.String(), nil
}

// char reads one character of a term and writes it in LIKE form.
func (p *luceneParser) char(b *strings.Builder) error {
	c := p.text[p.pos]
	p.pos++
	p.steps++
	switch c {
	case '*':
		b.WriteByte('%')
		return nil
	case '?':
		b.WriteByte('_')
		return nil
	case '\\':
		if p.pos == len(p.text) {
			return p.errorf(p.pos-1, `found a backslash at the end, expected the character that it escapes; a backslash itself is written \\`)
		}
		c = p.text[p.pos]
		p.pos++
	}
	if c == '%' || c == '_' || c == '\\' {
		b.WriteByte('\\')
	}
	b.WriteByte(c) // further bytes of a multi-byte character are copied by the next calls
	return nil
}

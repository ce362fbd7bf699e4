package query

import (
	"strings"

	"belfry"
	"belfry/catalog"
)

// lucene converts _query_ to the same conditions as SQL.
func (k *checker) lucene(e *LuceneExpr) (Pred, error) {
	return k.luceneText(inQuery, e.text, e.Clause)
}

// luceneText checks a clause whose positions refer to its own text.
func (k *checker) luceneText(source, text string, c Clause) (Pred, error) {
	inner := *k
	inner.Select, inner.source = &Select{text: text}, source
	p, err := inner.clause(c, Name{})
	k.matches = inner.matches
	return p, err
}

// filter checks the Lucene query given as a parameter, if there is one.
func (k *checker) filter() (Pred, error) {
	if k.options.Filter == "" {
		return nil, nil
	}
	c, _, err := parseLucene(inFilter, k.options.Filter, k.terms)
	if err != nil {
		return nil, err
	}
	return k.luceneText(inFilter, k.options.Filter, c)
}

// clause converts a clause to a condition; field is that of the enclosing group, if any.
func (k *checker) clause(c Clause, field Name) (Pred, error) {
	switch c := c.(type) {
	case *AndClause:
		of, err := k.clauses(c.Of, field)
		return allOf(of...), err
	case *OrClause:
		of, err := k.clauses(c.Of, field)
		return disjunction(of), err
	case *NotClause:
		p, err := k.clause(c.Of, field)
		return negated(p), err
	case *MixedClause:
		return k.mixed(c, field)
	case *FieldClause:
		return k.clause(c.Of, c.Field)
	case *RangeClause:
		return k.rangeClause(c, field)
	case *TermClause:
		return k.termClause(c, field)
	}
	return Always(true), nil // *:*
}

func (k *checker) clauses(list []Clause, field Name) ([]Pred, error) {
	of := make([]Pred, len(list))
	for i, c := range list {
		var err error
		if of[i], err = k.clause(c, field); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// negated returns the negation of p.
func negated(p Pred) Pred {
	switch p := p.(type) {
	case Always:
		return !p
	case Null:
		return Null{p.Column, !p.Not}
	}
	return Not{p}
}

// mixed also checks the optional clauses if they have no effect.
func (k *checker) mixed(c *MixedClause, field Name) (Pred, error) {
	all, err := k.clauses(c.Must, field)
	if err != nil {
		return nil, err
	}
	nots, err := k.clauses(c.Not, field)
	if err != nil {
		return nil, err
	}
	any, err := k.clauses(c.May, field)
	if err != nil {
		return nil, err
	}
	for _, p := range nots {
		all = append(all, negated(p))
	}
	if len(c.Must) == 0 && len(any) > 0 {
		all = append([]Pred{disjunction(any)}, all...)
	}
	return allOf(all...), nil
}

// clauseColumn returns the column of a clause: its own field, that of its group, or the text field of the collection.
func (k *checker) clauseColumn(own, group Name) (Column, error) {
	switch {
	case own.Text != "":
		return k.column(own)
	case group.Text != "":
		return k.column(group)
	}
	return k.column(Name{Text: k.plan.Collection.Text})
}

// termClause compares a column with a term or phrase: by word for full-text fields, else by its whole value.
func (k *checker) termClause(c *TermClause, field Name) (Pred, error) {
	star := c.Pattern == "%" && !c.Quoted
	if star && c.Field.Text == "" && field.Text == "" {
		return Always(true), nil
	}
	col, err := k.clauseColumn(c.Field, field)
	switch {
	case err != nil:
		return nil, err
	case star:
		return k.presence(col), nil
	case col.Type == catalog.FullText:
		return k.match(col, c)
	case c.Quoted:
		return k.valueOf(col, Equal, literalText(c.Pattern), c.Pos)
	}
	if text, plain := plainPattern(c.Pattern); plain {
		return k.valueOf(col, Equal, text, c.Pos)
	}
	switch col.Type {
	case catalog.Text, catalog.Value:
		return k.likeColumn(col, false, c.Pattern, c.Pos)
	case catalog.Status:
		return statusLike(col, c.Pattern), nil
	}
	return nil, k.errorf(c.Pos, "%s is of type %s and takes no wildcards; write a value, or a range such as [a TO b]", col.Name, col.Type)
}

// presence returns the condition that the column has a value.
func (k *checker) presence(col Column) Pred {
	switch {
	case col.From == Constant:
		return Always(true)
	case col.Type == catalog.Value:
		number, text := parts(col)
		return Or{Null{number, true}, Null{text, true}}
	}
	return Null{col, true}
}

// match searches a text by word.
func (k *checker) match(col Column, c *TermClause) (Pred, error) {
	if len(c.Pattern) > MaxPattern {
		return nil, k.errorf(c.Pos, "a term or phrase may have %d bytes, this one has %d", MaxPattern, len(c.Pattern))
	}
	words := wordsOf(c.Pattern)
	switch {
	case len(words) == 0:
		return nil, k.errorf(c.Pos, "%s is searched by words, that is by runs of letters, digits and _, and here is none", col.Name)
	case len(words) > MaxWords:
		return nil, k.errorf(c.Pos, "a phrase may have %d words, this one has %d", MaxWords, len(words))
	}
	if k.matches++; k.matches > MaxMatches {
		return nil, k.errorf(c.Pos, "a query may search texts for %d words and phrases, this is one more", MaxMatches)
	}
	wild := 0
	for _, w := range words {
		if w.Wild {
			wild += strings.Count(w.Text, "*") + strings.Count(w.Text, "?")
		}
	}
	if wild > MaxWildcards {
		return nil, k.errorf(c.Pos, "a term or phrase may have %d wildcards, this one has %d", MaxWildcards, wild)
	}
	return Match{col, words}, nil
}

// valueOf compares the whole value of a column.
func (k *checker) valueOf(col Column, op Op, text string, pos Pos) (Pred, error) {
	return k.whole(col, op, Literal{Text: text, Pos: pos})
}

// statusLike matches one of the statuses whose code matches the pattern.
func statusLike(col Column, pattern string) Pred {
	var of []Pred
	for s := range belfry.Status(belfry.Statuses) {
		if matchPattern(normalPattern(pattern), s.String()) {
			of = append(of, Compare{col, Equal, belfry.Value{Type: belfry.StatusValue, Int: int64(s)}})
		}
	}
	if len(of) == belfry.Statuses {
		return Null{col, true}
	}
	return disjunction(of)
}

// rangeClause compares a column with the ends of a range.
func (k *checker) rangeClause(c *RangeClause, field Name) (Pred, error) {
	col, err := k.clauseColumn(c.Field, field)
	if err != nil {
		return nil, err
	}
	if col.Type == catalog.Value && c.Low.Text+c.High.Text != "" { // a range open at both ends would include every text
		number, text := parts(col)
		if col = number; !isRangeOfNumbers(c) {
			col = text
		}
	}
	var of []Pred
	add := func(end End, op, open Op, isOpen bool) {
		if end.Text == "" || err != nil {
			return
		}
		if isOpen {
			op = open
		}
		var p Pred
		p, err = k.valueOf(col, op, end.Text, end.Pos)
		of = append(of, p)
	}
	add(c.Low, GreaterEqual, Greater, c.OpenLow)
	add(c.High, LessEqual, Less, c.OpenHigh)
	switch {
	case err != nil:
		return nil, err
	case len(of) == 0:
		return k.presence(col), nil
	}
	return allOf(of...), nil
}

// isRangeOfNumbers reports whether the given ends of a range are numbers.
func isRangeOfNumbers(c *RangeClause) bool {
	for _, end := range []End{c.Low, c.High} {
		if end.Text != "" && !isNumber(strings.TrimSpace(end.Text)) {
			return false
		}
	}
	return true
}

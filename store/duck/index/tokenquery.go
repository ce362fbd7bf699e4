package index

import (
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// TokenQuery is a condition on the tokens of a block that holds if the block may have rows of a query; nil: every block may.
type TokenQuery interface {
	met(has func(token) bool) bool
}

type (
	oneToken token
	allOf    []TokenQuery
	anyOf    []TokenQuery
)

func (n oneToken) met(has func(token) bool) bool { return has(token(n)) }

func (n allOf) met(has func(token) bool) bool {
	for _, one := range n {
		if !one.met(has) {
			return false
		}
	}
	return true
}

func (n anyOf) met(has func(token) bool) bool {
	for _, one := range n {
		if one.met(has) {
			return true
		}
	}
	return false
}

// maxTokens is the number of words of a text that are looked up. More words hardly rule out another block.
const maxTokens = 16

// TokensOf returns the condition that follows from a plan. Patterns and negations give none.
func TokensOf(p *query.Plan) TokenQuery {
	if p.Where == nil || len(TextColumns(p.Collection)) == 0 {
		return nil
	}
	return tokensOfPred(p.Where, p.Customer)
}

func tokensOfPred(p query.Pred, c belfry.CustomerID) TokenQuery {
	switch p := p.(type) {
	case query.And:
		var all allOf
		for _, of := range p {
			if n := tokensOfPred(of, c); n != nil {
				all = append(all, n)
			}
		}
		return all.orNil()
	case query.Or:
		var any anyOf
		for _, of := range p {
			n := tokensOfPred(of, c)
			if n == nil {
				return nil
			}
			any = append(any, n)
		}
		return any
	case query.Match:
		return tokensOfMatch(p, c)
	case query.Compare:
		if p.Op == query.Equal && isText(p.Column) {
			return TokensOfText(p.Value.Text, c)
		}
	case query.Always:
		if !p {
			return anyOf{}
		}
	}
	return nil
}

// isText reports whether the words of a column are in the filters.
func isText(c query.Column) bool { return c.From == query.Stored && c.Type == catalog.FullText }

func tokensOfMatch(m query.Match, c belfry.CustomerID) TokenQuery {
	if !isText(m.Column) {
		return nil
	}
	var all allOf
	for _, w := range m.Tokens() {
		if n := TokensOfText(w, c); n != nil {
			all = append(all, n)
		}
	}
	return all.orNil()
}

// TokensOfText requires every word of a text, the longest first, because few blocks have those.
func TokensOfText(text string, c belfry.CustomerID) TokenQuery {
	words := slices.Collect(query.Words(text))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	seed := seedOf(c)
	var all allOf
	for _, w := range words[:min(len(words), maxTokens)] {
		all = append(all, oneToken(tokenOf(seed, []byte(w))))
	}
	return all.orNil()
}

func (n allOf) orNil() TokenQuery {
	if len(n) == 0 {
		return nil
	}
	return n
}

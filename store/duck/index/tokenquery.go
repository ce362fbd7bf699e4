package index

import (
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// TokenQuery is a condition on the tokens of a block that holds if the block may have rows of a query: that it has a
// token, or that all or any of several conditions hold. nil: every block may.
type TokenQuery struct {
	token token // 0: see of
	of    []*TokenQuery
	any   bool // one of of is enough
}

func (n *TokenQuery) met(has func(token) bool) bool {
	if n.token != 0 {
		return has(n.token)
	}
	for _, one := range n.of {
		if one.met(has) == n.any {
			return n.any
		}
	}
	return !n.any
}

// maxTokens is the number of words of a text that are looked up. More words hardly rule out another block.
const maxTokens = 16

// TokensOf returns the condition that follows from a plan. Patterns and negations give none.
func TokensOf(p *query.Plan) *TokenQuery {
	if p.Where == nil || len(TextColumns(p.Collection)) == 0 {
		return nil
	}
	return tokensOfPred(p.Where, p.Customer)
}

func tokensOfPred(p query.Pred, c belfry.CustomerID) *TokenQuery {
	switch p := p.(type) {
	case query.And:
		var all []*TokenQuery
		for _, of := range p {
			if n := tokensOfPred(of, c); n != nil {
				all = append(all, n)
			}
		}
		return allOf(all)
	case query.Or:
		var any []*TokenQuery
		for _, of := range p {
			n := tokensOfPred(of, c)
			if n == nil {
				return nil
			}
			any = append(any, n)
		}
		return &TokenQuery{of: any, any: true}
	case query.Match:
		return tokensOfMatch(p, c)
	case query.Compare:
		if p.Op == query.Equal && isText(p.Column) {
			return TokensOfText(p.Value.Text, c)
		}
	case query.Always:
		if !p {
			return &TokenQuery{any: true}
		}
	}
	return nil
}

// isText reports whether the words of a column are in the filters.
func isText(c query.Column) bool { return c.From == query.Stored && c.Type == catalog.FullText }

func tokensOfMatch(m query.Match, c belfry.CustomerID) *TokenQuery {
	if !isText(m.Column) {
		return nil
	}
	var all []*TokenQuery
	for _, w := range m.Tokens() {
		if n := TokensOfText(w, c); n != nil {
			all = append(all, n)
		}
	}
	return allOf(all)
}

// TokensOfText requires every word of a text, the longest first, because few blocks have those.
func TokensOfText(text string, c belfry.CustomerID) *TokenQuery {
	words := slices.Collect(query.Words(text))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	seed := seedOf(c)
	var all []*TokenQuery
	for _, w := range words[:min(len(words), maxTokens)] {
		all = append(all, &TokenQuery{token: tokenOf(seed, []byte(w))})
	}
	return allOf(all)
}

func allOf(list []*TokenQuery) *TokenQuery {
	if len(list) == 0 {
		return nil
	}
	return &TokenQuery{of: list}
}

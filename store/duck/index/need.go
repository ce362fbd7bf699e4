package index

import (
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Need is what the filter of a block must contain for its rows to match a query; nil if every block may match.
type Need interface {
	met(has func(token) bool) bool
}

type (
	needToken token
	needAll   []Need
	needAny   []Need
)

func (n needToken) met(has func(token) bool) bool { return has(token(n)) }

func (n needAll) met(has func(token) bool) bool {
	for _, one := range n {
		if !one.met(has) {
			return false
		}
	}
	return true
}

func (n needAny) met(has func(token) bool) bool {
	for _, one := range n {
		if one.met(has) {
			return true
		}
	}
	return false
}

// maxNeeded is the number of words of a text that are looked up. More words hardly rule out another block.
const maxNeeded = 16

// NeedOf returns what the conditions of a plan need. Patterns and negations need nothing.
func NeedOf(p *query.Plan) Need {
	if p.Where == nil || len(TextColumns(p.Collection)) == 0 {
		return nil
	}
	return needOfPred(p.Where, p.Customer)
}

func needOfPred(p query.Pred, c belfry.CustomerID) Need {
	switch p := p.(type) {
	case query.And:
		var all needAll
		for _, of := range p {
			if n := needOfPred(of, c); n != nil {
				all = append(all, n)
			}
		}
		return all.orNil()
	case query.Or:
		var any needAny
		for _, of := range p {
			n := needOfPred(of, c)
			if n == nil {
				return nil
			}
			any = append(any, n)
		}
		return any
	case query.Match:
		return needOfMatch(p, c)
	case query.Compare:
		if p.Op == query.Equal && isText(p.Column) {
			return NeedText(p.Value.Text, c)
		}
	case query.Always:
		if !p {
			return needAny{}
		}
	}
	return nil
}

// isText reports whether the words of a column are in the filters.
func isText(c query.Column) bool { return c.From == query.Stored && c.Type == catalog.FullText }

func needOfMatch(m query.Match, c belfry.CustomerID) Need {
	if !isText(m.Column) {
		return nil
	}
	var all needAll
	for _, w := range m.Words {
		if w.Wild {
			continue
		}
		if n := NeedText(w.Text, c); n != nil {
			all = append(all, n)
		}
	}
	return all.orNil()
}

// NeedText returns the need for every word of a text, the longest first, because few blocks have those.
func NeedText(text string, c belfry.CustomerID) Need {
	words := slices.Collect(query.Words(text))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	seed := seedOf(c)
	var all needAll
	for _, w := range words[:min(len(words), maxNeeded)] {
		all = append(all, needToken(tokenOf(seed, []byte(w))))
	}
	return all.orNil()
}

func (n needAll) orNil() Need {
	if len(n) == 0 {
		return nil
	}
	return n
}

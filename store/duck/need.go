package duck

import (
	"slices"

	"belfry/catalog"
	"belfry/query"
)

// need is what a block must have so that rows of it can be in an answer: nil when nothing is known, so every block may.
type need interface {
	met(has func(token) bool) bool
}

type (
	needToken token
	needAll   []need
	needAny   []need
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

// maxNeeded is how many words of a text are looked for. More of them would find no block that these do not rule out.
const maxNeeded = 16

// needOf finds out what the conditions of a plan say about words. A pattern of words and whatever is denied say nothing.
func needOf(p *query.Plan) need {
	if p.Where == nil || len(textColumns(p.Collection)) == 0 {
		return nil
	}
	return needOfPred(p.Where, seedOf(p.Customer))
}

func needOfPred(p query.Pred, seed uint64) need {
	switch p := p.(type) {
	case query.And:
		var all needAll
		for _, of := range p {
			if n := needOfPred(of, seed); n != nil {
				all = append(all, n)
			}
		}
		return all.orNil()
	case query.Or:
		var any needAny
		for _, of := range p {
			n := needOfPred(of, seed)
			if n == nil {
				return nil
			}
			any = append(any, n)
		}
		return any
	case query.Match:
		return needOfMatch(p, seed)
	case query.Compare:
		if p.Op == query.Equal && isText(p.Column) {
			return needOfText(p.Value.Text, seed)
		}
	case query.Always:
		if !p {
			return needAny{}
		}
	}
	return nil
}

// isText tells whether the words of a column are in the filters.
func isText(c query.Column) bool { return c.From == query.Stored && c.Type == catalog.FullText }

func needOfMatch(m query.Match, seed uint64) need {
	if !isText(m.Column) {
		return nil
	}
	var all needAll
	for _, w := range m.Words {
		if w.Wild {
			continue
		}
		if n := needOfText(w.Text, seed); n != nil {
			all = append(all, n)
		}
	}
	return all.orNil()
}

// needOfText needs every word of a text, the longest first: they are the ones that few blocks have.
func needOfText(text string, seed uint64) need {
	words := slices.Collect(query.Words(text))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	var all needAll
	for _, w := range words[:min(len(words), maxNeeded)] {
		all = append(all, needToken(tokenOf(seed, []byte(w))))
	}
	return all.orNil()
}

func (n needAll) orNil() need {
	if len(n) == 0 {
		return nil
	}
	return n
}

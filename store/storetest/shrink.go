package storetest

import (
	"slices"

	"belfry/query"
)

// shrink removes parts of a query as long as the rest still shows the fault.
func shrink(text string, faulty func(text string) bool) string {
	for tries := 0; tries < 200; {
		s, err := query.Parse(text)
		if err != nil {
			return text
		}
		found := false
		for _, candidate := range reductions(s) {
			tries++
			if short := candidate.String(); len(short) < len(text) && faulty(short) {
				text, found = short, true
				break
			}
		}
		if !found {
			return text
		}
	}
	return text
}

// reductions lists the queries that lack one part of s.
func reductions(s *query.Select) (list []*query.Select) {
	change := func(f func(c *query.Select)) {
		c := *s
		f(&c)
		list = append(list, &c)
	}
	if s.Where != nil {
		change(func(c *query.Select) { c.Where = nil })
		for _, e := range reduceExpr(s.Where) {
			change(func(c *query.Select) { c.Where = e })
		}
	}
	if s.Having != nil {
		change(func(c *query.Select) { c.Having = nil })
		for _, e := range reduceExpr(s.Having) {
			change(func(c *query.Select) { c.Having = e })
		}
	}
	change(func(c *query.Select) { c.Order = nil })
	for i := range s.Order {
		change(func(c *query.Select) { c.Order = slices.Delete(slices.Clone(s.Order), i, i+1) })
	}
	for i := range s.Items {
		if len(s.Items) > 1 {
			change(func(c *query.Select) { c.Items = slices.Delete(slices.Clone(s.Items), i, i+1) })
		}
	}
	for i := range s.Group {
		change(func(c *query.Select) { c.Group = slices.Delete(slices.Clone(s.Group), i, i+1) })
	}
	change(func(c *query.Select) { c.Offset = query.Count{} })
	change(func(c *query.Select) { c.Limit = query.Count{} })
	return list
}

// reduceExpr lists the conditions that lack one part of e.
func reduceExpr(e query.Expr) (list []query.Expr) {
	switch e := e.(type) {
	case *query.AndExpr:
		return reduceList(e.Of, func(of []query.Expr) query.Expr { return &query.AndExpr{Of: of} })
	case *query.OrExpr:
		return reduceList(e.Of, func(of []query.Expr) query.Expr { return &query.OrExpr{Of: of} })
	case *query.NotExpr:
		list = []query.Expr{e.Of}
		for _, of := range reduceExpr(e.Of) {
			list = append(list, &query.NotExpr{Of: of})
		}
	case *query.InExpr:
		for i := range e.Values {
			if len(e.Values) > 1 {
				c := *e
				c.Values = slices.Delete(slices.Clone(e.Values), i, i+1)
				list = append(list, &c)
			}
		}
	}
	return list
}

func reduceList(of []query.Expr, join func([]query.Expr) query.Expr) (list []query.Expr) {
	list = append(list, of...)
	for i := range of {
		if len(of) > 2 {
			list = append(list, join(slices.Delete(slices.Clone(of), i, i+1)))
		}
		for _, smaller := range reduceExpr(of[i]) {
			c := slices.Clone(of)
			c[i] = smaller
			list = append(list, join(c))
		}
	}
	return list
}

package query

import (
	"belfry"
	"belfry/catalog"
)

const timestamp = "timestamp"

// bounds is a span of time, both ends inclusive.
type bounds struct{ from, to belfry.Time }

var unbounded = bounds{0, Forever}

func (b bounds) and(c bounds) bounds { return bounds{max(b.from, c.from), min(b.to, c.to)} }
func (b bounds) or(c bounds) bounds  { return bounds{min(b.from, c.from), max(b.to, c.to)} }

// span determines the time span of the rows, and requires that a query of a historical collection has one or a number of
// rows.
func (k *checker) span() error {
	p := k.plan
	if !p.Collection.Historical {
		return k.currentSpan()
	}
	b, given := k.parameters()
	var rest []Pred
	for _, c := range conjuncts(p.Where) {
		in, ok := timeBounds(c)
		b, given = b.and(in), given || ok
		if !ok || !isTimeBound(c) {
			rest = append(rest, c)
		}
	}
	p.From, p.To, p.Where = b.from, b.to, conjunction(rest...)
	if k.options.Pages && p.To == Forever {
		p.To = k.options.Now
	}
	limited := k.options.Rows > 0 || k.Limit.Given
	why := "give a time span, or a number of rows with LIMIT or the parameter rows"
	switch {
	case given:
		return nil
	case k.options.Pages && p.Grouping != nil:
		why = "in pages, where rows says how many a page has, groups need a time span"
	case limited:
		k.noSpan = true
		return nil
	case p.Grouping != nil:
		why = "give a time span, or how many of the most recent rows to read with LIMIT or the parameter rows"
	}
	return belfry.Errorf(belfry.TimeSpanRequired, "the collection %s is historical: %s; for example: %s",
		p.Collection.Name, why, k.withSpan())
}

// currentSpan turns the parameters into conditions: rows of a current collection may have no timestamp.
func (k *checker) currentSpan() error {
	col, err := k.column(Name{Text: timestamp})
	if err != nil {
		return err
	}
	is := func(op Op, t belfry.Time) Pred {
		if t == 0 {
			return nil
		}
		return Compare{col, op, belfry.Value{Type: belfry.TimeValue, Int: int64(t)}}
	}
	k.plan.Where = conjunction(k.plan.Where, is(GreaterEqual, k.options.From), is(LessEqual, k.options.To))
	return nil
}

func (k *checker) parameters() (b bounds, given bool) {
	b = unbounded
	if k.options.From != 0 {
		b.from, given = k.options.From, true
	}
	if k.options.To != 0 {
		b.to, given = k.options.To, true
	}
	return b, given
}

// withSpan returns the query with a span added, as an example for an error.
func (k *checker) withSpan() string {
	s := *k.Select
	span := &CompareExpr{Term: fieldTerm(timestamp), Value: Literal{Text: "[NOW-1HOUR TO NOW]"}}
	switch where := s.Where.(type) {
	case nil:
		s.Where = span
	case *AndExpr:
		s.Where = &AndExpr{append([]Expr{span}, where.Of...)}
	default:
		s.Where = &AndExpr{[]Expr{span, where}}
	}
	return s.String()
}

// timeBounds returns the span that the condition requires of a row; ok is false if it does not restrict the timestamp.
func timeBounds(p Pred) (b bounds, ok bool) {
	switch p := p.(type) {
	case And:
		b = unbounded
		for _, c := range p {
			in, found := timeBounds(c)
			b, ok = b.and(in), ok || found
		}
		return b, ok
	case Or:
		b = bounds{Forever, 0}
		for _, c := range p {
			in, found := timeBounds(c)
			if !found {
				return unbounded, false
			}
			b = b.or(in)
		}
		return b, true
	case Null:
		return unbounded, p.Not && isTimestamp(p.Column)
	case Compare:
		return p.timeBounds()
	}
	return unbounded, false
}

func (p Compare) timeBounds() (bounds, bool) {
	t := belfry.Time(p.Value.Int)
	switch {
	case !isTimestamp(p.Column) || p.Op == NotEqual:
		return unbounded, false
	case p.Op == Equal:
		return bounds{t, t}, true
	case p.Op == Less:
		return bounds{0, t - 1}, true
	case p.Op == LessEqual:
		return bounds{0, t}, true
	case p.Op == Greater:
		return bounds{t + 1, Forever}, true
	}
	return bounds{t, Forever}, true
}

// isTimeBound reports whether the condition has no other meaning than its span.
func isTimeBound(p Pred) bool {
	switch p := p.(type) {
	case Compare:
		return isTimestamp(p.Column)
	case Null:
		return isTimestamp(p.Column)
	}
	return false
}

func isTimestamp(c Column) bool {
	return c.Name == timestamp && c.Type == catalog.Time && c.From == Stored
}

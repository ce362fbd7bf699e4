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

// span finds between which moments the rows must lie, and insists that a query of the past says so or says how many
// rows it wants.
func (k *checker) span() error {
	p := k.plan
	if !p.Collection.Historical {
		return k.currentSpan()
	}
	b, given := k.parameters()
	var rest []Pred
	for _, c := range conjuncts(p.Where) {
		in, ok := within(c)
		b, given = b.and(in), given || ok
		if !ok || !exact(c) {
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
		k.spanless = true
		return nil
	case p.Grouping != nil:
		why = "give a time span, or how many of the most recent rows to read with LIMIT or the parameter rows"
	}
	return belfry.Errorf(belfry.TimeSpanRequired, "the collection %s is historical: %s; for example: %s",
		p.Collection.Name, why, k.corrected())
}

// currentSpan keeps the parameters as conditions: what is current may have no timestamp at all.
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

// corrected is the query with a span.
func (k *checker) corrected() string {
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

// within gives the span in which a row must lie for the condition to hold; ok tells whether the condition says
// anything about that at all.
func within(p Pred) (b bounds, ok bool) {
	switch p := p.(type) {
	case And:
		b = unbounded
		for _, c := range p {
			in, said := within(c)
			b, ok = b.and(in), ok || said
		}
		return b, ok
	case Or:
		b = bounds{Forever, 0}
		for _, c := range p {
			in, said := within(c)
			if !said {
				return unbounded, false
			}
			b = b.or(in)
		}
		return b, true
	case Null:
		return unbounded, p.Not && isTimestamp(p.Column)
	case Compare:
		return p.within()
	}
	return unbounded, false
}

func (p Compare) within() (bounds, bool) {
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

// exact tells whether the condition says no more than its span does.
func exact(p Pred) bool {
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

package query

import "belfry"

// asOf parses AS OF after the name of a collection.
func (p *parser) asOf(s *Select) error {
	if err := p.advance(); err != nil { // AS
		return err
	}
	if err := p.need("OF"); err != nil {
		return err
	}
	lit, err := p.literal()
	s.AsOf = &lit
	return err
}

// asOf resolves the time of AS OF.
func (k *checker) asOf() error {
	if k.AsOf == nil {
		return nil
	}
	if c := k.plan.Collection; c.Name != "objectstatus" {
		hint := ""
		if c.Historical {
			hint = "; " + c.Name + " keeps what was: ask for a span, for example with timestamp='[NOW-1DAY TO NOW]'"
		}
		return k.errorf(k.AsOf.Pos, "AS OF is only for objectstatus%s", hint)
	}
	if k.AsOf.Kind != StringLiteral {
		return k.errorf(k.AsOf.Pos, "AS OF takes a time in single quotes, got %s; %s", k.AsOf, timeForms)
	}
	t, err := k.clock.parse(k.AsOf.Text)
	switch {
	case err != nil:
		return k.errorf(k.AsOf.Pos, "%v", err)
	case t <= 0:
		return k.errorf(k.AsOf.Pos, "%s is before 1970", quoteString(shorten(k.AsOf.Text)))
	case t > belfry.At(k.clock.now):
		return k.errorf(k.AsOf.Pos, "%s lies in the future, of which nothing is known; leave AS OF out to ask for now",
			quoteString(shorten(k.AsOf.Text)))
	}
	k.plan.AsOf = t
	k.note("of that moment status, management, acknowledgment and notes are known; names, places and constants are those of now, " +
		"and lastdata and indicators are left out")
	return nil
}

// Present reports whether the plan is answered from memory: it asks for what is so now.
func (p *Plan) Present() bool { return !p.Collection.Historical && p.AsOf == 0 }

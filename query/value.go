package query

import (
	"math"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// compare checks a comparison: the literal becomes a value of the column's type.
func (k *checker) compare(of Term, op Op, lit Literal) (Pred, error) {
	col, err := k.operand(of)
	if err != nil {
		return nil, err
	}
	if p, done, err := k.rangeOf(col, op, lit); done || err != nil {
		return p, err
	}
	return k.whole(col, op, lit)
}

// whole compares a column whose type is known with a literal.
func (k *checker) whole(col Column, op Op, lit Literal) (Pred, error) {
	switch {
	case col.From == Constant:
		k.periodPos = lit.Pos
		return Compare{col, op, belfry.Value{Type: belfry.TextValue, Text: lit.Text}}, nil // for the step period
	case col.Type == catalog.Value:
		return k.indicator(col, op, lit)
	}
	return k.simple(col, op, lit)
}

// parts returns the two columns that may have the value of an indicator.
func parts(c Column) (number, text Column) {
	number, text = c, c
	if c.From == Grouped {
		number.Type, number.Of = catalog.Number, numberPart
		text.Name, text.Type, text.Of = "s"+strings.TrimPrefix(c.Name, "i"), catalog.Text, textPart
		return number, text
	}
	number.Type, number.From = catalog.Number, NumberOf
	text.Name, text.Type, text.From = belfry.IndicatorTextColumn(c.N), catalog.Text, TextOf
	return number, text
}

// indicator compares a number or a text. An unquoted number is compared with numbers only, a text that is no number with
// texts only. A number in quotes is compared with both: with numbers as a number, with texts by their bytes. An
// indicator of the other kind differs from the value, and is neither below nor above it.
func (k *checker) indicator(col Column, op Op, lit Literal) (Pred, error) {
	number, text := parts(col)
	isNum := isNumber(strings.TrimSpace(lit.Text))
	asText, err := k.simple(text, op, lit)
	if err != nil || !isNum {
		if op == NotEqual {
			asText = Or{Null{number, true}, asText}
		}
		return asText, err
	}
	asNumber, err := k.simple(number, op, lit)
	switch {
	case err != nil:
		return nil, err
	case op == NotEqual && lit.Kind == NumberLiteral:
		return Or{asNumber, Null{text, true}}, nil
	case lit.Kind == StringLiteral:
		return Or{asNumber, asText}, nil
	}
	return asNumber, nil
}

// simple compares a column of any type except value.
func (k *checker) simple(col Column, op Op, lit Literal) (Pred, error) {
	switch col.Type {
	case catalog.Number:
		return k.number(col, op, lit)
	case catalog.Integer:
		return k.integer(col, op, lit)
	}
	v, want := belfry.Value{}, ""
	switch col.Type {
	case catalog.Time:
		t, err := k.clock.parse(lit.Text)
		if err != nil {
			return nil, k.errorf(lit.Pos, "%s: %v", col.Name, err)
		}
		v = belfry.Value{Type: belfry.TimeValue, Int: int64(t)}
	case catalog.Bool:
		b, ok := map[string]int64{"true": 1, "false": 0}[strings.ToLower(lit.Text)]
		switch {
		case !ok:
			want = "TRUE or FALSE"
		case op != Equal && op != NotEqual:
			return nil, k.errorf(lit.Pos, "%s is either TRUE or FALSE and compares with = and <>, found %s", col.Name, op)
		}
		v = belfry.Value{Type: belfry.BoolValue, Int: b}
	case catalog.Status:
		s, ok := belfry.ParseStatus(lit.Text)
		if !ok {
			want = "one of the statuses '?' '0' '1' '2' '3' '-', in ascending severity"
		}
		v = belfry.Value{Type: belfry.StatusValue, Int: int64(s)}
	case catalog.ID:
		id, ok := belfry.ParseRowID(lit.Text)
		if !ok {
			want = "an id of 16 hexadecimal digits"
		}
		if id > math.MaxInt64 { // above every id in use, and more than drivers accept
			return present(col, op == NotEqual || op == Less || op == LessEqual), nil
		}
		v = belfry.Value{Type: belfry.IDValue, Int: int64(id)}
	default:
		v = belfry.Value{Type: belfry.TextValue, Text: lit.Text}
	}
	if want != "" {
		return nil, k.errorf(lit.Pos, "%s takes %s, found %s", col.Name, want, shorten(lit.String()))
	}
	return Compare{col, op, v}, nil
}

func (k *checker) float(col Column, lit Literal) (float64, error) {
	text := strings.TrimSpace(lit.Text)
	f, err := strconv.ParseFloat(text, 64)
	if !isNumber(text) || err != nil {
		return 0, k.errorf(lit.Pos, "%s takes a finite number, found %s", col.Name, shorten(lit.String()))
	}
	return f + 0, nil // -0 becomes 0
}

func (k *checker) number(col Column, op Op, lit Literal) (Pred, error) {
	f, err := k.float(col, lit)
	return Compare{col, op, belfry.Value{Type: belfry.NumberValue, Num: f}}, err
}

// integer compares an integer with any number, exactly: a fraction is replaced by its neighbour, so that engines never
// compare integers as floats.
func (k *checker) integer(col Column, op Op, lit Literal) (Pred, error) {
	is := func(op Op, n int64) Pred { return Compare{col, op, belfry.Value{Type: belfry.IntValue, Int: n}} }
	if n, err := strconv.ParseInt(strings.TrimSpace(lit.Text), 10, 64); err == nil && isNumber(strings.TrimSpace(lit.Text)) {
		return is(op, n), nil
	}
	f, err := k.float(col, lit)
	if err != nil {
		return nil, err
	}
	const limit = 1 << 63
	low := math.Floor(f)
	switch {
	case low == f && -limit <= f && f < limit:
		return is(op, int64(f)), nil
	case op == Equal:
		return Always(false), nil
	case op == NotEqual:
		return Null{col, true}, nil
	case f >= limit: // above every integer
		return present(col, op == Less || op == LessEqual), nil
	case f < -limit:
		return present(col, op == Greater || op == GreaterEqual), nil
	case op == Less || op == LessEqual:
		return is(LessEqual, int64(low)), nil
	}
	return is(Greater, int64(low)), nil
}

// present holds for rows that have the column if all is true, and for none otherwise.
func present(col Column, all bool) Pred {
	if all {
		return Null{col, true}
	}
	return Always(false)
}

// rangeOf checks [a TO b] as a range, for columns that are not ordered as texts.
func (k *checker) rangeOf(col Column, op Op, lit Literal) (Pred, bool, error) {
	switch col.Type {
	case catalog.Number, catalog.Integer, catalog.Time, catalog.Value:
	default:
		return nil, false, nil
	}
	if lit.Kind != StringLiteral {
		return nil, false, nil
	}
	s, isRange, err := parseSpan(lit.Text)
	switch {
	case !isRange, err != nil && col.Type == catalog.Value: // an indicator may be the text "[x]"
		return nil, false, nil
	case err != nil:
		return nil, true, k.errorf(lit.Pos, "%s: %v", col.Name, err)
	case op != Equal && op != NotEqual:
		return nil, true, k.errorf(lit.Pos, "%s %s %s: a range goes with = or <>", col.Name, op, shorten(lit.String()))
	}
	if col.Type != catalog.Value {
		p, err := k.ends(col, op, s, lit.Pos)
		return p, true, err
	}
	number, text := parts(col)
	p, err := k.ends(number, op, s, lit.Pos)
	if op == NotEqual && err == nil {
		p = disjunction([]Pred{p, Null{text, true}})
	}
	return p, true, err
}

// ends converts a range to comparisons with its ends.
func (k *checker) ends(col Column, op Op, s span, pos Pos) (Pred, error) {
	lowOp, highOp := GreaterEqual, LessEqual
	if s.openLow {
		lowOp = Greater
	}
	if s.openHigh {
		highOp = Less
	}
	if op == NotEqual {
		lowOp, highOp = lowOp.negated(), highOp.negated()
	}
	var of []Pred
	for _, end := range []struct {
		op   Op
		text string
	}{{lowOp, s.low}, {highOp, s.high}} {
		if end.text == "" {
			continue
		}
		p, err := k.simple(col, end.op, Literal{StringLiteral, end.text, pos})
		if err != nil {
			return nil, err
		}
		of = append(of, p)
	}
	switch {
	case len(of) == 0:
		return present(col, op == Equal), nil
	case len(of) == 1:
		return of[0], nil
	case op == Equal:
		return And(of), nil
	}
	return Or(of), nil
}

// negated returns the comparison that holds where o does not, absent values aside.
func (o Op) negated() Op {
	return [...]Op{Equal: NotEqual, NotEqual: Equal, Less: GreaterEqual, LessEqual: Greater, Greater: LessEqual, GreaterEqual: Less}[o]
}

// Holds reports whether the comparison holds for two values with the result cmp of cmp.Compare.
func (o Op) Holds(cmp int) bool {
	switch o {
	case Equal:
		return cmp == 0
	case NotEqual:
		return cmp != 0
	case Less:
		return cmp < 0
	case LessEqual:
		return cmp <= 0
	case Greater:
		return cmp > 0
	}
	return cmp >= 0
}

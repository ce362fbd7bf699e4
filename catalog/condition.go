package catalog

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"belfry"
)

// Threshold sets the status of an object while an indicator meets a condition.
type Threshold struct {
	When    Condition
	Status  belfry.Status // Warning, Major or Critical
	Recover Condition     // ends it; zero: it ends as soon as When is not met
	After   int           // consecutive values that must meet When; at least 1
}

// Condition compares the value of an indicator with a constant. The zero Condition is none.
type Condition struct {
	Op     Op
	IsText bool
	Number float64
	Text   string
}

// Op is a comparison.
type Op uint8

// The comparisons. Texts support only Equal and NotEqual.
const (
	NoOp Op = iota
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

var opNames = [...]string{NoOp: "", Equal: "=", NotEqual: "<>", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">="}

func (o Op) String() string { return opNames[min(int(o), len(opNames)-1)] }

// IsZero reports whether there is no condition.
func (c Condition) IsZero() bool { return c.Op == NoOp }

// Met reports whether a number meets the condition.
func (c Condition) Met(v float64) bool {
	switch c.Op {
	case Equal:
		return v == c.Number
	case NotEqual:
		return v != c.Number
	case Less:
		return v < c.Number
	case LessEqual:
		return v <= c.Number
	case Greater:
		return v > c.Number
	case GreaterEqual:
		return v >= c.Number
	}
	return false
}

// Within reports whether some number from low to high may meet the condition.
func (c Condition) Within(low, high float64) bool {
	switch c.Op {
	case Equal:
		return low <= c.Number && c.Number <= high
	case NotEqual:
		return low != c.Number || high != c.Number
	case Less, LessEqual:
		return c.Met(low)
	case Greater, GreaterEqual:
		return c.Met(high)
	}
	return false
}

// MetText reports whether a text meets the condition.
func (c Condition) MetText(v string) bool {
	switch c.Op {
	case Equal:
		return v == c.Text
	case NotEqual:
		return v != c.Text
	}
	return false
}

// String writes the condition as ParseCondition reads it. A text is quoted only if it would not read back otherwise.
func (c Condition) String() string {
	switch {
	case c.Op == NoOp:
		return ""
	case !c.IsText:
		return c.Op.String() + " " + belfry.FormatNumber(c.Number)
	case c.Text != strings.TrimSpace(c.Text) || strings.HasPrefix(c.Text, "'"):
		return c.Op.String() + " '" + strings.ReplaceAll(c.Text, "'", "''") + "'"
	}
	return c.Op.String() + " " + c.Text
}

// ParseCondition reads a condition such as ">= 80" on a number, or "<> ok" on a text.
func ParseCondition(s string, text bool) (Condition, error) {
	op, rest := cutOp(strings.TrimSpace(s))
	c := Condition{Op: op, IsText: text}
	switch {
	case op == NoOp:
		return Condition{}, belfry.Errorf(belfry.BadValue, "%q does not begin with a comparison; write one of = <> < <= > >= and then a value", s)
	case text && op != Equal && op != NotEqual:
		return Condition{}, belfry.Errorf(belfry.BadValue, "%q compares a text with %s; texts support only = and <>", s, op)
	case text:
		var ok bool
		if c.Text, ok = unquote(rest); !ok {
			return Condition{}, belfry.Errorf(belfry.BadValue, "%q has no text to compare with; write one of at most 255 characters after the comparison, plainly or in single quotes", s)
		}
	default:
		var ok bool
		if c.Number, ok = parseNumber(rest); !ok {
			return Condition{}, belfry.Errorf(belfry.BadValue, "%q compares with %q, which is not a number; for a text give the indicator the type string", s, rest)
		}
	}
	return c, nil
}

func cutOp(s string) (Op, string) {
	for _, op := range []Op{NotEqual, LessEqual, GreaterEqual, Equal, Less, Greater} { // the longer ones first
		if rest, ok := strings.CutPrefix(s, op.String()); ok {
			return op, strings.TrimSpace(rest)
		}
	}
	return NoOp, s
}

// unquote removes single quotes; a doubled quote inside is one. It rejects an empty text, since no value is empty, and
// one longer than a name.
func unquote(s string) (string, bool) {
	if inner, ok := strings.CutPrefix(s, "'"); ok {
		inner, ok = strings.CutSuffix(inner, "'")
		if !ok || strings.Count(inner, "'") != 2*strings.Count(inner, "''") {
			return "", false
		}
		s = strings.ReplaceAll(inner, "''", "'")
	}
	return s, s != "" && utf8.RuneCountInString(s) <= 255
}

// parseNumber reads a finite decimal: sign, digits, point, exponent. Other forms of ParseFloat (hexadecimal,
// underscores, Inf, NaN) are rejected.
func parseNumber(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// recovers reports whether r can end a threshold with condition w: no value may meet both, and if w is an upper limit r
// must be a lower one, and vice versa. Otherwise a threshold would change with every value, or never end.
func recovers(w, r Condition) bool {
	up := w.Op == Greater || w.Op == GreaterEqual
	down := w.Op == Less || w.Op == LessEqual
	if up && r.Op != Less && r.Op != LessEqual || down && r.Op != Greater && r.Op != GreaterEqual {
		return false
	}
	if w.IsText {
		for _, v := range []string{w.Text, r.Text, w.Text + r.Text + "."} { // the last one differs from both
			if w.MetText(v) && r.MetText(v) {
				return false
			}
		}
		return true
	}
	// Two constants divide the numbers into at most five ranges; one value of each decides for its range.
	lo, hi := min(w.Number, r.Number), max(w.Number, r.Number)
	for _, v := range []float64{math.Inf(-1), lo, lo/2 + hi/2, hi, math.Inf(1)} {
		if w.Met(v) && r.Met(v) {
			return false
		}
	}
	return true
}

package query

import (
	"slices"
	"strconv"
	"strings"
)

// Select is a query as written. String prints it so that Parse returns an equal one, positions aside.
type Select struct {
	Star     bool // SELECT *
	Distinct bool // SELECT DISTINCT
	Items    []Item
	From     Name
	AsOf     *Literal // the time of FROM … AS OF; nil if absent
	Where    Expr     // nil if absent
	Group    []Term
	Having   Expr // nil if absent
	Order    []Key
	Limit    Count
	Offset   Count

	text  string // the parsed text, for positions in error messages
	terms int    // number of conditions and fields
}

// Pos is a byte offset in the text.
type Pos int

// Name is a name in the text, without its quotes.
type Name struct {
	Text string
	Pos  Pos
}

// Term is a field, or a function of one. Field is * in COUNT(*).
type Term struct {
	Func     Name // empty for a plain field
	Distinct bool // COUNT(DISTINCT field)
	Field    Name
	Arg      *Literal // the second argument: 95 in PERCENTILE(i1, 95); nil if there is none
	End      Pos      // end of a function's text
}

// Item is one selected field or function.
type Item struct {
	Term
	As Name // empty if there is no AS
}

// Key is a term of ORDER BY.
type Key struct {
	Term
	Desc bool
}

// Count is the number of LIMIT or OFFSET.
type Count struct {
	Given bool
	N     int
	Pos   Pos
}

// Expr is a condition: *AndExpr, *OrExpr, *NotExpr, *CompareExpr, *LikeExpr, *NullExpr, *InExpr, *BetweenExpr or
// *LuceneExpr.
type Expr interface {
	write(b *strings.Builder)
}

// AndExpr holds when all of its two or more conditions do.
type AndExpr struct{ Of []Expr }

// OrExpr holds when one of its two or more conditions does.
type OrExpr struct{ Of []Expr }

// NotExpr holds when its condition does not.
type NotExpr struct{ Of Expr }

// CompareExpr compares a field, or in HAVING a term, with a value.
type CompareExpr struct {
	Term
	Op    Op
	Value Literal
}

// LikeExpr compares a text with a pattern, in which % matches any text and _ any character.
type LikeExpr struct {
	Term
	Not     bool
	Pattern Literal
}

// NullExpr asks whether a field is absent.
type NullExpr struct {
	Term
	Not bool
}

// InExpr asks whether a field is one of several values.
type InExpr struct {
	Term
	Not    bool
	Values []Literal
}

// BetweenExpr asks whether a field lies between two values or is one of them.
type BetweenExpr struct {
	Term
	Not       bool
	Low, High Literal
}

// Literal is a value as written. Its meaning depends on the field it is compared with.
type Literal struct {
	Kind LiteralKind
	Text string // of a string, without the quotes
	Pos  Pos
}

// LiteralKind is how a literal was written.
type LiteralKind uint8

// The kinds of literals.
const (
	StringLiteral LiteralKind = iota
	NumberLiteral
	BoolLiteral // true or false
)

// Op is a comparison.
type Op uint8

// The comparisons.
const (
	Equal Op = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

var opTexts = [...]string{"=", "<>", "<", "<=", ">", ">="}

func (o Op) String() string { return opTexts[o] }

// reserved words cannot be names without quotes.
var reserved = []string{
	"AND", "AS", "ASC", "BETWEEN", "BY", "DESC", "DISTINCT", "FALSE", "FROM", "GROUP", "HAVING", "IN", "IS", "LIKE",
	"LIMIT", "NOT", "NULL", "OFFSET", "OR", "ORDER", "SELECT", "TRUE", "WHERE",
}

func isReserved(word string) bool {
	_, found := slices.BinarySearch(reserved, strings.ToUpper(word))
	return found
}

// String writes the name, in quotes where it needs them.
func (n Name) String() string {
	for i := range len(n.Text) {
		if !isWord(n.Text[i]) || i == 0 && isDigit(n.Text[i]) {
			return quoteName(n.Text)
		}
	}
	if n.Text == "" || isReserved(n.Text) {
		return quoteName(n.Text)
	}
	return n.Text
}

// String writes the term as in a query.
func (t Term) String() string {
	if t.Func.Text == "" {
		return t.Field.String()
	}
	s := t.Func.Text + "("
	if t.Distinct {
		s += "DISTINCT "
	}
	if t.Field.Text == "*" && !t.Distinct && functions[t.Func.function()].Rows {
		s += "*"
	} else {
		s += t.Field.String()
	}
	if t.Arg != nil {
		s += ", " + t.Arg.String()
	}
	return s + ")"
}

// label returns the name of an item in the answer: the name after AS, or else its own text.
func (s *Select) label(i Item) string {
	switch {
	case i.As.Text != "":
		return i.As.Text
	case i.Func.Text == "":
		return i.Field.Text
	case int(i.End) <= len(s.text) && i.Func.Pos < i.End:
		return s.text[i.Func.Pos:i.End]
	}
	return i.Term.String()
}

func (l Literal) String() string {
	if l.Kind == StringLiteral {
		return quoteString(l.Text)
	}
	return l.Text
}

// String writes the query on one line.
func (s *Select) String() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	if s.Distinct {
		b.WriteString("DISTINCT ")
	}
	if s.Star {
		b.WriteString("*")
	}
	for i, item := range s.Items {
		separate(&b, i, ", ")
		b.WriteString(item.Term.String())
		if item.As.Text != "" {
			b.WriteString(" AS " + item.As.String())
		}
	}
	b.WriteString(" FROM " + s.From.String())
	if s.AsOf != nil {
		b.WriteString(" AS OF " + s.AsOf.String())
	}
	if s.Where != nil {
		b.WriteString(" WHERE ")
		s.Where.write(&b)
	}
	for i, term := range s.Group {
		if i == 0 {
			b.WriteString(" GROUP BY ")
		}
		separate(&b, i, ", ")
		b.WriteString(term.String())
	}
	if s.Having != nil {
		b.WriteString(" HAVING ")
		s.Having.write(&b)
	}
	for i, key := range s.Order {
		if i == 0 {
			b.WriteString(" ORDER BY ")
		}
		separate(&b, i, ", ")
		b.WriteString(key.Term.String() + direction(key.Desc))
	}
	if s.Limit.Given {
		b.WriteString(" LIMIT " + strconv.Itoa(s.Limit.N))
	}
	if s.Offset.Given {
		b.WriteString(" OFFSET " + strconv.Itoa(s.Offset.N))
	}
	return b.String()
}

func direction(desc bool) string {
	if desc {
		return " DESC"
	}
	return " ASC"
}

func separate(b *strings.Builder, i int, by string) {
	if i > 0 {
		b.WriteString(by)
	}
}

func (e *AndExpr) write(b *strings.Builder) {
	for i, of := range e.Of {
		separate(b, i, " AND ")
		writeInner(b, of, true)
	}
}

func (e *OrExpr) write(b *strings.Builder) {
	for i, of := range e.Of {
		separate(b, i, " OR ")
		_, and := of.(*AndExpr)
		writeInner(b, of, !and) // AND binds tighter anyway
	}
}

func (e *NotExpr) write(b *strings.Builder) {
	b.WriteString("NOT ")
	writeInner(b, e.Of, true)
}

// writeInner writes a condition inside another, in parentheses if it is a list and they are needed.
func writeInner(b *strings.Builder, e Expr, parens bool) {
	switch e.(type) {
	case *AndExpr, *OrExpr:
	default:
		parens = false
	}
	if parens {
		b.WriteByte('(')
	}
	e.write(b)
	if parens {
		b.WriteByte(')')
	}
}

func (e *CompareExpr) write(b *strings.Builder) {
	b.WriteString(e.Term.String() + " " + e.Op.String() + " " + e.Value.String())
}

func (e *LikeExpr) write(b *strings.Builder) {
	b.WriteString(e.Term.String() + " " + notWord(e.Not) + "LIKE " + e.Pattern.String())
}

func (e *NullExpr) write(b *strings.Builder) {
	b.WriteString(e.Term.String() + " IS " + notWord(e.Not) + "NULL")
}

func (e *InExpr) write(b *strings.Builder) {
	b.WriteString(e.Term.String() + " " + notWord(e.Not) + "IN (")
	for i, v := range e.Values {
		separate(b, i, ", ")
		b.WriteString(v.String())
	}
	b.WriteByte(')')
}

func (e *BetweenExpr) write(b *strings.Builder) {
	b.WriteString(e.Term.String() + " " + notWord(e.Not) + "BETWEEN " + e.Low.String() + " AND " + e.High.String())
}

func notWord(not bool) string {
	if not {
		return "NOT "
	}
	return ""
}

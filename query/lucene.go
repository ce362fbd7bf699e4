package query

import (
	"slices"
	"strings"
)

// LuceneExpr is a condition in Lucene syntax: _query_ = '…'.
type LuceneExpr struct {
	Clause Clause

	text string // the parsed text, for positions in error messages
}

// Clause is a condition of a Lucene query: *AndClause, *OrClause, *NotClause, *MixedClause, *FieldClause, *TermClause,
// *RangeClause or *AllClause. ClauseText prints it so that parseLucene returns an equal one, positions aside.
type Clause interface {
	writeClause(b *strings.Builder)
}

// AndClause holds when all of its two or more clauses do.
type AndClause struct{ Of []Clause }

// OrClause holds when one of its two or more clauses does.
type OrClause struct{ Of []Clause }

// NotClause holds when its clause does not.
type NotClause struct{ Of Clause }

// MixedClause is a list with marks, +must -not may. It holds if all of Must hold and none of Not; one of May must hold
// if there is no Must, otherwise they have no effect.
type MixedClause struct{ Must, Not, May []Clause }

// FieldClause is field:(…): terms inside without a field use this one.
type FieldClause struct {
	Field Name
	Of    Clause
}

// TermClause is a word, a phrase or a value.
type TermClause struct {
	Field   Name   // empty: that of the enclosing FieldClause, or the text field of the collection
	Quoted  bool   // a phrase, in double quotes
	Pattern string // in LIKE form: * is %, ? is _
	Pos     Pos    // of the value
}

// RangeClause is [low TO high] or a comparison.
type RangeClause struct {
	Field             Name
	Low, High         End
	OpenLow, OpenHigh bool // the end itself is excluded
	Pos               Pos
}

// End is one end of a range; an empty text means an open end.
type End struct {
	Text string
	Pos  Pos
}

// AllClause is *:*, which every row matches.
type AllClause struct{}

// ClauseText prints a Lucene query.
func ClauseText(c Clause) string {
	var b strings.Builder
	c.writeClause(&b)
	return b.String()
}

func (e *LuceneExpr) write(b *strings.Builder) {
	b.WriteString("_query_ = " + quoteString(ClauseText(e.Clause)))
}

func (c *AndClause) writeClause(b *strings.Builder) {
	for i, of := range c.Of {
		separate(b, i, " AND ")
		_, not := of.(*NotClause)
		writeNested(b, of, !not)
	}
}

func (c *OrClause) writeClause(b *strings.Builder) {
	for i, of := range c.Of {
		separate(b, i, " OR ")
		switch of.(type) {
		case *AndClause, *NotClause: // these bind tighter anyway
			of.writeClause(b)
		default:
			writeNested(b, of, true)
		}
	}
}

func (c *NotClause) writeClause(b *strings.Builder) {
	b.WriteString("NOT ")
	_, not := c.Of.(*NotClause)
	writeNested(b, c.Of, !not)
}

func (c *MixedClause) writeClause(b *strings.Builder) {
	i := 0
	list := func(mark string, of []Clause) {
		for _, c := range of {
			separate(b, i, " ")
			b.WriteString(mark)
			writeNested(b, c, true)
			i++
		}
	}
	list("+", c.Must)
	list("-", c.Not)
	list("", c.May)
}

func (c *FieldClause) writeClause(b *strings.Builder) {
	writeField(b, c.Field)
	writeNested(b, c.Of, true)
}

// writeNested writes a clause inside another, in parentheses if it is composite and they are needed.
func writeNested(b *strings.Builder, c Clause, parens bool) {
	switch c.(type) {
	case *TermClause, *RangeClause, *AllClause, *FieldClause:
		parens = false
	}
	if parens {
		b.WriteByte('(')
	}
	c.writeClause(b)
	if parens {
		b.WriteByte(')')
	}
}

func (c *TermClause) writeClause(b *strings.Builder) {
	writeField(b, c.Field)
	if c.Quoted {
		b.WriteByte('"')
	}
	list := pieces(c.Pattern)
	for i, p := range list {
		switch {
		case p.kind == '%':
			b.WriteByte('*')
			continue
		case p.kind == '_':
			b.WriteByte('?')
			continue
		case escapes(p.char, i == 0, c.Quoted), i == 0 && !c.Quoted && isOperatorWord(c.Pattern):
			b.WriteByte('\\')
		}
		b.WriteRune(p.char)
	}
	if c.Quoted {
		b.WriteByte('"')
	}
}

func (c *RangeClause) writeClause(b *strings.Builder) {
	writeField(b, c.Field)
	open, end := byte('['), byte(']')
	if c.OpenLow {
		open = '{'
	}
	if c.OpenHigh {
		end = '}'
	}
	b.WriteByte(open)
	writeEnd(b, c.Low.Text)
	b.WriteString(" TO ")
	writeEnd(b, c.High.Text)
	b.WriteByte(end)
}

func writeEnd(b *strings.Builder, text string) {
	if text == "" {
		b.WriteByte('*')
		return
	}
	for i, r := range text {
		if escapes(r, i == 0, false) || i == 0 && text == "TO" {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
}

func (c *AllClause) writeClause(b *strings.Builder) { b.WriteString("*:*") }

func writeField(b *strings.Builder, n Name) {
	if n.Text == "" {
		return
	}
	for i, r := range n.Text {
		if escapes(r, i == 0, false) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte(':')
}

// escapes reports whether a character needs a backslash before it.
func escapes(r rune, first, quoted bool) bool {
	switch {
	case r == '\\' || r == '"' || r == '*' || r == '?':
		return true
	case quoted:
		return false
	case strings.ContainsRune(" \t\r\n()[]{}^~:&|", r):
		return true
	}
	return first && strings.ContainsRune("+-!<>/", r)
}

func isOperatorWord(s string) bool { return slices.Contains([]string{"AND", "OR", "NOT"}, s) }

package query

import (
	"slices"
	"strings"

	"belfry"
)

// Pred is a condition on a row: And, Or, Not, Compare, Like, Match, Null, Inside or Always. It is either true or false;
// there is no third value.
type Pred interface {
	writePred(b *strings.Builder)
}

// And holds when all of its conditions do.
type And []Pred

// Or holds when one of its conditions does.
type Or []Pred

// Not holds when its condition does not.
type Not struct{ Of Pred }

// Compare compares a column with a value of the same type. It is false if the column is absent, whatever the operator.
// The column is never of type value: number and text are compared separately.
type Compare struct {
	Column Column
	Op     Op
	Value  belfry.Value
}

// Like compares the whole text with a pattern: % matches any text, _ any character, and a backslash escapes a following
// %, _ or backslash; it occurs before nothing else. Case matters. It is false if the column is absent.
type Like struct {
	Column  Column
	Pattern string
}

// Match holds if the text of the column has the words one after another. Words defines what a word is. It is false if
// the column is absent.
type Match struct {
	Column Column
	Words  []Word
}

// Word is a word, or a pattern of words, in lower case.
type Word struct {
	Text string
	Wild bool // in Text, * matches any characters of a word and ? one
}

// Null holds if the column is absent or, with Not, if it is present.
type Null struct {
	Column Column
	Not    bool
}

// Always is true or false of every row.
type Always bool

// conjunction joins conditions with AND and omits those without effect; nil means true. It keeps the other conditions
// beside one that is always false, because they may contain the time span of the query.
func conjunction(of ...Pred) Pred {
	var all And
	for _, p := range of {
		switch p := p.(type) {
		case nil:
		case And:
			all = append(all, p...)
		case Always:
			if !p {
				all = append(all, p)
			}
		default:
			all = append(all, p)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// allOf is conjunction with Always(true) instead of nil.
func allOf(of ...Pred) Pred {
	if p := conjunction(of...); p != nil {
		return p
	}
	return Always(true)
}

// disjunction joins conditions with OR and omits those without effect.
func disjunction(of []Pred) Pred {
	var any Or
	for _, p := range of {
		switch p := p.(type) {
		case Or:
			any = append(any, p...)
		case Always:
			if p {
				return p
			}
		default:
			any = append(any, p)
		}
	}
	switch len(any) {
	case 0:
		return Always(false)
	case 1:
		return any[0]
	}
	return any
}

// conjuncts returns the conditions that must all hold.
func conjuncts(p Pred) []Pred {
	switch p := p.(type) {
	case nil:
		return nil
	case And:
		return p
	}
	return []Pred{p}
}

// anyOf reports whether is returns true for one of the conditions in p below AND, OR and NOT.
func anyOf(p Pred, is func(Pred) bool) bool {
	within := func(p Pred) bool { return anyOf(p, is) }
	switch p := p.(type) {
	case And:
		return slices.ContainsFunc(p, within)
	case Or:
		return slices.ContainsFunc(p, within)
	case Not:
		return within(p.Of)
	}
	return is(p)
}

// testedColumn returns the column that a condition tests, if it is one of a column.
func testedColumn(p Pred) (c Column, ok bool) {
	switch p := p.(type) {
	case Compare:
		return p.Column, true
	case Like:
		return p.Column, true
	case Match:
		return p.Column, true
	case Null:
		return p.Column, true
	}
	return Column{}, false
}

// mentions reports whether a condition tests a column for which is returns true.
func mentions(p Pred, is func(Column) bool) bool {
	return anyOf(p, func(p Pred) bool {
		c, ok := testedColumn(p)
		return ok && is(c)
	})
}

// predText prints a condition.
func predText(p Pred) string {
	var b strings.Builder
	p.writePred(&b)
	return b.String()
}

func (p And) writePred(b *strings.Builder) { writePreds(b, p, " AND ") }
func (p Or) writePred(b *strings.Builder)  { writePreds(b, p, " OR ") }

func writePreds(b *strings.Builder, of []Pred, by string) {
	b.WriteByte('(')
	for i, p := range of {
		separate(b, i, by)
		p.writePred(b)
	}
	b.WriteByte(')')
}

func (p Not) writePred(b *strings.Builder) {
	b.WriteString("NOT ")
	p.Of.writePred(b)
}

func (p Compare) writePred(b *strings.Builder) {
	b.WriteString(p.Column.Name + " " + p.Op.String() + " ")
	switch p.Value.Type {
	case belfry.NumberValue, belfry.IntValue, belfry.BoolValue:
		b.WriteString(p.Value.String())
	default:
		b.WriteString(quoteString(p.Value.String()))
	}
}

func (p Like) writePred(b *strings.Builder) {
	b.WriteString(p.Column.Name + " LIKE " + quoteString(p.Pattern))
}

func (p Match) writePred(b *strings.Builder) {
	b.WriteString(p.Column.Name + " HAS ")
	texts := make([]string, len(p.Words))
	for i, w := range p.Words {
		texts[i] = w.Text
	}
	b.WriteString(quoteString(strings.Join(texts, " ")))
}

func (p Null) writePred(b *strings.Builder) {
	b.WriteString(p.Column.Name + " IS " + notWord(p.Not) + "NULL")
}

func (p Always) writePred(b *strings.Builder) {
	if p {
		b.WriteString("TRUE")
	} else {
		b.WriteString("FALSE")
	}
}

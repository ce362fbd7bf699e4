package query

import (
	"slices"
	"strings"

	"belfry"
)

// Pred is a condition on a row: And, Or, Not, Compare, Like, Match, Null, Inside or Always. It is either true or false of a
// row, there is no third.
type Pred interface {
	writePred(b *strings.Builder)
}

// And holds when all of its conditions do.
type And []Pred

// Or holds when one of its conditions does.
type Or []Pred

// Not holds when its condition does not.
type Not struct{ Of Pred }

// Compare compares a column with a value of its own type. It is false when the column is absent, whatever the
// operator. The column is never of type value: its number and its text are compared each for itself.
type Compare struct {
	Column Column
	Op     Op
	Value  belfry.Value
}

// Like compares the whole of a text with a pattern: % stands for any text, _ for any character, and a backslash takes
// the meaning from the %, _ or backslash that follows it; there is none before anything else. Case matters. It is false
// when the column is absent.
type Like struct {
	Column  Column
	Pattern string
}

// Match holds when the text of the column has the words one after another. What a word is says Words. It is false when
// the column is absent.
type Match struct {
	Column Column
	Words  []Word
}

// Word is a word, or a pattern of words, in lower case.
type Word struct {
	Text string
	Wild bool // in Text * stands for any characters of a word and ? for one
}

// Null holds when the column is absent or, with Not, when it is present.
type Null struct {
	Column Column
	Not    bool
}

// Always is true or false of every row.
type Always bool

// conjunction joins conditions and leaves out what changes nothing; nil is true. It keeps the others beside one that is
// always false, as they may say in which span of time the query is interested.
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

// allOf is conjunction with a name for true.
func allOf(of ...Pred) Pred {
	if p := conjunction(of...); p != nil {
		return p
	}
	return Always(true)
}

// disjunction joins alternatives and leaves out what changes nothing.
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

// conjuncts are the conditions that must all hold.
func conjuncts(p Pred) []Pred {
	switch p := p.(type) {
	case nil:
		return nil
	case And:
		return p
	}
	return []Pred{p}
}

// anyOf reports whether is holds for one of the conditions that p is made of, AND, OR and NOT aside.
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

// mentions reports whether a condition tests a column for which is holds.
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

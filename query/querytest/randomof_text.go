package querytest

import (
	"strings"
	"unicode"

	"belfry"
	"belfry/catalog"
)

// textCondition compares a text of the collection with a pattern, or searches it with Lucene.
func (g *dataGenerator) textCondition() string {
	field, text := g.someText()
	if g.IntN(2) == 0 {
		return field + pick(g.Rand, " LIKE ", " NOT LIKE ") + literalText(g.pattern(text))
	}
	return "_query_ = " + literalText(g.clause(2))
}

// someText picks a field that has texts, and a text that one of the rows has in it.
func (g *dataGenerator) someText() (field, text string) {
	for range 20 {
		field = g.field()
		ref, _ := g.collection.Field(field)
		switch ref.Type {
		case catalog.Text, catalog.FullText, catalog.Value:
		default:
			continue
		}
		name := ref.Canonical
		if name == belfry.IndicatorTextColumn(ref.N) {
			name = belfry.IndicatorColumn(ref.N)
		}
		if len(g.rows) > 0 {
			text = g.rows[g.IntN(len(g.rows))][name].Text
		}
		if text != "" {
			return field, text
		}
	}
	return g.collection.Text, "nothing"
}

// pattern is one of LIKE that is likely to match the text, or nearly so.
func (g *dataGenerator) pattern(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch n := g.IntN(12); {
		case n == 0:
			b.WriteByte('%')
		case n == 1:
			b.WriteByte('_')
		case n == 2: // left out
		case strings.ContainsRune(`%_\`, c) && n > 3:
			b.WriteString(`\` + string(c))
		default:
			b.WriteRune(c)
		}
	}
	return pick(g.Rand, "", "", "%", "_") + b.String() + pick(g.Rand, "", "", "%", "_")
}

// clause returns a Lucene query.
func (g *dataGenerator) clause(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		a, b := g.clause(depth-1), g.clause(depth-1)
		return pick(g.Rand, a+" "+b, a+" AND "+b, a+" OR "+b, "+("+a+") "+b, a+" -("+b+")", "NOT ("+a+")", "(+("+a+") -("+b+"))")
	}
	field, text := g.someText()
	if field == g.collection.Text && g.IntN(2) == 0 {
		field = ""
	} else {
		field += ":"
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(words) == 0 || g.IntN(5) == 0 {
		words = []string{text}
	}
	word := pick(g.Rand, words...)
	switch g.IntN(8) {
	case 0:
		return field + `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`
	case 1:
		return field + pick(g.Rand, escapeTerm(strings.ToUpper(word)), escapeTerm(strings.ToLower(word)))
	case 2:
		runes := []rune(word)
		return field + escapeTerm(string(runes[:1+g.IntN(len(runes))])) + "*"
	case 3:
		runes := []rune(word)
		runes[g.IntN(len(runes))] = '?'
		return field + strings.ReplaceAll(escapeTerm(string(runes)), `\?`, "?")
	case 4:
		return pick(g.Rand, "*:*", "-"+g.field()+":*", g.field()+":*")
	case 5:
		return field + "[" + escapeTerm(word) + " TO *}"
	}
	return field + escapeTerm(word)
}

// escapeTerm escapes all special characters.
func escapeTerm(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c) && c < 128 {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	switch b.String() {
	case "AND", "OR", "NOT", "TO":
		return `\` + b.String()
	}
	return b.String()
}

func literalText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

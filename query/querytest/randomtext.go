package querytest

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// texts are the fields of each collection that LIKE and Lucene can search, with parts of the values of rows.
var texts = map[string]map[string][]string{
	"objectdata": {"object": {"cpu", "disk /", "it's", "Größe"}, "i2": {"ok", "full", "5", "Z"}, "string2": {"a", "full"}, "host": {"h1"}, "i9": {"x"}},
	"objectlog":  {"log": {"alice", "login", "bob;logout", "yes;no", "plain"}, "c1": {"alice", "carol"}, "c2": {"login"}, "object": {"audit"}},
	"events":     {"info": {"i1 >= 95", "no response", "40"}, "user": {"admin"}, "object": {"cpu"}, "resource": {"web01", "web02"}},
	"syslog": {
		"message": {
			"Connection refused", "10.0.0.9", "disk_1 is FULL", "errors", "Größe", "ΣΑΣ", "first line\nrefused", "\u212Aelvin", "\u017Fensor",
			"cafe\u0301s", "İstanbul", "日本語", "error日本", "98%",
		},
		"app": {"sshd", "app*", "50%_off", `a\b`, "AND"}, "host": {"fw1", "FW2"}, "ip": {"fe80::1", "10.0.0.2"},
	},
}

// text returns a condition on a text now and then; mostly it returns "".
func (g *generator) text() string {
	of := texts[g.collection]
	if of == nil || g.IntN(3) > 0 {
		return ""
	}
	if g.IntN(2) == 0 {
		field := g.textField()
		pattern := g.garbled(pick(g.Rand, of[field]...), "%", "_", `\`)
		return field + pick(g.Rand, " LIKE ", " NOT LIKE ") + quote(pattern)
	}
	return "_query_ = " + quote(g.lucene(2))
}

func (g *generator) textField() string {
	names := sorted(texts[g.collection])
	return names[g.IntN(len(names))]
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// garbled replaces characters of a text by wildcards or inserts some, and escapes those that it has.
func (g *generator) garbled(s, any, one, special string) string {
	var b strings.Builder
	for _, r := range s {
		switch c := string(r); {
		case g.IntN(8) == 0:
			b.WriteString(any)
		case g.IntN(8) == 0:
			b.WriteString(one)
		case strings.ContainsAny(c, special+any+one):
			b.WriteString(`\` + c)
		default:
			b.WriteString(c)
		}
	}
	if g.IntN(4) == 0 {
		return any + b.String() + any
	}
	return b.String()
}

// lucene returns a Lucene query of terms with values of rows.
func (g *generator) lucene(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		a, b := g.lucene(depth-1), g.lucene(depth-1)
		return pick(g.Rand, a+" "+b, a+" AND "+b, a+" OR NOT "+b, "+"+group(a)+" "+b, a+" -"+group(b), "NOT "+group(a), group(a)+" && !"+group(b))
	}
	field := g.textField()
	piece := pick(g.Rand, texts[g.collection][field]...)
	switch g.IntN(8) {
	case 0:
		return pick(g.Rand, "*:*", "-"+field+":*", field+":*")
	case 1:
		return field + `:"` + g.garbled(piece, "*", "?", `"\`) + `"`
	case 2:
		return field + ":" + pick(g.Rand, "[a TO *]", "{* TO m]", ">=c", "<Z")
	case 3:
		return pick(g.Rand, "timestamp:[NOW-1HOUR TO NOW}", "id:0000000000000043", "resource:web*", "timestamp:>NOW-45MINUTES")
	case 4:
		return field + ":(" + g.term(piece) + pick(g.Rand, " ", " OR ", " AND ") + g.term(pick(g.Rand, texts[g.collection][field]...)) + ")"
	}
	return field + ":" + g.term(piece)
}

func group(s string) string { return "(" + s + ")" }

// term writes a text as a term with wildcards.
func (g *generator) term(piece string) string {
	t := g.garbled(piece, "*", "?", " \t\r\n()[]{}^~:&|\"\\+-!<>/") + pick(g.Rand, "", "", "x*", "*")
	if t == "AND" {
		return `\AND`
	}
	return t
}

// RandomLucene returns a Lucene query of the collection that the parser accepts.
func RandomLucene(r *rand.Rand, collection string) string {
	g := &generator{Rand: r, collection: collection}
	return g.lucene(3)
}

// TextCollections are the collections for which RandomLucene has values.
func TextCollections() []string {
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package querytest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Part is one delivery to a store: rows of one customer, by collection.
type Part struct {
	Customer belfry.CustomerID
	Rows     map[string][]Row
}

// asked returns the collections that Random queries; every random data set has rows of them.
func asked() []string { return slices.Sorted(maps.Keys(fields)) }

// RandomData returns rows for random queries: few, so that queries are quick, and each as odd as a client may send it.
// The rows of Customer come in several parts, so that files have several appends and some of them lack columns; rows of
// another customer have the same names and ids, which no query may find.
func RandomData(r *rand.Rand, cat *catalog.Catalog) []Part {
	g := &source{Rand: r, catalog: cat, moments: someMoments(r), next: map[string]int64{}, before: map[string][]Row{}}
	g.items()
	names := asked()
	for _, c := range cat.Collections() {
		if c.Historical && !slices.Contains(names, c.Name) && r.IntN(4) == 0 {
			names = append(names, c.Name)
		}
	}
	parts := []Part{{Customer: Customer + 1, Rows: g.rows(names)}}
	g.next, g.before = map[string]int64{}, map[string][]Row{}
	for range 1 + r.IntN(3) {
		parts = append(parts, Part{Customer: Customer, Rows: g.rows(names)})
	}
	return parts
}

// RowsOf joins the rows that a customer has in the parts.
func RowsOf(parts []Part, customer belfry.CustomerID) map[string][]Row {
	all := map[string][]Row{}
	for _, p := range parts {
		if p.Customer != customer {
			continue
		}
		for name, rows := range p.Rows {
			all[name] = append(all[name], rows...)
		}
	}
	return all
}

// source generates rows.
type source struct {
	*rand.Rand
	catalog *catalog.Catalog
	moments []belfry.Time
	known   []Item
	next    map[string]int64 // the highest id that a collection has
	before  map[string][]Row // of collections with a key
	missing map[string]bool  // fields that no row of the part has
}

// someMoments returns the few times of the rows of a data set, so that many are equal; all are in two or three days, and
// most are those in queries.
func someMoments(r *rand.Rand) []belfry.Time {
	day := Now - Now%belfry.Time(24*time.Hour/time.Microsecond)
	hour, minute := belfry.Time(time.Hour/time.Microsecond), belfry.Time(time.Minute/time.Microsecond)
	list := []belfry.Time{
		Now, Now - 30*minute, Now - hour, Now - hour - 1, Now + 1, day, day - 1, day + hour, Now - 24*hour, Now - 72*hour,
		day + belfry.Time(r.Int64N(int64(24*hour))), day - belfry.Time(r.Int64N(int64(48*hour))),
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:1+r.IntN(len(list))]
}

func (g *source) items() {
	for range 1 + g.IntN(6) {
		g.known = append(g.known, Item{
			Resource: pick(g.Rand, "web01", "web01", "web02", "WEB01", "web%1", "Größe", ""),
			View:     pick(g.Rand, "web01", "MAIN", "Größe", ""),
			Object:   pick(g.Rand, "cpu", "cpu", "disk /", "it's", "audit", "disk", "Größe", "日本", ""),
			Class:    pick(g.Rand, "cpu", "disk", "audit", ""),
			IP:       pick(g.Rand, "10.0.0.1", "10.0.0.2", "", ""),
			Host:     pick(g.Rand, "h1", "h2", "", ""),
		})
	}
}

func (g *source) rows(names []string) map[string][]Row {
	all := map[string][]Row{}
	for _, name := range names {
		c := g.catalog.Collection(name)
		g.missing = map[string]bool{}
		for _, f := range c.Fields {
			g.missing[f.Name] = g.IntN(5) == 0
		}
		for range g.IntN(16) {
			g.next[name]++
			row := g.row(c)
			if len(c.Key) > 0 {
				if old := g.before[name]; len(old) > 0 && g.IntN(2) == 0 {
					row.copyKey(c, old[g.IntN(len(old))])
				}
				g.before[name] = append(g.before[name], row)
			}
			all[name] = append(all[name], row)
		}
	}
	return all
}

// copyKey sets the key of the row to that of another.
func (r Row) copyKey(c *catalog.Collection, from Row) {
	item := slices.Contains(c.KeyColumns(), belfry.ItemColumn)
	for i := range c.Fields {
		f := &c.Fields[i]
		if !slices.Contains(c.Key, f.Name) && (f.Of == "" || !item) {
			continue
		}
		if v, ok := from[f.Name]; ok {
			r[f.Name] = v
		} else {
			delete(r, f.Name)
		}
	}
}

func (g *source) row(c *catalog.Collection) Row {
	row := Row{
		"id":      {Type: belfry.IDValue, Int: g.next[c.Name]},
		timestamp: {Type: belfry.TimeValue, Int: int64(g.moments[g.IntN(len(g.moments))])},
	}
	item := g.known[g.IntN(len(g.known))]
	if g.IntN(8) == 0 {
		item = Item{}
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		switch {
		case f.Name == "id", f.Name == timestamp, f.Split != "", f.Suffix != "", f.Name == "period" && c.Name == "objectdata":
		case f.Of != "":
			row.put(f.Name, text(map[string]string{
				"resource": item.Resource, "view": item.View, "object": item.Object, "class": item.Class, "ip": item.IP, "host": item.Host,
			}[f.Of]))
			if f.Own && !g.missing[f.Name] && g.IntN(2) == 0 {
				row[query.OfItem+f.Name] = row[f.Name]
				row[f.Name] = text(pick(g.Rand, "10.0.0.1", "10.0.0.2", "h1", "h2"))
			}
		case !g.missing[f.Name]:
			for n := 1; n <= max(1, min(3, f.Numbered)); n++ {
				row.put(f.Nth(n), g.value(c.Name, f.Nth(n), f.Type))
			}
		}
	}
	if line := row["log"].Text; line != "" {
		row.split(line, pick(g.Rand, ";", ";", "||", ""))
	}
	return row
}

func (r Row) put(field string, v belfry.Value) {
	if v.Type != belfry.AbsentValue {
		r[field] = v
	}
}

// split sets a separator, and the columns into which it splits the line.
func (r Row) split(line, sep string) {
	r.put(query.SeparatorColumn, text(sep))
	for n := 1; n <= 5; n++ {
		r.put("c"+string(rune('0'+n)), text(query.Part(line, sep, n)))
	}
}

func text(s string) belfry.Value {
	if s == "" {
		return belfry.Value{}
	}
	return belfry.Value{Type: belfry.TextValue, Text: s}
}

// value returns a value of the type, or none.
func (g *source) value(collection, field string, t catalog.Type) belfry.Value {
	if g.IntN(4) == 0 {
		return belfry.Value{}
	}
	switch t {
	case catalog.Number:
		return g.number()
	case catalog.Value:
		if g.IntN(3) == 0 {
			return text(g.text(collection, field))
		}
		return g.number()
	case catalog.Integer:
		list := []int64{0, 1, 2, 3, 5, 7, 10, -1, -5, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64 + 1}
		return belfry.Value{Type: belfry.IntValue, Int: list[g.IntN(len(list))]}
	case catalog.Bool:
		return belfry.Value{Type: belfry.BoolValue, Int: g.Int64N(2)}
	case catalog.Status:
		return belfry.Value{Type: belfry.StatusValue, Int: g.Int64N(int64(belfry.Statuses))}
	case catalog.Time:
		return belfry.Value{Type: belfry.TimeValue, Int: int64(g.moments[g.IntN(len(g.moments))])}
	case catalog.FullText:
		return text(g.line(collection, field))
	}
	return text(g.text(collection, field))
}

func (g *source) number() belfry.Value {
	list := []float64{
		0, 1, 3, 5, 5, 7, 10, 10, 20, 30, 40.5, -1, 0.1, 1e-9, -2.5, 12.5, 1e21, -1e300, 5e-324, 1 << 53, math.MaxFloat64,
	}
	f := list[g.IntN(len(list))]
	if g.IntN(6) == 0 {
		f = math.Round(g.NormFloat64()*1000) / 8
	}
	return belfry.Value{Type: belfry.NumberValue, Num: f}
}

// text returns one of the texts that queries compare the field with, or an odd one.
func (g *source) text(collection, field string) string {
	if known := fields[collection][field]; len(known) > 0 && g.IntN(2) == 0 {
		return strings.ReplaceAll(strings.Trim(pick(g.Rand, known...), "'"), "''", "'")
	}
	return pick(g.Rand, "a", "Z", "ok", "x", "5", "10", "-1", "1e1", "tcp", "good", "admin", "ä", "é", "e\u0301", "日本", "😀", "it's", `"`, "`", `a\b`,
		"100%", "a_b", "[10 TO 40]", "NULL", "true", " ", " a", "a ", "a\nb", strings.Repeat("long", 20))
}

// line returns a text of several words.
func (g *source) line(collection, field string) string {
	if known := fields[collection][field]; len(known) > 0 && g.IntN(3) == 0 {
		return g.text(collection, field)
	}
	words := make([]string, 1+g.IntN(5))
	for i := range words {
		words[i] = pick(g.Rand, "disk", "Disk", "DISK", "full", "no", "response", "error", "err_42", "42", "web01", "a.b", "x-y", "naïve", "ß", "ΣΑΣ", "日本", "%", "_", "*",
			"alice", "login", "ok", "timeout")
	}
	return strings.Join(words, pick(g.Rand, " ", ";", "||", "\t", ", ", "-"))
}

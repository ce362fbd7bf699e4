package querytest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Random returns a query of a historical collection that passes Check, to compare engines with each other.
func Random(r *rand.Rand) string {
	g := &generator{Rand: r, collection: pick(r, "objectdata", "objectlog", "events", "syslog")}
	var b strings.Builder
	b.WriteString("SELECT ")
	groups := r.IntN(2) == 0
	g.open = r.IntN(3) == 0
	switch {
	case groups:
		b.WriteString(g.grouped())
	case r.IntN(5) == 0:
		b.WriteString("*")
	default:
		for i := range 1 + r.IntN(4) {
			fmt.Fprintf(&b, "%s%s AS f%d", strings.Repeat(", ", min(i, 1)), g.field(), i)
		}
	}
	if !groups {
		b.WriteString(g.from())
	}
	if !groups && r.IntN(3) > 0 {
		b.WriteString(" ORDER BY " + g.field() + pick(r, "", " ASC", " DESC"))
		for r.IntN(2) == 0 {
			b.WriteString(", " + g.field() + pick(r, "", " ASC", " DESC"))
		}
	}
	if g.open || r.IntN(2) == 0 {
		fmt.Fprintf(&b, " LIMIT %d", r.IntN(12))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, " OFFSET %d", r.IntN(5))
		}
	}
	return b.String()
}

type generator struct {
	*rand.Rand
	collection string
	open       bool // no span: the query reads the most recent rows
}

func (g *generator) from() string {
	var where []string
	switch {
	case g.open && g.IntN(2) == 0: // otherwise few of these would match more rows than they read
		where = append(where, g.condition(1))
	case !g.open:
		where = append(where, "timestamp >= "+g.time())
		if g.IntN(5) > 0 {
			where = append(where, g.condition(3))
		}
	}
	if g.collection == "objectdata" && g.IntN(4) == 0 {
		where = append(where, "period = "+pick(g.Rand, "'raw'", "'hour'", "'day'"))
	}
	if len(where) == 0 {
		return " FROM " + g.collection
	}
	return " FROM " + g.collection + " WHERE " + strings.Join(where, " AND ")
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// fields are the fields of each collection with values to compare them with.
var fields = map[string]map[string][]string{
	"objectdata": {
		"i1": {"10", "'20'", "40.5", "-1", "'x'", "'[10 TO 40]'", "'{* TO 20}'"}, "i2": {"5", "'5'", "'a'", "'ok'", "3", "'[3 TO *]'"},
		"i3": {"7", "1e21"}, "string2": {"'5'", "'Z'", "'full'"}, "i9": {"1", "'x'"}, "ip": {"'10.0.0.1'"}, "host": {"'h1'", "'h2'"},
		"object": {"'cpu'", "'disk /'", "'it''s'"}, "resource": {"'web01'", "'web02'", "'none'"}, "class": {"'cpu'", "'disk'"},
		"i1_min": {"1"}, "i1_count": {"1", "2"},
	},
	"objectlog": {
		"log": {"'plain'", "'bob;logout'"}, "c1": {"'alice'", "'carol'"}, "c2": {"'login'", "'yes;no'"}, "c3": {"'ok'"},
		"object": {"'audit'", "'cpu'"}, "resource": {"'web01'", "'web02'"},
	},
	"events": {
		"status": {"'?'", "'0'", "'1'", "3", "'-'"}, "previous": {"'?'", "'1'"}, "source": {"'object'", "'user'"},
		"object": {"'cpu'", "'disk'"}, "resource": {"'web01'", "'web02'"}, "view": {"'MAIN'"}, "user": {"'admin'"}, "info": {"'no response'"},
	},
	"syslog": {
		"message": {"'connection accepted from 10.0.0.12'"}, "host": {"'fw2'", "'FW2'"}, "severity": {"3", "'[2 TO 5]'", "2.5"},
		"app": {"'sshd'", "'a\\b'", "'50%_off'"}, "ip": {"'fe80::1'"}, "resource": {"'gate'"}, "devicetime": {"'NOW-1HOUR'"},
	},
}

var common = map[string][]string{
	"id":        {"'0000000000000003'", "'0000000000000013'", "'0000000000000024'", "'ffffffffffffffff'"},
	"timestamp": {"'NOW-30MINUTES'", "'2026-11-15T00:00:00Z'", "'[NOW-1HOUR TO NOW]'", "'{NOW-1DAY TO *}'"},
}

func (g *generator) time() string { return pick(g.Rand, "'NOW-3DAYS'", "'NOW/DAY'", "'NOW-1HOUR'") }

// field picks a field; the lists are walked in order of name, so that a seed always results in the same query.
func (g *generator) field() string {
	names := sorted(fields[g.collection], common)
	return names[g.IntN(len(names))]
}

func (g *generator) values(field string) []string {
	if v := common[field]; v != nil {
		return v
	}
	return fields[g.collection][field]
}

func (g *generator) condition(depth int) string {
	if depth > 0 {
		switch g.IntN(5) {
		case 0:
			return "(" + g.condition(depth-1) + " AND " + g.condition(depth-1) + ")"
		case 1:
			return "(" + g.condition(depth-1) + " OR " + g.condition(depth-1) + ")"
		case 2:
			return "NOT " + g.condition(depth-1)
		}
	}
	if text := g.text(); text != "" {
		return text
	}
	field := g.field()
	value := pick(g.Rand, g.values(field)...)
	switch {
	case g.IntN(6) == 0:
		return field + pick(g.Rand, " IS NULL", " IS NOT NULL")
	case strings.Contains(value, " TO "):
		return field + pick(g.Rand, " = ", " <> ") + value
	case g.IntN(6) == 0:
		return field + pick(g.Rand, " IN (", " NOT IN (") + value + ", " + pick(g.Rand, g.values(field)...) + ")"
	}
	return field + pick(g.Rand, " = ", " <> ", " < ", " <= ", " > ", " >= ") + value
}

func sorted(lists ...map[string][]string) []string {
	var names []string
	for _, m := range lists {
		names = slices.AppendSeq(names, maps.Keys(m))
	}
	slices.Sort(names)
	return names
}

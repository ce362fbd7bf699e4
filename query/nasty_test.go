package query_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"
)

// nasty are queries that are hard for parsers and checkers: each grows with n, by a few bytes per step.
var nasty = map[string]func(n int) string{
	"quotes":           around("SELECT id FROM events WHERE info='", "''", "' LIMIT 1"),
	"open quotes":      around("SELECT id FROM events WHERE info='", "''", ""),
	"backquotes":       around("SELECT `", "``", "` FROM events LIMIT 1"),
	"open parentheses": around("SELECT id FROM events WHERE ", "(", ""),
	"parentheses":      around("SELECT id FROM events WHERE ", "(info='a') AND ", "info='b' LIMIT 1"),
	"nots":             around("SELECT id FROM events WHERE ", "NOT ", "info='b' LIMIT 1"),
	"commas":           around("SELECT id", ",", " FROM events"),
	"minus signs":      around("SELECT id FROM events WHERE info=", "-", "1 LIMIT 1"),
	"stars":            around("SELECT ", "*", " FROM events LIMIT 1"),
	"exponents":        around("SELECT id FROM events WHERE info=1", "e+1", " LIMIT 1"),
	"digits":           around("SELECT i1 FROM objectdata WHERE i1=", "9", " LIMIT 1"),
	"blanks":           around("SELECT", " \t", "id FROM events LIMIT 1"),
	"lines":            around("SELECT", "\n", "id FROM events LIMIT 1 x"),
	"semicolons":       around("SELECT id FROM events LIMIT 1", ";", ""),
	"one word":         around("SELECT ", "a", " FROM events LIMIT 1"),
	"signs":            around("SELECT id FROM events WHERE info = 'a' ", "❤", ""),
	"and":              around("SELECT id FROM events WHERE info='a'", " AND info<>'b'", " LIMIT 1"),
	"or":               around("SELECT id FROM events WHERE info='a'", " OR info='b'", " LIMIT 1"),
	"or of columns":    around("SELECT id FROM objectdata WHERE i1=1", " OR i2='x' OR c=1", " LIMIT 1"),
	"indicators":       around("SELECT id FROM objectdata WHERE i1=1", " OR i2<>'5'", " LIMIT 1"),
	"items":            around("SELECT id FROM objectdata WHERE object='a'", " OR object='b'", " LIMIT 1"),
	"parts":            around("SELECT id FROM objectlog WHERE c1='a'", " OR c9<>'b'", " LIMIT 1"),
	"spans":            around("SELECT id FROM events WHERE timestamp > 'NOW'", " OR timestamp='[NOW-1DAY TO NOW]'", " LIMIT 1"),
	"nested":           func(n int) string { return nested(n) },
	"values":           around("SELECT id FROM events WHERE info IN ('a'", ",'b'", ") LIMIT 1"),
	"not values":       around("SELECT id FROM objectdata WHERE i1 NOT IN (1", ",2", ") LIMIT 1"),
	"different values": numbered("SELECT id FROM events WHERE info IN ('a'", ",'v%d'", ") LIMIT 1"),
	"fields":           numbered("SELECT i1 AS f", ",i1 AS f%d", " FROM objectdata LIMIT 1"),
	"all fields":       numbered("SELECT i1 AS f", ",i2 AS `f %d`,i1_min AS g%[1]d", " FROM objectdata LIMIT 1"),
	"fields twice":     around("SELECT i1", ",i1", " FROM objectdata LIMIT 1"),
	"order":            around("SELECT id FROM objectdata ORDER BY i1", ",i2 DESC", " LIMIT 1"),
	"order by names":   func(n int) string { return ordered(n) },
	"betweens":         around("SELECT id FROM events WHERE info BETWEEN 'a' AND 'b'", " AND info NOT BETWEEN 'a' AND 'b'", " LIMIT 1"),
	"like":             around("SELECT id FROM events WHERE info LIKE '", "%a", "b' LIMIT 1"),
	"like one":         around("SELECT id FROM events WHERE info LIKE '%", "_", "b%' LIMIT 1"),
	"likes":            around("SELECT id FROM events WHERE info LIKE 'a%'", " OR info NOT LIKE '%b'", " LIMIT 1"),
	"words":            around("SELECT id FROM events WHERE _query_='a", " b", "' LIMIT 1"),
	"phrase":           around(`SELECT id FROM events WHERE _query_='info:"a`, " a", `b"' LIMIT 1`),
	"wildcards":        around("SELECT id FROM events WHERE _query_='info:a", "*a", "b' LIMIT 1"),
	"question marks":   around("SELECT id FROM events WHERE _query_='info:*a", "?", "b*' LIMIT 1"),
	"lucene fields":    around("SELECT id FROM events WHERE _query_='status:3", " AND resource:web*", "' LIMIT 1"),
	"lucene groups":    around("SELECT id FROM events WHERE _query_='", "(", "a' LIMIT 1"),
	"lucene nots":      around("SELECT id FROM events WHERE _query_='", "NOT ", "a' LIMIT 1"),
	"lucene marks":     around("SELECT id FROM events WHERE _query_='a", " +a -b", "' LIMIT 1"),
	"lucene ranges":    around("SELECT id FROM objectdata WHERE _query_='i1:[1 TO 2]", " i2:{1 TO *}", "' LIMIT 1"),
	"lucene escapes":   around("SELECT id FROM events WHERE _query_='", `\\(`, "' LIMIT 1"),
	"lucene quotes":    around("SELECT id FROM events WHERE _query_='", `"`, "' LIMIT 1"),
	"lucenes":          around("SELECT id FROM events WHERE _query_='a'", " OR _query_='b'", " LIMIT 1"),
	"functions":        numbered("SELECT COUNT(*) AS f", ",MEAN(i1) AS f%d", " FROM objectdata WHERE timestamp>'NOW'"),
	"keys":             around("SELECT COUNT(*) FROM objectdata WHERE timestamp>'NOW' GROUP BY object", ",i1", ""),
	"having":           around("SELECT COUNT(*) FROM objectdata WHERE timestamp>'NOW' HAVING COUNT(*)>1", " AND MAX(i1)>2", ""),
	"functions having": numbered("SELECT COUNT(*) FROM objectdata WHERE timestamp>'NOW' HAVING COUNT(*)>1", " AND PERCENTILE(i1, 0.%d)>2", ""),
	"periods":          around("SELECT id FROM objectdata WHERE period='raw'", " AND period='hour'", " LIMIT 1"),
}

func around(before, s, after string) func(int) string {
	return func(n int) string { return before + strings.Repeat(s, n) + after }
}

func numbered(before, format, after string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return before + b.String() + after
	}
}

// nested is a tree of ANDs and ORs of the maximum depth, repeated.
func nested(n int) string {
	one := strings.Repeat("(info='a' AND (info='b' OR ", 30) + "info='c'" + strings.Repeat("))", 30)
	return "SELECT id FROM events WHERE " + one + strings.Repeat(" OR "+one, n/60) + " LIMIT 1"
}

// ordered selects fields under names and orders by each of the names.
func ordered(n int) string {
	names, keys := numbered("SELECT i1 AS f", ",i1 AS f%d", " FROM objectdata")(n/2), numbered(" ORDER BY f", ",f%d", " LIMIT 1")(n/2)
	return names + keys
}

// work processes a query as far as possible and returns the cost: steps of the parser, and allocations of everything after
// it.
func work(t *testing.T, cat *catalog.Catalog, text string) (steps int, allocs float64) {
	t.Helper()
	s, steps, err := query.ParseSteps(text)
	allocs = testing.AllocsPerRun(1, func() {
		if err == nil {
			further(t, cat, s)
		}
	})
	return steps, allocs
}

// further checks, writes and evaluates a query, and prints it in all forms.
func further(t *testing.T, cat *catalog.Catalog, s *query.Select) {
	t.Helper()
	_ = s.String()
	p, err := query.Check(s, cat, query.Options{Customer: 1, Now: 1_800_000_000_000_000})
	if err != nil {
		if belfry.CodeOf(err) != belfry.BadQuery {
			t.Fatal(err)
		}
		return
	}
	_ = p.Explain()
	all := map[string]bool{belfry.ItemColumn: true}
	for _, name := range p.Collection.Names() {
		all[name] = true
	}
	few := map[string]bool{"info": true, "i1": true}
	for _, tables := range [][]query.Table{{{Ref: "a", Columns: all}, {Ref: "b", Columns: few}}, nil} {
		if _, err := query.SQL(p, dialect.New("item"), tables); err != nil {
			t.Fatal(err)
		}
	}
	row := querytest.Row{"timestamp": {Type: belfry.TimeValue, Int: int64(query.Forever)}, "info": {Type: belfry.TextValue, Text: strings.Repeat("a", 200) + " a a a"}}
	if _, err := query.Eval(p, func(yield func(query.Row) bool) { yield(row) }); err != nil {
		t.Fatal(err)
	}
}

// TestNasty: twice the text may take twice the work. Work is counted, not timed; the time per kilobyte is only logged.
func TestNasty(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	slowest := ""
	worst := time.Duration(0)
	for name, text := range nasty {
		step := (len(text(2000)) - len(text(1000))) / 1000
		longest := query.MaxText / 2 / step * 9 / 10
		if testing.Short() {
			longest /= 128
		}
		for _, n := range []int{query.MaxTerms / 4, longest} {
			small, large := text(n), text(2*n)
			few, fewAllocs := work(t, cat, small)
			many, manyAllocs := work(t, cat, large)
			if many > 3*len(large)+10 || many > 2*few+len(large) {
				t.Errorf("%s: the parser takes %d steps for %d bytes and %d for %d", name, few, len(small), many, len(large))
			}
			if manyAllocs > 2.3*fewAllocs+200 {
				t.Errorf("%s: %.0f allocations for %d bytes and %.0f for %d", name, fewAllocs, len(small), manyAllocs, len(large))
			}
			start := time.Now()
			if s, _, err := query.ParseSteps(large); err == nil {
				further(t, cat, s)
			}
			if per := time.Since(start) * 1024 / time.Duration(len(large)); per > worst {
				worst, slowest = per, fmt.Sprintf("%s, %d bytes", name, len(large))
			}
			if testing.Verbose() {
				t.Logf("%-18s %8d bytes: %7d steps, %9.0f allocations, %v per kB", name, len(large), many, manyAllocs, time.Since(start)*1024/time.Duration(len(large)))
			}
		}
	}
	t.Logf("slowest: %v per kB (%s)", worst, slowest)
}

package query_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"
)

// ownLiterals are the only quoted texts that a statement may contain: ours.
var ownLiterals = []string{"''", "'s'", "'raw'", "'hour'", "'day'"}

var literal = regexp.MustCompile(`'[^']*'`)

// checkStatement writes the plan for the engine and searches it for text of a client.
func checkStatement(t *testing.T, from string, p *query.Plan) {
	t.Helper()
	if !p.Collection.Historical {
		return
	}
	s, err := query.SQL(p, dialect.New("item"), tables(p.Collection))
	if err != nil {
		t.Errorf("%s: %v", from, err)
		return
	}
	for _, l := range literal.FindAllString(s.Text, -1) {
		if !slices.Contains(ownLiterals, l) {
			t.Errorf("%s: the statement has the text %s:\n%s", from, l, s.Text)
		}
	}
	for _, bad := range []string{"pwned", ";", "--", "/*", `\`} {
		if strings.Contains(s.Text, bad) {
			t.Errorf("%s: the statement has %s in it:\n%s", from, bad, s.Text)
		}
	}
}

// hostile are values that would do harm if an engine read them as anything but a value.
var hostile = []string{
	"pwned'; DROP TABLE rows; --", "pwned' OR '1'='1", `pwned\'; SELECT 1; --`, `pwned" OR ""="`, "pwned/*", "pwned*/ --", "pwned`",
	"pwned read_csv('/etc/passwd')", "pwned read_text('/etc/passwd')", "pwned COPY rows TO '/tmp/x'", "pwned ATTACH '/tmp/x' AS x",
	"pwned PRAGMA database_list", "pwned getenv('HOME')", "pwned glob('/etc/*')", "pwned $1", "pwned ?", "pwned (?i).*", `pwned \pL\E[`,
	"pwned \u2019; DROP TABLE x", "pwned\x1b[0m", "pwned%_", "pwned ' UNION SELECT * FROM item",
}

// TestHostileValues puts each of them wherever a client may write a value. All are accepted, and none is in a statement.
func TestHostileValues(t *testing.T) {
	cat := load(t)
	sql := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	phrase := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	term := func(s string) string {
		return regexp.MustCompile(`[^\pL\pN]`).ReplaceAllStringFunc(s, func(c string) string { return `\` + c })
	}
	f := func(text, fq string) {
		t.Helper()
		s, err := query.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		p, err := query.Check(s, cat, query.Options{Customer: querytest.Customer, Now: querytest.Now, Filter: fq})
		if err != nil {
			t.Errorf("%s, fq %s: %v", text, fq, err)
			return
		}
		checkStatement(t, text+" "+fq, p)
	}
	for _, h := range hostile {
		for _, field := range []string{"app", "message", "resource"} {
			from := "SELECT id, app AS " + "`" + strings.ReplaceAll(h, "`", "``") + "`" + " FROM syslog WHERE " + field
			f(from+" = "+sql(h)+" LIMIT 1", "")
			f(from+" IN ("+sql(h)+", 'x') LIMIT 1", "")
			f(from+" BETWEEN "+sql(h)+" AND "+sql(h)+" LIMIT 1", "")
			f(from+" LIKE "+sql(strings.ReplaceAll(h, `\`, `\\`)+"%")+" LIMIT 1", "")
			for _, l := range []string{field + ":" + phrase(h), field + ":" + term(h) + "*", field + ":[" + term(h) + " TO " + phrase(h) + "}", "NOT " + field + ":(" + term(h) + " x)"} {
				f("SELECT id FROM syslog WHERE _query_ = "+sql(l)+" LIMIT 1", "")
				f("SELECT id FROM syslog LIMIT 1", l)
			}
		}
	}
}

// TestHostileQueries: each is rejected with an error that a client may read.
func TestHostileQueries(t *testing.T) {
	cat := load(t)
	f := func(text, fq string) {
		t.Helper()
		s, err := query.Parse(text)
		if err == nil {
			_, err = query.Check(s, cat, query.Options{Customer: querytest.Customer, Now: querytest.Now, Filter: fq})
		}
		if err == nil || belfry.CodeOf(err) != belfry.BadQuery {
			t.Errorf("%s, fq %s: %v", text, fq, err)
		}
	}
	for _, text := range []string{
		"SELECT id FROM events LIMIT 1; SELECT id FROM events LIMIT 1", "SELECT id FROM events LIMIT 1;;", "SELECT id FROM events /**/ LIMIT 1", "SELECT id FROM events LIMIT 1 --",
		"SELECT id FROM read_csv('/etc/passwd') LIMIT 1", "SELECT id FROM '/etc/passwd' LIMIT 1", "SELECT id FROM \"/etc/passwd\" LIMIT 1", "SELECT id FROM glob('/*') LIMIT 1",
		"SELECT read_text('/etc/passwd') FROM events LIMIT 1", "SELECT getenv('HOME') FROM events LIMIT 1", "SELECT id FROM events WHERE id = getenv('HOME') LIMIT 1",
		"SELECT id FROM events WHERE getenv('HOME') = 'x' LIMIT 1", "SELECT id FROM events ORDER BY getenv('HOME') LIMIT 1", "SELECT id FROM events LIMIT (SELECT 1)",
		"COPY events TO '/tmp/x'", "ATTACH '/tmp/x' AS x", "PRAGMA database_list", "SET threads = 1", "INSTALL httpfs", "LOAD httpfs", "CALL pragma_version()", "EXPLAIN SELECT id FROM events",
		"SELECT id FROM item LIMIT 1", "SELECT id FROM rows LIMIT 1", "SELECT id FROM f1.rows LIMIT 1", "SELECT id FROM duckdb_settings() LIMIT 1", "SELECT id FROM sqlite_master LIMIT 1",
		"SELECT id FROM information_schema.tables LIMIT 1", "SELECT customer FROM events LIMIT 1", "SELECT id FROM events WHERE customer = 2 LIMIT 1", "SELECT rowid FROM events LIMIT 1",
		"SELECT id FROM events WHERE id IN (SELECT id FROM events) LIMIT 1", "SELECT id FROM events UNION SELECT id FROM events LIMIT 1", "SELECT id FROM events WHERE info = E'x' LIMIT 1",
		"SELECT id FROM events WHERE info = $$x$$ LIMIT 1", "SELECT id FROM events WHERE info = 'a' 'b' LIMIT 1", "SELECT id FROM events WHERE info = 'a' || 'b' LIMIT 1", "WITH x AS (SELECT 1) SELECT * FROM x",
		"SELECT id FROM events WHERE info LIKE 'a' ESCAPE 'b' LIMIT 1", "SELECT id FROM events WHERE info = $1 LIMIT 1", "SELECT id FROM events WHERE info = ? LIMIT 1", "SELECT id::VARCHAR FROM events LIMIT 1",
	} {
		f(text, "")
	}
	for _, l := range []string{
		"customer:2", "rowid:1", "item:1", "f1.rows:x", "_query_:x", "(", `"`, "a) OR (customer:2", "status:3; DROP", "[", "{!lucene}x", `\`, "getenv(x)):y",
	} {
		f("SELECT id FROM events WHERE _query_ = '"+l+"' LIMIT 1", "")
		f("SELECT id FROM events LIMIT 1", l)
	}
}

// TestTextLimits: a text that would take an engine long before it reads a row is rejected.
func TestTextLimits(t *testing.T) {
	cat := load(t)
	f := func(lucene, want string) {
		t.Helper()
		s, err := query.Parse("SELECT id FROM syslog WHERE _query_ = 'a' LIMIT 1")
		if err != nil {
			t.Fatal(err)
		}
		_, err = query.Check(s, cat, query.Options{Customer: querytest.Customer, Now: querytest.Now, Filter: lucene})
		if want == "" && err == nil {
			return
		}
		if want == "" || err == nil || belfry.CodeOf(err) != belfry.BadQuery || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s…: %v, want %q", lucene, err, want)
		}
	}
	phrase := func(n int) string { return `"` + strings.Repeat("a ", n) + `"` }
	f(phrase(query.MaxWords), "")
	f(phrase(query.MaxWords+1), "may have 30 words")
	f(strings.Repeat("a*", query.MaxWildcards), "")
	f(strings.Repeat("a*", query.MaxWildcards+1), "may have 30 wildcards")
	f(strings.Repeat("a", query.MaxPattern), "")
	f(strings.Repeat("a", query.MaxPattern+1), "may have 1000 bytes")
	f("app:*"+strings.Repeat("a", query.MaxPattern), "may have 1000 bytes")
	f(strings.Repeat("a ", query.MaxMatches-1), "") // and one in WHERE
	f(strings.Repeat("a ", query.MaxMatches), "100 words and phrases")
	f("app:("+strings.Repeat("a ", query.MaxTerms-3)+")", "") // beside id, _query_ and a
	f("app:("+strings.Repeat("a ", query.MaxTerms-2)+")", "more than 10000")
}

// TestNoTextInStatements: no text of any golden or of many random queries reaches a statement.
func TestNoTextInStatements(t *testing.T) {
	cat := load(t)
	all, err := querytest.All(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range all {
		n += checkQuery(t, c, cat)
	}
	for seed := range uint64(500) {
		n += checkQuery(t, &querytest.Case{
			Query:   querytest.Random(rand.New(rand.NewPCG(seed, 23))),
			Options: query.Options{Customer: querytest.Customer, Now: querytest.Now},
		}, cat)
		for _, c := range querytest.TextCollections() {
			fq := querytest.RandomLucene(rand.New(rand.NewPCG(seed, 29)), c)
			n += checkQuery(t, &querytest.Case{
				Query:   fmt.Sprintf("SELECT id FROM %s LIMIT 1", c),
				Options: query.Options{Customer: querytest.Customer, Now: querytest.Now, Filter: fq},
			}, cat)
		}
	}
	if n < 2000 {
		t.Errorf("only %d queries passed", n)
	}
}

func checkQuery(t *testing.T, c *querytest.Case, cat *catalog.Catalog) int {
	t.Helper()
	p, err := c.Plan(cat)
	if err != nil {
		return 0 // errors have their own tests
	}
	checkStatement(t, c.Query+" "+c.Options.Filter, p)
	return 1
}

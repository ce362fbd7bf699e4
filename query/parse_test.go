package query

import (
	"strings"
	"testing"

	"belfry"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameTree compares two queries, ignoring positions in the text.
var sameTree = cmp.Options{
	cmp.Comparer(func(Pos, Pos) bool { return true }),
	cmpopts.IgnoreUnexported(Select{}, LuceneExpr{}),
}

func TestPrint(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		s, err := Parse(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			return
		}
		if got := s.String(); got != want {
			t.Errorf("%s\nprints %s\nwant   %s", in, got, want)
		}
		again, err := Parse(want)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			return
		}
		if diff := cmp.Diff(s, again, sameTree); diff != "" {
			t.Errorf("%s: printed and parsed again it differs:\n%s", in, diff)
		}
	}
	f("select * from x", "SELECT * FROM x")
	f("SELECT a,b\tFROM\r\nx;", "SELECT a, b FROM x")
	f("SELECT count ( * ) AS n FROM x", "SELECT count(*) AS n FROM x")
	f("SELECT `odd name` AS `order` FROM `x`", "SELECT `odd name` AS `order` FROM x")
	f(`SELECT "a""b" FROM x`, "SELECT `a\"b` FROM x")
	f("SELECT `a``b` FROM x", "SELECT `a``b` FROM x")
	f("SELECT größe FROM x", "SELECT größe FROM x")
	f(`SELECT a FROM x WHERE a="it's"`, "SELECT a FROM x WHERE a = 'it''s'")
	f("SELECT a FROM x WHERE a!=-1.5e+3", "SELECT a FROM x WHERE a <> -1.5e+3")
	f("SELECT a FROM x WHERE a=+5", "SELECT a FROM x WHERE a = 5")
	f("SELECT a FROM x WHERE a=true and b=FALSE", "SELECT a FROM x WHERE a = true AND b = false")
	f("SELECT a FROM x WHERE ((a=1))", "SELECT a FROM x WHERE a = 1")
	f("SELECT a FROM x WHERE a=1 OR b=2 AND c=3", "SELECT a FROM x WHERE a = 1 OR b = 2 AND c = 3")
	f("SELECT a FROM x WHERE (a=1 OR b=2) AND c=3", "SELECT a FROM x WHERE (a = 1 OR b = 2) AND c = 3")
	f("SELECT a FROM x WHERE (a=1 AND b=2) AND c=3", "SELECT a FROM x WHERE (a = 1 AND b = 2) AND c = 3")
	f("SELECT a FROM x WHERE a=1 OR (b=2 OR c=3)", "SELECT a FROM x WHERE a = 1 OR (b = 2 OR c = 3)")
	f("SELECT a FROM x WHERE NOT a=1 AND NOT (b=2 OR NOT NOT c=3)", "SELECT a FROM x WHERE NOT a = 1 AND NOT (b = 2 OR NOT NOT c = 3)")
	f("SELECT a FROM x WHERE a is null or a is not null", "SELECT a FROM x WHERE a IS NULL OR a IS NOT NULL")
	f("SELECT a FROM x WHERE a in (1,'b') and a not in (2)", "SELECT a FROM x WHERE a IN (1, 'b') AND a NOT IN (2)")
	f("SELECT a FROM x WHERE a between 1 and 2 and b not between 3 and 4", "SELECT a FROM x WHERE a BETWEEN 1 AND 2 AND b NOT BETWEEN 3 AND 4")
	f("select distinct a,`b c` from x", "SELECT DISTINCT a, `b c` FROM x")
	f("SELECT percentile(a,95) AS p, COUNT(DISTINCT `*`), count(`*`), SUM(`order`) FROM x", "SELECT percentile(a, 95) AS p, COUNT(DISTINCT `*`), count(*), SUM(`order`) FROM x")
	f("SELECT timebucket(t,\"5m\") FROM x GROUP BY timebucket(t,'5m'),a,`group`", "SELECT timebucket(t, '5m') FROM x GROUP BY timebucket(t, '5m'), a, `group`")
	f("SELECT a FROM x GROUP BY a HAVING count(*)>1 and not (max(b) in (1,2) or c is null)", "SELECT a FROM x GROUP BY a HAVING count(*) > 1 AND NOT (max(b) IN (1, 2) OR c IS NULL)")
	f("SELECT a FROM x HAVING min(a) not between 1 and 2 ORDER BY max(a) desc, percentile(b,-1)", "SELECT a FROM x HAVING min(a) NOT BETWEEN 1 AND 2 ORDER BY max(a) DESC, percentile(b, -1) ASC")
	f("SELECT count, sum FROM x", "SELECT count, sum FROM x")
	f("SELECT a FROM x WHERE a like 'b%' and a not like \"c\\_\"", "SELECT a FROM x WHERE a LIKE 'b%' AND a NOT LIKE 'c\\_'")
	f("SELECT a FROM x WHERE _QUERY_='a b:it''s' OR a=1", "SELECT a FROM x WHERE _query_ = 'a OR b:it''s' OR a = 1")
	f("SELECT a FROM x order by a, b desc limit 5 offset 6", "SELECT a FROM x ORDER BY a ASC, b DESC LIMIT 5 OFFSET 6")
}

func TestParseLimits(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		_, err := Parse(in)
		if err == nil || belfry.CodeOf(err) != belfry.BadQuery || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s…: %v, want %q", in, err, want)
		}
	}
	where := "SELECT a FROM x WHERE "
	f(where+strings.Repeat("(", MaxDepth+1)+"a=1"+strings.Repeat(")", MaxDepth+1), "nested more than 100 deep")
	f(where+strings.Repeat("NOT ", MaxDepth+1)+"a=1", "nested more than 100 deep")
	f(where+"a=1"+strings.Repeat(" OR a=1", MaxTerms), "more than 10000")
	f(where+"a IN (1"+strings.Repeat(",1", MaxTerms)+")", "more than 10000")
	f("SELECT a"+strings.Repeat(",a", MaxTerms)+" FROM x", "more than 10000")
	f("SELECT a FROM x GROUP BY a"+strings.Repeat(",a", MaxTerms), "more than 10000")
	f(where+"a='"+strings.Repeat("x", MaxText)+"'", "the limit is 1048576")
	f("SELECT a FROM x WHERE a='\xff'", "UTF-8")
	f("SELECT a FROM x WHERE a='\x00'", "NUL")

	deepest := where + strings.Repeat("(", MaxDepth) + "a=1" + strings.Repeat(")", MaxDepth)
	if _, err := Parse(deepest); err != nil {
		t.Errorf("%d parentheses: %v", MaxDepth, err)
	}
}

// TestLinear counts the steps of the parser: ten times the text may take ten times the steps, and no more. The texts are
// hard for a parser.
func TestLinear(t *testing.T) {
	f := func(name string, text func(n int) string) {
		t.Helper()
		small, large := text(300), text(3000)
		_, few, _ := parse(small)
		_, many, _ := parse(large)
		if few == 0 || many > 11*few || many > 3*len(large) {
			t.Errorf("%s: %d steps for %d bytes, %d for %d", name, few, len(small), many, len(large))
		}
	}
	repeat := func(before, s, after string) func(int) string {
		return func(n int) string { return before + strings.Repeat(s, n) + after }
	}
	f("quotes", repeat("SELECT a FROM x WHERE a='", "''", "'"))
	f("open quotes", repeat("SELECT a FROM x WHERE a='", "''", ""))
	f("conditions", repeat("SELECT a FROM x WHERE a=1", " OR a=1", ""))
	f("values", repeat("SELECT a FROM x WHERE a IN (1", ",1", ")"))
	f("exponents", repeat("SELECT a FROM x WHERE a=1", "e+1", ""))
	f("blanks", repeat("SELECT", "  \t", "* FROM x"))
	f("functions", repeat("SELECT sum(a)", ",percentile(b,5)", " FROM x"))
	f("keys", repeat("SELECT a FROM x GROUP BY a", ",timebucket(t,'5m')", " HAVING a=1"))
	f("fields", repeat("SELECT a", ",`b`", " FROM x"))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "SELECT * FROM objectdata", "select a,`b c`,\"d\" from x where a='x''y' and b<>\"z\" or not (c is not null) order by a desc limit 1 offset 2;",
		"SELECT COUNT(*) AS n FROM x WHERE timestamp='[NOW-1HOUR TO NOW]'", "SELECT a FROM x WHERE a IN (1,-2.5e3,true) AND b NOT BETWEEN 'a' AND 'b'",
		"SELECT DISTINCT a, timebucket(t, '5m') AS b FROM x HAVING count(distinct `*`) > 1 ORDER BY percentile(a, 95) DESC",
		"SELECT sum(a), `sum`(a) FROM x GROUP BY b, c HAVING max(`*`) IS NULL", "SELECT ((((", "SELECT a FROM x WHERE a = 'open", "SELECT a -- x", "SELECT 1e", "SELECT .", "SELECT a FROM x WHERE a = --1", "\xff", "SELECT é FROM ` `",
		"SELECT a FROM x WHERE a LIKE 'b%' AND _query_='+a -b:\"c d\" f:[1 TO *}'",
		"SELECT ((((", "SELECT a FROM x WHERE a = 'open", "SELECT a -- x", "SELECT 1e", "SELECT .", "SELECT a FROM x WHERE a = --1", "\xff", "SELECT é FROM ` `",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, steps, err := parse(text)
		if steps > 3*len(text)+10 {
			t.Errorf("%d steps for %d bytes", steps, len(text))
		}
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadQuery {
				t.Errorf("%v is not an error for clients", err)
			}
			return
		}
		printed := s.String()
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if diff := cmp.Diff(s, again, sameTree); diff != "" {
			t.Fatalf("%q prints as %q, which is another query:\n%s", text, printed, diff)
		}
	})
}

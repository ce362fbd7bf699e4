package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// engineWords occur in what engines and the system say, and in no message of ours.
var engineWords = []string{
	" Error:", "Binder", "Catalog Error", "Parser Error", "Conversion Error", "Invalid Input", "duckdb", "DuckDB", "sqlite", "SQLite", "syntax error at",
	"Candidate", "LINE 1:", "read_csv", ".go:", "/tmp", "goroutine", "panic", "nil pointer", "strconv", "internal error", "VARCHAR", "UBIGINT", "customer",
}

// TestWrongQueries asks what cannot be answered: each time the client is told what is wrong and where, in our words.
func TestWrongQueries(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	key := p.key("agent", "readwrite")
	for _, req := range [][2]string{{"/api/provisioning/custom", "name\nweb01\n"}, {"/api/send", "type,resname,object,class,view,i1,log\ndata,web01,cpu,host,web01,1,\nlog,web01,cpu,,,,a;b\n"}} {
		if res := p.ask("POST", req[0], req[1], "X-Api-Key: "+key, "Content-Type: text/csv"); res.StatusCode != 200 {
			t.Fatalf("%s: %d %s", req[0], res.StatusCode, res.body)
		}
	}
	n := 0
	refused := func(code, place, q string, params ...string) {
		t.Helper()
		n++
		v := url.Values{"q": {q}}
		for i := 0; i+1 < len(params); i += 2 {
			v.Set(params[i], params[i+1])
		}
		res := p.ask("GET", "/api/sql?"+v.Encode(), "", "X-Api-Key: "+key)
		var body struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(res.body), &body); err != nil {
			t.Errorf("%q: %d %s is not an error body: %v", q, res.StatusCode, res.body, err)
			return
		}
		if res.StatusCode != 400 || body.Error.Code != code || !strings.Contains(body.Error.Message, place) {
			t.Errorf("%q: %d %s, want 400 %s at %s", q, res.StatusCode, res.body, code, place)
		}
		for _, word := range engineWords {
			if strings.Contains(body.Error.Message, word) && !strings.Contains(q, word) { // what the client wrote may come back
				t.Errorf("%q: the message says %q: %s", q, word, body.Error.Message)
			}
		}
	}
	syntax := func(marked string) { // the mark is where the error is
		t.Helper()
		before, after, ok := strings.Cut(marked, "»")
		if !ok {
			t.Fatalf("%q has no mark", marked)
		}
		line := before[strings.LastIndex(before, "\n")+1:]
		place := fmt.Sprintf("line %d, column %d: ", strings.Count(before, "\n")+1, utf8.RuneCountInString(line)+1)
		refused("bad_query", place, before+after)
	}
	parameter := func(name, value string) {
		t.Helper()
		refused("bad_parameter", name, "SELECT id FROM events LIMIT 1", name, value)
	}

	// no query at all
	refused("bad_parameter", "q", "")
	refused("bad_parameter", "q", " \n ")
	for _, q := range []string{
		"hello", "42", ";", "'SELECT'", "-- SELECT", "/* */ SELECT id FROM events", "(SELECT id FROM events LIMIT 1)",
		"WITH x AS (SELECT 1) SELECT * FROM x", "INSERT INTO events VALUES (1)", "DELETE FROM events", "DROP TABLE rows",
		"PRAGMA database_list", "ATTACH 'x.db' AS x", "COPY events TO 'x.csv'", "SET memory_limit='1TB'", "LOAD httpfs", "CALL pragma_version()",
		"VALUES (1)", "EXPLAIN SELECT id FROM events",
	} {
		syntax("»" + q)
	}

	// half a query, and one with too much
	syntax("SELECT»")
	syntax("SELECT *»")
	syntax("SELECT * FROM»")
	syntax("SELECT »FROM events")
	syntax("SELECT id,»")
	syntax("SELECT id »id FROM events LIMIT 1")
	syntax("SELECT *», id FROM events LIMIT 1")
	syntax("SELECT id FROM events LIMIT 1;\n»SELECT id FROM events LIMIT 1")
	syntax("SELECT id FROM events LIMIT 1 »UNION SELECT id FROM events")
	syntax("SELECT id FROM events LIMIT 1 »-- more")
	syntax("SELECT id FROM events», objectdata LIMIT 1")
	syntax("SELECT id FROM events »JOIN objectdata LIMIT 1")
	syntax("SELECT id FROM »(SELECT * FROM events) LIMIT 1")
	syntax("SELECT id FROM »'events' LIMIT 1")
	syntax("SELECT id FROM »'/etc/passwd' LIMIT 1")
	syntax("SELECT id FROM events LIMIT »1UNION")

	// names
	syntax("SELECT * FROM »nowhere LIMIT 1")
	syntax("SELECT * FROM »rows LIMIT 1")
	syntax("SELECT * FROM »information_schema LIMIT 1")
	syntax("SELECT * FROM »items LIMIT 1")
	syntax("SELECT * FROM »\"x.duckdb\" LIMIT 1")
	syntax("SELECT * FROM read_csv»('/etc/passwd')")
	syntax("SELECT * FROM main».rows LIMIT 1")
	syntax("SELECT »nothing FROM events LIMIT 1")
	syntax("SELECT »item FROM objectdata LIMIT 1")
	syntax("SELECT »i101 FROM objectdata LIMIT 1")
	syntax("SELECT »i0 FROM objectdata LIMIT 1")
	syntax("SELECT »c1 FROM objectdata LIMIT 1")
	syntax("SELECT »`a\"b` FROM events LIMIT 1")
	syntax("SELECT »getenv('HOME') FROM events LIMIT 1")
	syntax("SELECT »read_text('/etc/passwd') FROM events LIMIT 1")
	syntax("SELECT »version() FROM events LIMIT 1")
	syntax("SELECT id FROM events\nWHERE »nothing = 1 LIMIT 1")
	syntax("SELECT id AS größe, »gro FROM events LIMIT 1")
	syntax("SELECT id FROM events\nORDER BY\n\t»nothing LIMIT 1")
	syntax("SELECT id FROM events LIMIT 1\nOFFSET 1 »x")

	// values
	syntax("SELECT id FROM events WHERE status=»'9' LIMIT 1")
	syntax("SELECT id FROM syslog WHERE facility=»'x' LIMIT 1")
	syntax("SELECT id FROM events WHERE timestamp=»'yesterday' LIMIT 1")
	syntax("SELECT id FROM events WHERE timestamp=»'[NOW TO]' LIMIT 1")
	syntax("SELECT id FROM events WHERE timestamp=»'2026-13-45' LIMIT 1")
	syntax("SELECT id FROM events WHERE timestamp > »'NOW-1FORTNIGHT' LIMIT 1")
	syntax("SELECT id FROM events WHERE id=»'x' LIMIT 1")
	syntax("SELECT met FROM objectsl WHERE met=»'maybe' LIMIT 1")
	syntax("SELECT met FROM objectsl WHERE met < »true LIMIT 1")
	syntax("SELECT id FROM events WHERE info = »")
	syntax("SELECT id FROM events WHERE info=»'open")
	syntax("SELECT id FROM events WHERE info=»NULL LIMIT 1")
	syntax("SELECT id FROM events WHERE info=»user LIMIT 1")
	syntax("SELECT id FROM events WHERE info IN (») LIMIT 1")
	syntax("SELECT id FROM events WHERE info IN »'a' LIMIT 1")
	syntax("SELECT id FROM events WHERE info BETWEEN 'a' »LIMIT 1")
	syntax("SELECT id FROM events WHERE »1=1 LIMIT 1")
	syntax("SELECT id FROM events WHERE (info='a' »LIMIT 1")
	syntax("SELECT id FROM events LIMIT »-1")
	syntax("SELECT id FROM events LIMIT »all")
	syntax("SELECT id FROM events LIMIT »1000000")
	syntax("SELECT id FROM events LIMIT 1 OFFSET »x")

	// groups, patterns and Lucene
	syntax("SELECT »object, COUNT(*) FROM objectdata WHERE timestamp>'NOW-1DAY'")
	syntax("SELECT SUM(»object) FROM objectdata WHERE timestamp>'NOW-1DAY'")
	syntax("SELECT COUNT(*) FROM objectdata WHERE timestamp>'NOW-1DAY' GROUP BY »nothing")
	syntax("SELECT id FROM events WHERE status LIKE »'3' LIMIT 1")
	refused("bad_query", "in _query_, line 1, column 1: ", "SELECT id FROM events WHERE _query_='nothing:1' LIMIT 1")
	refused("bad_query", "in _query_, line 1, column 6: ", "SELECT id FROM events WHERE _query_='a AND' LIMIT 1")
	refused("bad_query", "in _query_, line 1, column 3: ", "SELECT id FROM events WHERE _query_='(a' LIMIT 1")
	refused("bad_query", "in _query_, line 1, column 2: fuzzy search", "SELECT id FROM events WHERE _query_='a~' LIMIT 1")
	refused("bad_query", "in fq, line 1, column 6: proximity search", "SELECT id FROM events LIMIT 1", "fq", `"a b"~2`)
	refused("bad_query", "in fq, line 1, column 6: regular expressions", "SELECT id FROM events LIMIT 1", "fq", "info:/a.*/")

	// spans and parameters
	refused("time_span_required", "timestamp", "SELECT id FROM events")
	refused("time_span_required", "timestamp", "SELECT COUNT(*) FROM objectdata")
	for _, rows := range []string{"0", "-1", "100001", "all", "1e3"} {
		parameter("rows", rows)
	}
	parameter("from", "never")
	parameter("to", "2026-02-30")
	parameter("span", "1 fortnight")
	parameter("wt", "xml")
	refused("bad_parameter", "after", "SELECT id FROM events", "rows", "1", "after", "there")
	parameter("unheard", "1")
	refused("bad_parameter", "span", "SELECT id FROM events", "from", "NOW", "to", "NOW-1HOUR")
	if n < 60 {
		t.Errorf("only %d wrong queries", n)
	}
}

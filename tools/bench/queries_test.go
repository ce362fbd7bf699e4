package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// dated reads bodies until there are no more, and gives their rows without headers; the second column is a time that
// never goes back.
func dated(t *testing.T, bodies func(int) ([]byte, int)) (rows [][]string, times []time.Time) {
	t.Helper()
	for {
		body, n := bodies(70)
		list, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		if err != nil || len(list) != n+1 || list[0][1] != "timestamp" {
			t.Fatalf("%d rows are said to be in a body of %d: %v", n, len(list), err)
		}
		if n == 0 {
			return rows, times
		}
		for _, row := range list[1:] {
			ms, err := strconv.ParseInt(row[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			at := time.UnixMilli(ms).UTC()
			if len(times) > 0 && at.Before(times[len(times)-1]) {
				t.Fatalf("row %q is older than the one before it", row)
			}
			rows, times = append(rows, row), append(times, at)
		}
	}
}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// TestStretches: every object has its rows, most of them on the day before, none after now.
func TestStretches(t *testing.T) {
	const objects = 110
	list := stretches(noon)
	rows, times := dated(t, stretchBodies(list, objects))
	if len(rows) != 100*objects || rowsOf(list, objects) != len(rows) {
		t.Fatalf("%d rows, %d are told", len(rows), rowsOf(list, objects))
	}
	byObject, byDay := map[string]int{}, map[int]int{}
	for i, row := range rows {
		byObject[row[3]]++
		byDay[times[i].Day()]++
	}
	if len(byObject) != objects || byObject["obj0000109"] != 100 {
		t.Errorf("%d objects, one has %d rows", len(byObject), byObject["obj0000109"])
	}
	if len(byDay) != 3 || byDay[14] != 58*objects || byDay[15] != 21*objects || times[len(times)-1].After(noon) {
		t.Errorf("rows by day: %v, the last at %v", byDay, times[len(times)-1])
	}
}

// TestDays: every day has its rows, the steady object some of each, the early one ten of the first alone.
func TestDays(t *testing.T) {
	const days = 25
	rows, times := dated(t, dayBodies(noon, days))
	byDay, early, steady := map[string]int{}, map[string]int{}, map[string]int{}
	for i, row := range rows {
		at := times[i].Format(time.DateOnly)
		byDay[at]++
		switch row[3] {
		case "obj0000000":
			steady[at]++
		case "obj0000001":
			early[at]++
		}
	}
	if len(byDay) != days || len(rows) != days*dayRows || len(steady) != days || steady["2026-11-03"] != steadyRows {
		t.Errorf("days %v, the steady object's %v", byDay, steady)
	}
	if len(early) != 1 || early["2026-10-22"] < 10 || times[len(times)-1].After(noon) {
		t.Errorf("the early object has rows on %v", early)
	}
}

// TestStory: lines of the promised lengths, for the objects in turn, with the words that are asked for.
func TestStory(t *testing.T) {
	const lines = 20_000
	rows, times := dated(t, newStory(noon.Truncate(day), lines).bodies)
	if len(rows) != lines || times[0].Day() != 15 || times[lines-1].Day() != 15 {
		t.Fatalf("%d lines from %v to %v", len(rows), times[0], times[len(times)-1])
	}
	words, phrases, with := map[string]int{}, 0, 0
	for i, row := range rows {
		if row[0] != "log" || row[3] != fmt.Sprintf("obj%07d", i%logObjects) {
			t.Fatalf("row %d is %q", i, row)
		}
		text := row[4]
		if len(text) < 85 || len(text) > 150 || strings.TrimSpace(text) != text {
			t.Fatalf("%d characters: %q", len(text), text)
		}
		for _, w := range strings.Fields(text) {
			words[w]++
		}
		if strings.Contains(text, phrase) {
			phrases++
		}
		if strings.Contains(text, prefix) {
			with++
		}
	}
	if words[rareWord] != rareLines || words[commonWord] < lines/20 || phrases < lines/2000 || with <= phrases {
		t.Errorf("rare %d, common %d, phrase %d, prefix %d", words[rareWord], words[commonWord], phrases, with)
	}
	if words["request"] < 10*words["merged"] || len(words) < 1000 {
		t.Errorf("%d words; the first comes %d times, the 24th %d times", len(words), words["request"], words["merged"])
	}
}

// TestPut: a refused query and an answer that is not as it must be are errors, not figures.
func TestPut(t *testing.T) {
	f := func(status int, body string, q question, want string) {
		t.Helper()
		a, err := stand(t, status, body).put(t.Context(), q, scale{runs: 2, most: 1})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(a.total, " in ", a.bytes)
			if a.Runs < 2 || a.P50 <= 0 || a.P99 < a.P50 || a.Max < a.P99 {
				t.Errorf("times do not fit: %+v", a)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{rows: 2, sum: "n"}, "3.5 in 28")
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{}, "0 in 28")
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{rows: 3}, "2 rows, expected 3")
	f(200, `{"rows":[{"n":1.5},{"m":2}]}`, question{sum: "n"}, "without the number n")
	f(200, `{"rows":[]}`, question{}, "0 rows")
	f(200, `{"ro`, question{}, "no JSON")
	f(400, `{"error":"say it otherwise"}`, question{name: "means", sql: "SELECT"}, `means: 400 {"error":"say it otherwise"}; asked was: SELECT`)
	f(200, `{"rows":[{"n":"`+strings.Repeat("x", 100_000)+`"}]}`, question{rows: 1}, "0 in 100")
}

func TestMore(t *testing.T) {
	f := func(runs int, seconds float64, want bool) {
		t.Helper()
		if got := (scale{runs: 20, each: 1, most: 12}).more(runs, seconds); got != want {
			t.Errorf("after %d runs and %v s: %v", runs, seconds, got)
		}
	}
	f(0, 0, true)
	f(19, 2, true)
	f(20, 2, false)
	f(20, 0.9, true)
	f(500, 0.1, false)
	f(5, 12, false)
	f(4, 100, true)
}

// TestRequest: what the server gets is what the question says.
func TestRequest(t *testing.T) {
	got := make(chan *http.Request, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		io.WriteString(w, "{}")
	}))
	defer h.Close()
	c, err := newAsker(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	q := question{sql: "SELECT 'a&b' FROM x", params: within(noon, noon.Add(time.Hour), 7)}
	if status, body, err := c.ask(q.request("secret")); err != nil || status != 200 || string(body) != "{}" {
		t.Fatal(status, body, err)
	}
	r := <-got
	v := r.URL.Query()
	if v.Get("q") != q.sql || v.Get("rows") != "7" || v.Get("from") != "2026-11-15T12:00:00.000000Z" || v.Get("to") != "2026-11-15T12:59:59.999999Z" ||
		r.Header.Get("x-api-key") != "secret" {
		t.Errorf("got %v", v)
	}
}

// TestBeside: the clients ask until the end, and what was refused does not count as answered.
func TestBeside(t *testing.T) {
	const last = 11
	n, end := 0, make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == last {
			close(end)
		}
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		io.WriteString(w, "{}")
	}))
	defer h.Close()
	requests := [][]byte{[]byte("GET /yes HTTP/1.1\r\nHost: a\r\n\r\n"), []byte("GET /no HTTP/1.1\r\nHost: a\r\n\r\n")}
	var c tally
	if err := askOn(h.Listener.Addr().String(), requests, 1, end, &c); err != nil {
		t.Fatal(err)
	}
	r := &beside{tallies: []tally{c}, seconds: 2}
	r.sum()
	if n != last || r.Runs != 5 || r.refused != 6 || r.answers != 2.5 || r.example != "429 {}" {
		t.Errorf("of %d questions: %+v", n, r)
	}
}

// TestFilterFiles: what is in the way of filters does not count as one, and a wait ends when nothing grows.
func TestFilterFiles(t *testing.T) {
	data := t.TempDir()
	f := func(want int64) {
		t.Helper()
		if late, err := waitFilters(t.Context(), data); err != nil || late < 0 {
			t.Errorf("after %v s: %v", late, err)
		}
		if got, err := filterSize(data); err != nil || got != want {
			t.Errorf("got %d, want %d, %v", got, want, err)
		}
	}
	if err := preventFilters(data, noon); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(data, "rows", "objectlog", "2026-11-15.duckdb.tokens")
	if err := os.Remove(folder); err == nil {
		t.Error("what is in the way can be removed")
	}
	f(0)
	if err := os.WriteFile(filepath.Join(filepath.Dir(folder), "2026-11-14.duckdb.tokens"), make([]byte, 123), 0o600); err != nil {
		t.Fatal(err)
	}
	f(123)
	if _, err := waitFilters(canceled(), data); err == nil {
		t.Error("a wait does not end with its context")
	}
}

// TestQueryPage: hits and misses of queries, of ratios, and of the load beside them.
func TestQueryPage(t *testing.T) {
	ask := func(q question, p50, before, after float64) *asked {
		a := &asked{question: q, timing: timing{P50: p50, P99: 2 * p50, Max: 3 * p50, Runs: 20}, bytes: 1500}
		if before > 0 {
			a.before, a.after = &marked{timing: timing{P50: before}}, &marked{timing: timing{P50: after}}
		}
		return a
	}
	m := func(rows int) *measured { return &measured{outcome: outcome{Rows: rows}, visible: 1} }
	r := results{queried: &queried{
		scale: scale{objects: 100_000, lines: 10_000_000, days: 400}, rows: 10_000_000, day: 5_800_000,
		many: []*asked{
			ask(question{name: "means", sql: "SELECT means", target: 90, mean: true}, 89, 60, 80),
			ask(question{name: "all", sql: "SELECT all", mean: true}, 131, 100, 100),
			ask(question{name: "word", sql: "SELECT word", target: 40}, 40, 10, 10),
		},
		days:     []*asked{ask(question{name: "last", target: 10}, 9, 0, 0)},
		beside:   &beside{turns: turns{m(900), m(798), m(1000), m(800), m(1100)}, answers: 12.34, refused: 3, example: "429 wait"},
		filtered: &filtered{turns: turns{m(1000), m(901), m(800), m(899), m(900)}, rows: 900, size: 2250, late: 0.35}, indexed: 1.25,
	}}
	r.options.many = 1_000_000
	r.many = &manyObjects{register: m(1), bulk: m(1), status: ask(question{name: "values", target: 0.5}, 0.4, 0, 0)}
	page := r.page()
	for _, want := range []string{
		"| means, p50 | < 90 ms | 89.00 ms | hit |",
		"| word, p50 | < 40 ms | 40.00 ms | **miss** |",
		"| last, p50 | < 10 ms | 9.00 ms | hit |",
		"| values, 1,000,000 objects, p50 | < 0.5 ms | 0.40 ms | hit |",
		"| means, of the same by hand | ≤ 1.3 × | 1.27 × | hit |",
		"| all, of the same by hand | ≤ 1.3 × | 1.31 × | **miss** |",
		"| bulk send beside 8 query clients, of its rate alone | ≥ 80 % | 79.9 % | **miss** |",
		"| log ingest with token filters, of its rate without | ≥ 80 % | 100.0 % | hit |",
		"They took 2.5 bytes per line, and were complete 0.3 s", "complete 1.2 s after the last of the 10,000,000 lines",
		"| means | 89.00 | 178.00 | 267.00 | 20 | 1.5 | 60.00 / 80.00 | 1.27 |",
		"| last | 9.00 | 18.00 | 27.00 | 20 | 1.5 | – | – |",
		"SELECT means\nSELECT all\n",
		"Meanwhile 12.3 queries/s", "3 were refused. One of them: `429 wait`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"word, of the same by hand", "NaN", "Inf", "%!"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

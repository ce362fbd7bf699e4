package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
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
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{Rows: 2, Sum: "n"}, "3.5 in 28")
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{}, "0 in 28")
	f(200, `{"rows":[{"n":1.5},{"n":2}]}`, question{Rows: 3}, "2 rows, expected 3")
	f(200, `{"rows":[{"n":1.5},{"m":2}]}`, question{Sum: "n"}, "without the number n")
	f(200, `{"rows":[]}`, question{}, "0 rows")
	f(200, `{"ro`, question{}, "no JSON")
	f(200, `{"rows":[{"s":2},{"s":1}]}`, question{Only: [2]string{"s", "2"}}, "s is 1, expected 2")
	f(400, `{"error":"say it otherwise"}`, question{Name: "means", SQL: "SELECT"}, `means: 400 {"error":"say it otherwise"}; asked was: SELECT`)
	f(200, `{"rows":[{"n":"`+strings.Repeat("x", 100_000)+`"}]}`, question{Rows: 1}, "0 in 100")
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
	c, err := dial(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	q := question{SQL: "SELECT 'a&b' FROM x", Params: within(noon, noon.Add(time.Hour), 7)}
	if status, body, err := c.do(q.request("secret")); err != nil || status != 200 || string(body) != "{}" {
		t.Fatal(status, body, err)
	}
	r := <-got
	v := r.URL.Query()
	if v.Get("q") != q.SQL || v.Get("rows") != "7" || v.Get("from") != "2026-11-15T12:00:00.000000Z" || v.Get("to") != "2026-11-15T12:59:59.999999Z" ||
		r.Header.Get("x-api-key") != "secret" {
		t.Errorf("got %v", v)
	}
}

// stand is a server that gives one answer, in this process.
func stand(t *testing.T, status int, body string) *server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(h.Close)
	return &server{addr: h.Listener.Addr().String(), key: "k"}
}

// TestQuestions: every query of the benchmark is one that the program takes, so that it is not found out after minutes.
func TestQuestions(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := &dataset{scale: scale{objects: 100_000, lines: 10_000_000, days: 400}, now: noon}
	list := append(e.questions(), e.dayQuestions()...)
	for _, j := range (&bench{options: options{objects: 100_000}}).askingJobs(noon, 5000) {
		list = append(list, j.Questions...)
	}
	for _, q := range list {
		o := query.Options{Customer: 1, Now: belfry.At(noon), Rows: 10}
		for name, into := range map[string]*belfry.Time{"from": &o.From, "to": &o.To} {
			if text := q.Params.Get(name); text != "" {
				if *into, err = query.ParseTime(text, o.Now, time.UTC); err != nil {
					t.Errorf("%s: %v", q.Name, err)
				}
			}
		}
		if rows := q.Params.Get("rows"); rows != "" {
			if o.Rows, err = query.ParseRows(rows); err != nil {
				t.Errorf("%s: %v", q.Name, err)
			}
		}
		text, err := query.Parse(q.SQL)
		if err == nil {
			_, err = query.Check(text, cat, o)
		}
		if err != nil {
			t.Errorf("%s: %v; asked is: %s", q.Name, err, q.SQL)
		}
		if q.Rows > o.Rows {
			t.Errorf("%s: %d rows are expected of %d", q.Name, q.Rows, o.Rows)
		}
	}
}

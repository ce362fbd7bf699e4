package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestForms: every form of a body says the same rows, under the media type of that form.
func TestForms(t *testing.T) {
	const rows = 300
	want, err := csv.NewReader(bytes.NewReader(formBody(t, formCSV, rows, "text/csv"))).ReadAll()
	if err != nil || len(want) != rows+1 {
		t.Fatal(len(want), err)
	}
	f := func(got []map[string]any) {
		t.Helper()
		if len(got) != rows {
			t.Fatalf("%d rows", len(got))
		}
		for i, row := range got {
			for c, name := range want[0] {
				if text := fmt.Sprint(row[name]); text != want[i+1][c] || len(row) != len(want[0]) {
					t.Fatalf("row %d is %v, as CSV %q", i, row, want[i+1])
				}
			}
		}
	}
	decode := func(d *json.Decoder, to any) {
		t.Helper()
		d.UseNumber()
		if err := d.Decode(to); err != nil {
			t.Fatal(err)
		}
	}
	var array []map[string]any
	decode(json.NewDecoder(bytes.NewReader(formBody(t, formJSON, rows, "application/json"))), &array)
	f(array)
	var list []map[string]any
	for line := range bytes.Lines(formBody(t, formNDJSON, rows, "application/x-ndjson")) {
		var row map[string]any
		decode(json.NewDecoder(bytes.NewReader(line)), &row)
		list = append(list, row)
	}
	f(list)
}

// formBody is the first body that the sender makes ready in a form, taken out of its request.
func formBody(t *testing.T, f form, rows int, media string) []byte {
	t.Helper()
	requests := prepare(job{Path: "/x", Key: "k", Objects: 100, Rows: rows, Seconds: 0.001, Form: f})
	if len(requests) == 0 {
		t.Fatal("no request")
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(requests[0])))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != media {
		t.Fatal(err, r.Header)
	}
	return body
}

// TestLogLines: rows a CSV reader takes, for objects in turn, each text of the length that is told and unlike the others.
func TestLogLines(t *testing.T) {
	const objects = 120
	l := newLogLines(objects)
	seen := map[string]bool{}
	for range 3 {
		rows, err := csv.NewReader(bytes.NewReader(l.body(nil, objects))).ReadAll()
		if err != nil || len(rows) != objects+1 {
			t.Fatal(len(rows), err)
		}
		for i, row := range rows[1:] {
			if row[0] != "log" || row[1] != fmt.Sprintf("res%05d", i/perResource) || row[2] != fmt.Sprintf("obj%07d", i) {
				t.Fatalf("row %d is %q", i, row)
			}
			if text := row[3]; len(text) != lineBytes || strings.TrimSpace(text) != text || seen[text] {
				t.Fatalf("text %q, %d bytes", text, len(text))
			}
			seen[row[3]] = true
		}
	}
}

// TestPingBodies: names and addresses are all different, no address leaves the machine, and the removal names every view.
func TestPingBodies(t *testing.T) {
	read := func(body []byte) [][]string {
		t.Helper()
		rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	const n = 70_000
	views, seen := map[string]int{}, map[string]bool{}
	for _, row := range read(pingResources(n)) {
		addr, err := netip.ParseAddr(row[1])
		if err != nil || !addr.IsLoopback() || seen[row[0]] || seen[row[1]] {
			t.Fatalf("row %q: %v", row, err)
		}
		seen[row[0]], seen[row[1]] = true, true
		views[row[2]]++
	}
	names, removal := read(pingViewNames()), read(pingRemoval())
	if len(views) != pingViews || len(names) != pingViews || len(removal) != pingViews {
		t.Fatal(len(views), len(names), len(removal))
	}
	for i, row := range removal {
		if row[0] != "*" || row[1] != names[i][0] || views[row[1]] != n/pingViews {
			t.Fatalf("row %q, %d resources there", row, views[row[1]])
		}
	}
}

// stand is a server that gives one answer, in this process.
func stand(t *testing.T, status int, body string) *server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			io.WriteString(w, "belfry_backlog_rows 0\nbelfry_backlog_records 0\n")
			return
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(h.Close)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	addr := h.Listener.Addr().String()
	return &server{addr: addr, admin: addr, key: "k", cmd: &exec.Cmd{Process: self}}
}

// TestSteps: a report or an export that is not exactly as it must be is an error, not a figure.
func TestSteps(t *testing.T) {
	f := func(report string, want bool) {
		t.Helper()
		st := step{}
		err := stand(t, 200, report).step(t.Context(), &st, http.MethodPost, []byte("name\na\nb\n"), verdict{Accepted: 2, Unchanged: 2})
		if (err == nil) != want || (want && (st.seconds <= 0 || st.peak <= 0 || st.bytes != 9)) {
			t.Errorf("%s: %v, %+v", report, err, st)
		}
	}
	f(`{"rows":2,"accepted":2,"unchanged":2,"updated":0,"created":{"resources":0}}`, true)
	f(`{"rows":2,"accepted":2,"unchanged":1,"updated":1}`, false)
	f(`{"rows":2,"accepted":2,"unchanged":2,"created":{"views":1}}`, false)
	f(`{"rows":2,"accepted":1,"rejected":1,"unchanged":2}`, false)
	f(`no report`, false)
	g := func(export string, want bool) {
		t.Helper()
		if _, err := stand(t, 200, export).export(t.Context(), &step{}, 1); (err == nil) != want {
			t.Errorf("%q: %v", export, err)
		}
	}
	g("name\na\n", true)
	g("name\n", false)
	g("name\na\nb\n", false)
}

// TestMissingEndpoints: what the server does not have yet is told apart from what went wrong.
func TestMissingEndpoints(t *testing.T) {
	f := func(status int, taken, fails bool) {
		t.Helper()
		got, err := stand(t, status, "{}").takes(t.Context(), formJSON)
		if got != taken || (err != nil) != fails {
			t.Errorf("%d: %v, %v", status, got, err)
		}
	}
	f(200, true, false)
	f(415, false, false)
	f(400, false, true)
	paths := legacyPaths(queryPath, "secret", 1, 1)
	if err := stand(t, 200, "{}").knows(t.Context(), paths); err != nil {
		t.Error(err)
	}
	err := stand(t, 404, "{}").knows(t.Context(), paths)
	if err == nil || !strings.Contains(err.Error(), "does not know /d") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// TestWayPage: hits and misses of the ways in, and what was not supported, are told as that.
func TestWayPage(t *testing.T) {
	m := func(rows int, visible float64) *measured {
		return &measured{outcome: outcome{Rows: rows, Bodies: 10, End: time.Time{}.Add(time.Second)}, visible: visible, cost: cost{profile: "where it goes"}}
	}
	wrk := func(rate int, p99 float64) *wrkOutcome { return &wrkOutcome{requests: rate, seconds: 1, p99: p99} }
	r := results{
		formats:     []formResult{{formCSV, m(1000, 1)}, {formJSON, m(1000, 2)}, {formNDJSON, nil}},
		provisioned: &provisioned{resources: 100_000, create: step{seconds: 9.5}, export: step{seconds: 1}, resend: step{seconds: 1}, remove: step{seconds: 1}},
		registered: []*registered{
			{registering{100_000, 1000, 16}, []*measured{m(100_000, 2), m(100_000, 1), m(100_000, 0.5)}},
			{registering{100_000, 10_000, 16}, []*measured{m(130_000, 1)}},
		},
		legacy: &legacyResult{plain: wrk(80_000, 1), before: wrk(60_000, 1), server: wrk(25_000, 19.9), after: wrk(40_000, 1), stored: 25_000, cost: cost{profile: "there"}},
		logs:   &logResult{load: m(250_000, 1), disk: disk{rows: 10_000_000}},
	}
	page := r.page()
	for _, want := range []string{
		"| 100,000 resources in one call, until the answer | < 10 s | 9.50 s | hit |",
		"| … their export sent back | all unchanged | all 100,000 unchanged | hit |",
		"1,000-row bodies, rows/s | ≥ 120,000 | 100,000 | **miss** |",
		"10,000-row bodies, rows/s | ≥ 120,000 | 130,000 | hit |",
		"| ≥ 45 % | 50 % (of the one that does not read the query: 31 %) | hit |",
		"| `/d`, p99 | < 20 ms | 19.9 ms | hit |",
		"| ≥ 200,000 | 250,000 | hit |",
		"| 100,000 (50,000 – 200,000) |",
		"| JSON | 500 | 50 % |",
		"| NDJSON | not supported |",
		"| 40.0 (rows 40.0, journal 0.0) |",
		"## Profile: registering, 1,000-row bodies",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"## Profile: registering, 10,000", "## Profile: `/d`", "## Profile: log lines", "## Targets\n", "NaN", "%!"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	r.legacy.server.p99 = 20
	if page := r.page(); !strings.Contains(page, "20.0 ms | **miss** |") || !strings.Contains(page, "## Profile: `/d`") {
		t.Error("a p99 of 20 ms is not told as a miss")
	}
}

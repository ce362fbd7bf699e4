package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPublished: the page in docs is the one that the results beside it make.
func TestPublished(t *testing.T) {
	text, err := os.ReadFile("../../docs/benchmarks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	r, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, want) {
		t.Error("docs/benchmarks.md is not what its results make; run: bin/bench -page docs/benchmarks.jsonl -out docs/benchmarks.md")
	}
}

// TestResults: what is written can be read.
func TestResults(t *testing.T) {
	r := &results{run: described{Machine: "two cores", Objects: 5}}
	r.add(limitsPart, appenderLimit, "rate", "rows/s", 2e6)
	r.add("bulk", bulkLoad, "rate", "rows/s", 1e6+1.0/3)
	r.explain("all of them")
	text, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"part":"bulk","of":"10,000-row bodies, 4 clients","name":"rate","unit":"rows/s","value":1000000.333,` +
		`"text":"all of them"}`
	if lines := strings.Split(string(text), "\n"); len(lines) != 4 || lines[2] != want {
		t.Errorf("got %s", text)
	}
	again, err := decode(text)
	if err != nil || again.run != r.run || len(again.figures) != 2 || again.figures[1].Value != 1000000.333 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := decode(append(text, "{"...)); err == nil {
		t.Error("a line that breaks off was taken")
	}
}

// TestPage: a miss is told as one, and what was not measured is not spoken of.
func TestPage(t *testing.T) {
	r := &results{}
	r.add(limitsPart, appenderLimit, "rate", "rows/s", 2e6)
	r.add("bulk", bulkLoad, "rate", "rows/s", 1e6)
	r.add("bulk", bulkLoad, "peak memory", "MiB", 600)
	r.add(limitsPart, httpLimit(1), "rate", "requests/s", 20_000)
	r.add(limitsAfter, httpLimit(1), "rate", "requests/s", 20_000)
	r.add("single", "single rows, 1 clients", "rate", "rows/s", 10_000)
	r.addSent(mixedPart, oneClient, &measured{
		outcome: outcome{Rows: 900, P50: 1, P99: 4.5, Max: 60, Late: 0.25, Waited: 7},
		job:     job{Rows: 1, Rate: 100, Seconds: 10},
	})
	r.add("bulk", "stopped", "all", "bytes/value", 3.2)
	r.add(limitsAfter, appenderLimit, "rate", "rows/s", 1e6)
	lossy := &flooded{flood: flood{Seconds: 1}, stored: 500, account: account{"kept": 499, "dropped kernel": 499}}
	lossy.Rows = 1000
	r.addFlood("syslog, UDP, as fast as it goes", lossy)
	text, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, want := range []string{
		"| bulk send, rows/s | ≥ 1,300,000 | 1,000,000 | **miss** |\n| … as a share of the bare appender | ≥ 45 % | 67 % | hit |\n",
		"| < 600 MiB | 600 MiB | **miss** |",
		"| ≤ 3 | 3.20 | **miss** |",
		"| exactly | 1,000 = 500 + 499, 1 missing; the receiver says that it kept 499 | **miss** |",
		"| 10,000-row bodies, 4 clients | 1,000,000 | – / – / – |",
		"| kernel 499 | 1 |",
		"| single rows, 1 client, as a share of the bare net/http | ≥ 40 % | 50 % | hit |",
		"| objectstatus of one object beside all other clients, p99 | < 5 ms | 4.5 ms | hit |",
		"| objectstatus, one object | 100 | 90 | 1.00 / 4.50 / 60 | 0 | 0.25 | 7 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"start until ready", "## Queries", "## Log lines", "## Half of the rate", "kill -9 until", "random digits,", "NaN", "%!", "<no value>"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

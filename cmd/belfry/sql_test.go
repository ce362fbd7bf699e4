package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestGrid(t *testing.T) {
	f := func(width int, csv, want string) {
		t.Helper()
		g := grid{width: width}
		if err := g.read(strings.NewReader(csv)); err != nil {
			t.Fatal(err)
		}
		got := g.String()
		if got != strings.TrimPrefix(want, "\n") {
			t.Errorf("%q in %d columns:\n%s", csv, width, got)
		}
		for line := range strings.Lines(got) {
			if w := widthOf(line); width > 0 && w > width {
				t.Errorf("%q has %d columns", line, w)
			}
		}
	}
	f(0, "name,i1\n", `
name  i1
----  --
`)
	f(0, "name,i1,status\ncpu,1.5,0\nmemory,,3\ndisk,-200,-\n", `
name      i1  status
------  ----  ------
cpu      1.5  0
memory        3
disk    -200  -
`)
	f(0, "log\n\"a\nb\tc\x1b[31m\"\n", `
log
----------
a↵b c?[31m
`)
	f(0, "n,m\n名前,1\nabc,2\n", `
n     m
----  -
名前  1
abc   2
`)
	f(20, "name,text\nweb01,lorem ipsum dolor sit amet\n", `
name   text
-----  -------------
web01  lorem ipsum …
`)
	f(8, "aaaaaaaaaa,bbbbbbbbbb\n1,2\n", `
aaaaa…
------
     1
`)
}

func widthOf(line string) int { return width(strings.TrimSuffix(line, "\n")) }

func TestGridHeight(t *testing.T) {
	g := grid{height: 6}
	if err := g.read(strings.NewReader("a\n" + strings.Repeat("x\n", 10))); err != nil {
		t.Fatal(err)
	}
	if got := g.String(); got != "a\n-\nx\nx\nx\n… 7 more rows do not fit\n" {
		t.Errorf("%s", got)
	}
}

func TestPointAt(t *testing.T) {
	f := func(text string, row, column int, want string) {
		t.Helper()
		if got, ok := pointAt(text, row, column); got != want || ok != (want != "") {
			t.Errorf("%q %d %d: %v\n%s", text, row, column, ok, got)
		}
	}
	f("SELECT x", 1, 8, "  SELECT x\n         ^")
	f("SELECT x", 1, 9, "  SELECT x\n          ^")
	f("a\n\tbé\x1b\r\nc", 2, 3, "   bé?\n    ^")
	f("a", 2, 1, "")
	f("a", 1, 3, "")
	f("a", 0, 0, "")
	long := strings.Repeat("a", 100) + "!" + strings.Repeat("b", 100)
	f(long, 1, 101, "  …"+strings.Repeat("a", 60)+"!"+strings.Repeat("b", 59)+"…\n"+strings.Repeat(" ", 63)+"^")
}

// TestWatchSurvives: a server that is away for a while is told of and asked again; a refusal ends the watch.
func TestWatchSurvives(t *testing.T) {
	newShell(t)
	rounds := 0
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		rounds++
		io.Copy(io.Discard, r.Body)
		switch rounds {
		case 1, 4:
			fmt.Fprintf(w, "round\n%d\n", rounds)
		case 2:
			panic(http.ErrAbortHandler)
		case 3:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			io.WriteString(w, `{"error":{"code":"storage_unavailable","message":"the service is starting"}}`)
		default:
			w.WriteHeader(401)
			io.WriteString(w, `{"error":{"code":"invalid_key","message":"no such key"}}`)
		}
	}))
	defer srv.Close()
	var out, errs bytes.Buffer
	if code := run([]string{"sql", "--url", srv.URL, "--watch", "100ms", "--format", "csv", "SELECT round"}, &out, &errs); code != 1 {
		t.Errorf("exit status %d", code)
	}
	got := out.String()
	if strings.Count(got, "-- 20") != 2 || !strings.Contains(got, "round\n1\n") || !strings.Contains(got, "round\n4\n") {
		t.Errorf("shown:\n%s", got)
	}
	for _, want := range []string{"trying again every 100ms", "the service is starting", "no such key (status 401 invalid_key)"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q is not in:\n%s", want, errs.String())
		}
	}
}

// TestBrokenTable: an answer that breaks off is not shown as if it were whole.
func TestBrokenTable(t *testing.T) {
	s := newShell(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "name\na\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	for _, form := range []string{"table", "csv", "json"} {
		s.run(1, "sql", "--url", srv.URL, "--format", form, "SELECT name")
		s.shows(s.err, "was cut off")
		if form == "table" && s.out != "" {
			t.Errorf("shown: %s", s.out)
		}
	}
}

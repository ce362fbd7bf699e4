package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAllPages: the pages of an answer become one, and one that is not known to be whole is not taken for it.
func TestAllPages(t *testing.T) {
	s := newShell(t)
	type page struct{ text, more, next string }
	var pages []page // each after the one before
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, given := r.PostFormValue("after"), r.PostForm.Has("after")
		n := 0
		fmt.Sscanf(after, "page %d", &n)
		if !given || n >= len(pages) || r.PostFormValue("rows") == "" {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"code":"bad_parameter","message":"asked in the wrong way"}}`)
			return
		}
		w.Header().Set("X-Limit", "2")
		if pages[n].more != "" {
			w.Header().Set("Trailer", "X-More, X-Next")
		}
		io.WriteString(w, pages[n].text[:len(pages[n].text)/2])
		w.(http.Flusher).Flush()
		io.WriteString(w, pages[n].text[len(pages[n].text)/2:])
		if pages[n].more != "" {
			w.Header().Set("X-More", pages[n].more)
			w.Header().Set("X-Next", pages[n].next)
		}
	}))
	defer srv.Close()
	f := func(code int, form, out, err string, list ...page) {
		t.Helper()
		pages = list
		s.run(code, "sql", "--url", srv.URL, "--all", "--format", form, "SELECT a")
		if code == 0 && s.out != out {
			t.Errorf("%s: written:\n%s, want\n%s", form, s.out, out)
		}
		if s.shows(s.err, err); err == "" && s.err != "" {
			t.Errorf("%s: told:\n%s", form, s.err)
		}
	}
	const head = "\"a\"\"\n,\",b\n"
	f(0, "csv", head+"1,\"\n\"\n2,\"x\"\"\n\"\n3,\n", "", page{head + "1,\"\n\"\n2,\"x\"\"\n\"\n", "true", "page 1"}, page{head + "3,\n", "false", ""})
	f(0, "csv", head, "", page{head, "false", ""})
	f(0, "ndjson", "{\"a\":1}\n{}\n{\"a\":3}\n", "", page{"{\"a\":1}\n{}\n", "true", "page 1"}, page{"{\"a\":3}\n", "false", ""})
	f(0, "json", `{"rows":[{"a":1},{},{"a":"}{"}],"count":3,"more":false}`+"\n", "", page{"{\"a\":1}\n{}\n", "true", "page 1"}, page{"{\"a\":\"}{\"}\n", "false", ""})
	f(0, "json", `{"rows":[],"count":0,"more":false}`+"\n", "", page{"", "false", ""})
	// A proxy drops the trailers: with fewer rows than there might be it was all, otherwise nobody knows.
	f(0, "csv", "a\n1\n", "", page{"a\n1\n", "", ""})
	f(1, "csv", "", "no trailer X-More", page{"a\n\"1\n\"\n2\n", "", ""})
	f(1, "ndjson", "", "no trailer X-More", page{"{}\n{}\n", "", ""})
	f(1, "csv", "", "the result is cut after 2 rows", page{"a\n1\n2\n", "true", ""})
	for _, wrong := range [][]string{{"--watch", "5s"}, {"--explain"}, {"--format", "table"}} {
		s.run(2, append([]string{"sql", "--all", "SELECT a"}, wrong...)...)
		s.shows(s.err, "--all writes rows once")
	}
}

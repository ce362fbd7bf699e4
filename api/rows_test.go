package api

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/api/encode"
	"belfry/query"
)

// table is rows in memory.
type table struct {
	names []string
	rows  [][]belfry.Value
	err   error // instead of the end
}

func (t *table) Columns() (cols []query.Output) {
	for _, n := range t.names {
		cols = append(cols, query.Output{Name: n})
	}
	return cols
}

func (t *table) Next() ([]belfry.Value, error) {
	if len(t.rows) == 0 {
		if t.err != nil {
			return nil, t.err
		}
		return nil, io.EOF
	}
	row := t.rows[0]
	t.rows = t.rows[1:]
	return row, nil
}

func (t *table) Close() error { return nil }

// TestBrokenAnswers: an error before the first byte is told properly; after it, the answer must not look complete.
func TestBrokenAnswers(t *testing.T) {
	r := newRig(t)
	r.rows = &table{names: []string{"name"}, err: errors.New("engine fell over")}
	if res := r.do("GET", "/api/sql?q=SELECT+info+FROM+events&span=1h&apikey="+readKey, ""); r.code(res) != "internal" {
		t.Errorf("answered %d", res.StatusCode)
	}
	srv := httptest.NewServer(r)
	defer srv.Close()
	f := func(wt, encoding string) {
		t.Helper()
		long := &table{names: []string{"name"}, err: errors.New("engine fell over")}
		for i := range 40_000 {
			long.rows = append(long.rows, []belfry.Value{{Type: belfry.TextValue, Text: strings.Repeat("x", 100) + strconv.Itoa(i*i*i)}})
		}
		r.rows = long
		req, err := http.NewRequest("GET", srv.URL+"/api/sql?rows=100000&q=SELECT+info+FROM+events&span=1h&wt="+wt, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", readKey)
		req.Header.Set("Accept-Encoding", encoding)
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if n, err := io.Copy(io.Discard, res.Body); err == nil || n == 0 {
			t.Errorf("%s, %s: half an answer of %d bytes ends like a whole one", wt, encoding, n)
		}
	}
	for wt := range encode.Formats {
		f(wt, "identity")
		f(wt, "gzip")
		f(wt, "zstd")
	}
}

func TestHead(t *testing.T) {
	r := newRig(t)
	r.rows = &table{names: []string{"name"}}
	res := r.do("HEAD", "/api/sql?wt=csv&q=SELECT+info+FROM+events&span=1h&apikey="+readKey, "")
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || len(body) > 0 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/csv") {
		t.Errorf("%d %q %q", res.StatusCode, res.Header.Get("Content-Type"), body)
	}
}

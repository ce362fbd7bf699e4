package api

import (
	"io"
	"net/url"
	"strings"
	"testing"
)

// TestSQLFirstError: of two wrong parameters in a body always the same one is reported.
func TestSQLFirstError(t *testing.T) {
	for range 100 {
		_, err := jsonParams([]byte(`{"span":[],"q":"SELECT * FROM objectdata","rows":{}}`))
		if err == nil || !strings.Contains(err.Error(), "rows must be") {
			t.Fatalf("%v, want the error of rows", err)
		}
		list, err := jsonParams([]byte(`{"wrong":1,"unknown":2,"q":"SELECT * FROM objectdata"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := list.check(sqlParams); err == nil || !strings.Contains(err.Error(), "unknown") || strings.Contains(err.Error(), "wrong") {
			t.Fatalf("%v, want the error of unknown", err)
		}
	}
}

// TestSQLParameters: neither blanks around a value nor the case of a word matter, and a parameter without a value counts as left out, also one
// that is true or false.
func TestSQLParameters(t *testing.T) {
	r := newRig(t)
	f := func(params, want string) {
		t.Helper()
		q := "q=" + url.QueryEscape("SELECT * FROM objectdata") + "&" + params
		for _, way := range []string{"GET", "POST"} {
			r.rows = &table{names: []string{"name"}}
			path, body := "/api/sql?"+q, ""
			if way == "POST" {
				path, body = "/api/sql", q
			}
			text, _ := io.ReadAll(r.do(way, path, body, "X-Api-Key: "+readKey).Body)
			if !strings.Contains(string(text), want) {
				t.Errorf("%s %s: %s, want %s", way, params, text, want)
			}
		}
	}
	f("rows=%205%20&explain=%20TRUE%20", `"limit":5,`)
	f("span=%201H&explain=1", `"plan":{"collection":"objectdata"`)
	f("span=1w&to=2026-07-08T00:00:00Z&explain=true", `"from":"2026-07-01T00:00:00.000000Z"`)
	f("span=%201h%20&to=%202026-07-01T01:00:00Z%20&explain=true", `"from":"2026-07-01T00:00:00.000000Z"`)
	f("span=1h&wt=%20CSV&explain=true", "part,text\ncollection")
	f("tz=%20UTC%20&span=1h&explain=true", `"plan":`)
	f("tz=%20Europe/Paris&from=2026-07-01&explain=true", `"from":"2026-06-30T22:00:00.000000Z"`)
	f("tz=lOCAL&span=1h&explain=true", `"plan":`)
	f("span=1h&explain=", `"rows":`)
	f("span=1h&explain=%20", `"rows":`)
	f("span=1h&safe=", `"rows":`)
	f("span=1h&partial=", `"rows":`)
	f("span=1y", "span must be a whole number with s, m, h, d or w, as 1h")
	f("rows=5%205", `"code":"bad_parameter"`)
}

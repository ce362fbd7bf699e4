package api

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"belfry"
	"belfry/api/encode"
)

// TestPackedAnswers: a long answer is packed as the client asked, a short one is not, and all say the same.
func TestPackedAnswers(t *testing.T) {
	r := newRig(t)
	ask := func(rows int, accept, wt string) (*http.Response, string) {
		t.Helper()
		list := &table{names: []string{"name"}}
		for range rows {
			list.rows = append(list.rows, []belfry.Value{{Type: belfry.TextValue, Text: "a name among others"}})
		}
		r.rows = list
		res := r.do("GET", "/api/sql?rows=100000&q=SELECT+info+FROM+events&span=1h&wt="+wt+"&apikey="+readKey, "", "Accept-Encoding: "+accept)
		var in io.Reader = res.Body
		var err error
		switch res.Header.Get("Content-Encoding") {
		case "gzip":
			in, err = gzip.NewReader(res.Body)
		case "zstd":
			in, err = zstd.NewReader(res.Body)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(text)
	}
	f := func(rows int, accept, want string) {
		t.Helper()
		for wt := range encode.Formats {
			_, plain := ask(rows, "", wt)
			for range 2 { // the second time with a packer that was used before
				res, text := ask(rows, accept, wt)
				if res.Header.Get("Content-Encoding") != want || res.Header.Get("Vary") != "Accept-Encoding" || text != plain {
					t.Errorf("%d rows, %s, %s: %v, %d bytes, plain %d", rows, accept, wt, res.Header, len(text), len(plain))
				}
				if wt != "json" && res.Trailer.Get(moreTrailer) != "false" {
					t.Errorf("%s: trailer %v", wt, res.Trailer)
				}
			}
		}
	}
	f(1, "gzip", "")
	f(100, "gzip", "gzip")
	f(100, "zstd, gzip", "zstd")
	f(100, "br", "")
	f(20_000, "gzip", "gzip")
	f(20_000, "zstd", "zstd")
}

// TestExplain: the plan is answered instead of rows, whatever way the parameters come; the source is not asked.
func TestExplain(t *testing.T) {
	r := newRig(t) // has no rows prepared, so that asking it fails
	const q = "SELECT timestamp, i1 FROM objectdata WHERE resource='web01'"
	f := func(res *http.Response) {
		t.Helper()
		var got struct {
			Plan struct {
				Collection, From string
				Historical       bool
				Items            *int
				Limit            int
				Order            []struct{ Field string }
				Lines            []struct{ Part, Text string }
			}
		}
		if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != 200 {
			t.Fatalf("%d %v", res.StatusCode, err)
		}
		p := got.Plan
		if p.Collection != "objectdata" || !p.Historical || p.From == "" || p.Items == nil || p.Limit != 7 || p.Order[0].Field != "timestamp" || p.Lines[0].Part != "collection" {
			t.Errorf("%+v", p)
		}
	}
	params := "?explain=true&rows=7&span=1h&q=" + url.QueryEscape(q)
	key := "X-Api-Key: " + readKey
	f(r.do("GET", "/api/sql"+params, "", key))
	f(r.do("POST", "/api/sql", params[1:], key))
	f(r.do("POST", "/api/sql", `{"explain":true,"rows":7,"span":"1h","q":"`+q+`"}`, key, "Content-Type: application/json"))
	csv, _ := io.ReadAll(r.do("GET", "/api/sql"+params+"&wt=csv", "", key).Body)
	if !strings.HasPrefix(string(csv), "part,text\ncollection,\"objectdata, historical\"\n") {
		t.Errorf("%s", csv)
	}
	if res := r.do("GET", "/api/sql?explain=maybe&q=SELECT+info+FROM+events&span=1h", "", key); r.code(res) != "bad_parameter" {
		t.Error("explain=maybe is taken")
	}
}

// TestZone: tz moves midnight; a zone that does not exist is refused.
func TestZone(t *testing.T) {
	explained := func(t *testing.T, r *rig, tz, from, want string) {
		t.Helper()
		res := r.do("GET", "/api/sql?explain=true&rows=1&q=SELECT+*+FROM+objectdata&from="+from+"&tz="+url.QueryEscape(tz), "", "X-Api-Key: "+readKey)
		text, _ := io.ReadAll(res.Body)
		if !strings.Contains(string(text), want) {
			t.Errorf("%s, %s: %s", tz, from, text)
		}
	}
	// The zone of the server is one like any other, however the server has come by it.
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []*time.Location{vienna, time.FixedZone("Local", 7200)} {
		t.Run(zone.String(), func(t *testing.T) {
			local := time.Local
			t.Cleanup(func() { time.Local = local }) // after the service has ended, which reads it
			time.Local = zone
			r := newRig(t)
			r.bench.Config.Zone = zone
			explained(t, r, "Europe/Vienna", "2026-07-01", `"from":"2026-06-30T22:00:00.000000Z"`)
			explained(t, r, "Local", "2026-07-01", `"from":"2026-06-30T22:00:00.000000Z"`)
		})
	}
	r := newRig(t)
	f := func(tz, from, want string) {
		t.Helper()
		explained(t, r, tz, from, want)
	}
	f("UTC", "2026-07-01", `"from":"2026-07-01T00:00:00.000000Z"`)
	f("Europe/Paris", "2026-07-01", `"from":"2026-06-30T22:00:00.000000Z"`)
	f("Europe/Paris", "2026-12-01", `"from":"2026-11-30T23:00:00.000000Z"`)
	f("America/New_York", "2026-07-01T12:00:00Z/DAY", `"from":"2026-07-01T04:00:00.000000Z"`)
	for _, wrong := range []string{"Europe/Nowhere", "../etc/passwd", "/etc/localtime", "Europe", strings.Repeat("x", 5000)} {
		f(wrong, "2026-07-01", "tz must be the name of a time zone, as Europe/Paris")
	}
}

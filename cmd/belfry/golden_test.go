package main

import (
	"encoding/csv"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query/querytest"
)

const goldenFolder = "../../query/testdata"

// goldenQueries are all golden queries as addresses of the service.
func goldenQueries(t *testing.T) (targets []string) {
	t.Helper()
	all, err := querytest.All(os.DirFS(goldenFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		v := url.Values{"q": {c.Query}}
		for line := range strings.Lines(c.Parts["options"]) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if name == "zone" {
				name = "tz"
			}
			v.Set(name, value)
		}
		targets = append(targets, "/api/sql?"+v.Encode())
	}
	return targets
}

// goldenRows are the rows of the golden queries, as many of them as can be sent, moved to the present.
func goldenRows(t *testing.T) string {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	data, err := querytest.Data(os.DirFS(goldenFolder), cat)
	if err != nil {
		t.Fatal(err)
	}
	later := belfry.At(time.Now()) - querytest.Now - 1e6
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write([]string{"type", "resname", "object", "class", "view", "timestamp", "ip", "host", "i1", "i3", "log"})
	for _, r := range data["objectdata"] {
		at := (belfry.Time(r["timestamp"].Int) + later).String()
		w.Write([]string{
			"data", r["resource"].Text, r["object"].Text, r["class"].Text, r["resource"].Text, at, r["ip"].Text, r["host"].Text,
			r["i1"].String(), r["i3"].String(), "",
		})
	}
	for _, r := range data["objectlog"] {
		at := (belfry.Time(r["timestamp"].Int) + later).String()
		w.Write([]string{"log", r["resource"].Text, r["object"].Text, r["class"].Text, r["resource"].Text, at, "", "", "", "", r["log"].Text})
	}
	w.Flush()
	return b.String()
}

// TestGoldenAsStranger asks every golden query as another customer than the one who has the rows, before and after they
// come in: nothing may change for him.
func TestGoldenAsStranger(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	p.belfry("customer", "create", "--name", "acme")
	mine, theirs := p.key("agent", "readwrite"), p.key("agent", "readwrite", "--customer", "acme")
	targets, enough := goldenQueries(t), 30
	targets = slices.DeleteFunc(targets, func(target string) bool { return strings.Contains(target, "FROM+audit") }) // for administrators alone
	if testing.Short() {                                                                                             // every third; the rest is part of make soak
		few := targets[:0:0]
		for i := 0; i < len(targets); i += 3 {
			few = append(few, targets[i])
		}
		targets, enough = few, 10
	}
	ask := func(key, target string) (int, string) {
		res := p.ask("GET", target, "", "X-Api-Key: "+key)
		return res.StatusCode, res.body
	}
	before := map[string]string{}
	for _, target := range targets {
		for _, key := range []string{mine, theirs} {
			status, body := ask(key, target)
			if status != 200 && status != 400 {
				t.Errorf("%s: %d %s", target, status, body)
			}
			before[key+target] = body
		}
	}
	for _, req := range [][2]string{{"/api/provisioning/custom", "name\nweb01\nweb02\n"}, {"/api/send", goldenRows(t)}} {
		if res := p.ask("POST", req[0], req[1], "X-Api-Key: "+mine, "Content-Type: text/csv"); res.StatusCode >= 300 || strings.Contains(res.body, `"accepted":0`) {
			t.Fatalf("%s: %d %s", req[0], res.StatusCode, res.body)
		}
	}
	seen := 0
	for _, target := range targets {
		status, body := ask(theirs, target)
		if was := before[theirs+target]; status < 400 && body != was {
			t.Errorf("%s: the other customer is told\n%s\nand was told, before there were rows of the first,\n%s", target, body, was)
		}
		if _, body := ask(mine, target); body != before[mine+target] {
			seen++
		}
	}
	if seen < enough {
		t.Errorf("of %d queries %d find rows for their owner; that shows little", len(targets), seen)
	}
	t.Logf("%d queries, %d of which find rows for their owner", len(targets), seen)
}

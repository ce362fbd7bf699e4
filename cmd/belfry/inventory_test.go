package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
)

var estatePackages = []string{"view", "custom", "vault", "object", "label", "link", "picture", "shortcut"}

// addVault adds a package that has secrets, a required answer and a part, and runs nothing: what a collector finds would
// change the inventory by itself.
func (p *service) addVault() {
	p.t.Helper()
	dir := filepath.Join(p.data, "packages")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "vault.yaml"), []byte(`name: vault
kind: resource
help: A room with a lock.
questions:
  - {name: keeper, required: true, help: Whose it is.}
  - {name: code, secret: true, help: Opens it.}
  - {name: text, help: What is in it.}
parts:
  - {name: Ping, class: network-ping}
`), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.crash()
}

// Whatever is created, changed, moved and removed, in whatever order: an export is taken back unchanged, every view shows the
// worst of what stands in it, and a kill changes nothing of either.
func TestRandomEstate(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.addVault()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := &generator{rand.New(rand.NewPCG(seed, 0))}
	const rounds, requests = 3, 60
	for round := range rounds {
		codes := map[belfry.Code]int{}
		for range requests {
			method, path, body := g.request()
			status, answer := p.request(method, path, strings.NewReader(body))
			var r belfry.Report
			if err := json.Unmarshal(answer, &r); err != nil || status >= 500 || r.Accepted+r.Rejected != r.Rows || r.Rows == 0 {
				t.Fatalf("%s %s: %d %s\n%s", method, path, status, answer, body)
			}
			for _, e := range r.Errors {
				codes[e.Code]++
			}
		}
		t.Logf("round %d: refused rows by code: %v", round, codes)
		p.checkRoundTrip(t)
		p.checkRollup(t)
		before := p.inventory(t)
		p.crash()
		if diff := cmp.Diff(before, p.inventory(t)); diff != "" {
			t.Fatalf("the kill changed the inventory:\n%s", diff)
		}
		p.checkRollup(t)
	}
}

// generator makes requests about few names, so that they meet.
type generator struct{ *rand.Rand }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) place() string {
	return g.pick("MAIN", "", "v1", "v2", "v3", "v4", "r1", "r2", "r3", "odd | \"name\", π")
}

func (g *generator) resource() string { return g.pick("r1", "r2", "r3", "odd | \"name\", π", "v1") }

func (g *generator) inside() string {
	return g.pick("r1", "r2", "r3", "w1", "w2", "w3", "v1", "")
}
func (g *generator) object() string { return g.pick("o1", "o2", "o3", "r1 - Ping", "w1") }

// request is a provisioning, a removal, or rows to send.
func (g *generator) request() (method, path, body string) {
	switch g.IntN(5) {
	case 0:
		return "POST", "/api/send" + g.pick("", "?atomic=true", "?dryrun=true"), g.rows()
	case 1:
		pkg := g.pick(estatePackages...)
		return "DELETE", "/api/provisioning/" + pkg + g.pick("", "", "?recursive=true", "?atomic=true", "?dryrun=true"), g.removal(pkg)
	}
	pkg := g.pick(estatePackages...)
	return "POST", "/api/provisioning/" + pkg + g.pick("", "", "", "?atomic=true", "?dryrun=true"), g.provisioning(pkg)
}

func (g *generator) table(header []string, row func() []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(header)
	for range 1 + g.IntN(8) {
		w.Write(row())
	}
	w.Flush()
	return b.String()
}

func (g *generator) rows() string {
	return g.table([]string{"type", "resname", "object", "class", "view", "parentview", "host", "log", "i1"}, func() []string {
		resource := g.resource()
		switch g.IntN(4) {
		case 0:
			return []string{"createview", resource, "", g.pick("folder", "shelf"), g.inside(), g.inside()}
		case 1:
			return []string{"log", g.pick(resource, ""), g.object(), g.pick("c1", "c2"), g.inside(), g.inside(), g.pick("", " h "), "text"}
		}
		return []string{"data", g.pick(resource, resource, ""), g.object(), g.pick("c1", "c1", "c2", ""), g.pick(resource, g.inside()), g.inside(), g.pick("", "h1", "h2"), "", g.pick("1", "2.5", "x")}
	})
}

func (g *generator) removal(pkg string) string {
	header := []string{"name", "view"}
	if pkg == "object" || pkg == "view" {
		header = append(header, "resname")
	}
	return g.table(header, func() []string {
		return []string{g.pick("*", "", g.name(pkg), g.name(pkg)), g.pick("", "", g.place(), g.inside()), g.pick("", g.resource())}[:len(header)]
	})
}

func (g *generator) name(pkg string) string {
	switch pkg {
	case "view":
		return g.pick("v1", "v2", "v3", "v4", "w1", "w2", "w3", "r1")
	case "object":
		return g.object()
	case "custom", "vault":
		return g.resource()
	}
	return g.pick("e1", "e2", "e3")
}

// answers are the columns of a package beyond name and view, with some answers to each.
var answers = map[string]map[string][]string{
	"view":     {"autoarrange": {"", "linear"}, "class": {"", "shelf"}, "posx": {"", "10"}, "resname": {"", "", "r1", "r2"}},
	"custom":   {"posx": {"", "20", "7"}, "width": {"", "50"}},
	"vault":    {"keeper": {"Ann", "Bob"}, "code": {"", "***", "secret"}, "text": {"", "a\r\nb\n", " x "}},
	"object":   {"resname": {"", "r1", "r2", "r3"}, "class": {"", "c1", "c1", "c2"}, "object_1": {"", "one"}, "ip": {"", "192.0.2.1"}},
	"label":    {"text": {"", "\"a\"\nb,c"}, "colour": {"", "#ff0000"}},
	"link":     {"from": {"r1", "v1", "o1"}, "to": {"r2", "v2", "o2"}},
	"picture":  {"picture": {"a.png", "b.png"}},
	"shortcut": {"target": {"v1", "r1", "r2"}},
}

func (g *generator) provisioning(pkg string) string {
	header := []string{"name"}
	if g.IntN(4) > 0 {
		header = append(header, "view")
	}
	for column := range answers[pkg] {
		if g.IntN(4) > 0 {
			header = append(header, column)
		}
	}
	return g.table(header, func() (row []string) {
		for _, column := range header {
			switch {
			case column == "name":
				row = append(row, g.name(pkg))
			case column == "view" && (pkg == "object" || pkg == "view"):
				row = append(row, g.pick(g.place(), g.inside()))
			case column == "view":
				row = append(row, g.place())
			default:
				row = append(row, g.pick(answers[pkg][column]...))
			}
		}
		return row
	})
}

// inventory is all that exists, as text.
func (p *service) inventory(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, pkg := range estatePackages {
		status, text := p.request("GET", "/api/provisioning/"+pkg, nil)
		if status != 200 {
			t.Fatalf("%s: %d %s", pkg, status, text)
		}
		fmt.Fprintf(&b, "# %s\n%s", pkg, text)
	}
	for _, row := range p.query("SELECT * FROM objectstatus", "rows", "100000") {
		delete(row, "id") // counts the items that a process knows; a new process does not know those removed before
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

// checkRoundTrip sends every export back.
func (p *service) checkRoundTrip(t *testing.T) {
	t.Helper()
	before := p.inventory(t)
	for _, pkg := range estatePackages {
		_, text := p.request("GET", "/api/provisioning/"+pkg, nil)
		status, r := p.report("/api/provisioning/"+pkg, strings.NewReader(string(text)))
		if status != 200 || r.Unchanged != r.Rows {
			t.Errorf("the export of %s was not taken back unchanged: %d %+v\n%s", pkg, status, r, text)
		}
	}
	if diff := cmp.Diff(before, p.inventory(t)); diff != "" {
		t.Errorf("the exports changed the inventory:\n%s", diff)
	}
}

// checkRollup holds the status of every view and resource against those of what stands in it. Without thresholds there
// are two: 0 where data has come, else ?.
func (p *service) checkRollup(t *testing.T) {
	t.Helper()
	// A place is a resource and a view in it; the views of the customer have no resource.
	type at struct{ resource, view string }
	text := func(row map[string]any, field string) string { s, _ := row[field].(string); return s }
	rows := p.query("SELECT kind, name, resource, view, parentview, status FROM objectstatus", "rows", "100000")
	worst, shown := map[at]string{}, map[at]string{}
	add := func(where at, status string) {
		if worst[where] != "0" {
			worst[where] = status
		}
	}
	for _, row := range rows {
		switch text(row, "kind") {
		case "object":
			add(at{text(row, "resource"), text(row, "view")}, text(row, "status"))
		case "resource":
			shown[at{text(row, "name"), text(row, "name")}] = text(row, "status")
			add(at{"", text(row, "view")}, text(row, "status"))
		case "view":
			shown[at{text(row, "resource"), text(row, "name")}] = text(row, "status")
			if text(row, "name") != belfry.Main {
				add(at{text(row, "resource"), text(row, "parentview")}, text(row, "status"))
			}
		}
	}
	for where := range worst {
		if _, ok := shown[where]; !ok {
			t.Errorf("something stands in %v, which does not exist", where)
		}
	}
	for where, status := range shown {
		want := "?"
		if worst[where] == "0" {
			want = "0"
		}
		if status != want {
			t.Errorf("%v shows %q, what stands in it %q; there are %d rows", where, status, want, len(rows))
		}
	}
	if !slices.ContainsFunc(rows, func(row map[string]any) bool { return text(row, "status") == "0" }) {
		t.Log("nothing has a status yet")
	}
}

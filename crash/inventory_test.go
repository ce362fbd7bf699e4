package crash

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestEstate provisions, moves, updates and removes at random, in customers that use the same names, and keeps a
// plain model of what must be there. After each kill everything that can be listed is held against the model.
func TestEstate(t *testing.T) {
	n := someKills()
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	var all []*architect
	var clients []func(*atomic.Bool)
	for i, name := range []string{"default", "second", "third", "fourth"} {
		a := &architect{client: g.client(name, "crash"), name: name, rng: g.stream(i), fail: g.fault, point: g.point, codes: map[string]int{}}
		a.model = newEstate()
		all = append(all, a)
		clients = append(clients, a.run)
	}
	for _, a := range all { // once all customers are there, of which the default one is told
		told, err := a.told()
		if err != nil {
			t.Fatal(err)
		}
		a.model.told = told
	}
	g.besiege(n, func() {
		for _, a := range all {
			if err := a.compare(); err != nil {
				t.Fatalf("%v\n%s", err, tail(g.s.text()))
			}
		}
	}, clients...)
	requests, lost := 0, 0
	for _, a := range all {
		requests += a.requests
		lost += a.lost
		t.Logf("%s: %d requests, %d without an answer, of which %d happened; %d items in the end; row errors %v", a.name, a.requests, a.lost, a.kept, len(a.model.items), a.codes)
	}
	if requests == 0 || lost == 0 {
		t.Error("the test compares nothing")
	}
	t.Logf("%d kills, %d before ready", g.killed, g.early)
}

// architect builds the inventory of a customer, one request after the other.
type architect struct {
	*client
	name  string
	rng   *rand.Rand
	fail  func(format string, args ...any)
	point func()
	model *inventory
	maybe *inventory // what it is if the request without an answer has happened; nil when there is none
	open  *change    // that request

	requests, lost, kept int
	codes                map[string]int
}

const changesPerLife = 1000

func (a *architect) run(stop *atomic.Bool) {
	for range changesPerLife {
		if stop.Load() || !a.send(a.compose()) {
			return
		}
	}
}

// send sends a change and holds the answer against what the model says; false when the program is gone.
func (a *architect) send(c *change) bool {
	after, want := a.model.change(c)
	if abs(len(after.items)-len(a.model.items)) > 1 || want.updated > 1 {
		a.point()
	}
	ans, err := a.do(c.method, c.address(), "", c.text())
	switch {
	case err != nil:
		a.lost++
		a.maybe, a.open = after, c
		return false
	case ans.status == http.StatusServiceUnavailable:
		return true
	}
	a.requests++
	for _, code := range want.codes {
		_, code, _ = strings.Cut(code, " ")
		a.codes[code]++
	}
	got, err := readOutcome(ans)
	if err != nil || got != want.String() {
		a.fail("%s: %s\n%s is answered %s, %v\nwhich is   %s\nthe model: %s", a.name, c.address(), c.text(), ans, err, got, want)
		return false
	}
	a.model = after
	return true
}

func abs(n int) int { return max(n, -n) }

// readOutcome brings an answer into the form of an effect.
func readOutcome(a *answer) (string, error) {
	var r struct {
		Rows, Accepted, Updated, Unchanged, Removed int
		Created                                     struct{ Resources, Views, Objects, Elements int }
		Errors                                      []struct {
			Row  int
			Code string
		}
	}
	if err := json.Unmarshal(a.body, &r); err != nil {
		return "", err
	}
	e := effect{
		rows: r.Rows, accepted: r.Accepted, updated: r.Updated, unchanged: r.Unchanged, removed: r.Removed,
		created: [4]int{r.Created.Resources, r.Created.Views, r.Created.Objects, r.Created.Elements},
	}
	for _, f := range r.Errors {
		e.codes = append(e.codes, fmt.Sprint(f.Row, " ", f.Code))
	}
	return e.String(), nil
}

// compare holds what the program shows against the model. If a request had no answer, the program must show what was
// before it or what is after it.
func (a *architect) compare() error {
	got, rows, err := a.shown()
	if err != nil {
		return err
	}
	for _, fault := range rollUp(rows) {
		a.fail("%s: %s", a.name, fault)
	}
	want := a.model.listing()
	if a.maybe != nil {
		if after := a.maybe.listing(); slices.Equal(got, after) && !slices.Equal(got, want) {
			a.kept++
			a.model, want = a.maybe, after
		}
	}
	if !slices.Equal(got, want) {
		a.fail("%s differs from the model:\n%s", a.name, difference(got, want))
		if a.open != nil {
			a.fail("%s: without an answer was %s\n%s", a.name, a.open.address(), a.open.text())
		}
	}
	a.maybe, a.open = nil, nil
	return nil
}

// difference lists the lines of two sorted lists that the other does not have.
func difference(got, want []string) string {
	var b strings.Builder
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintln(&b, "  shown:  ", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintln(&b, "  missing:", line)
		}
	}
	return b.String()
}

// shown lists everything that exists, by the export of each package and by objectstatus, in the form of a listing.
func (a *architect) shown() (list []string, rows []found, err error) {
	for _, pkg := range packages {
		exported, err := a.export(pkg)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, exported...)
	}
	rows, err = a.sql("SELECT name, kind, resource, view, parentview, class, package, status FROM objectstatus")
	if err != nil {
		return nil, nil, err
	}
	for _, f := range rows {
		list = append(list, statusLine(f))
	}
	told, err := a.told()
	if err != nil {
		return nil, nil, err
	}
	list = append(list, toldLine(told))
	slices.Sort(list)
	return list, rows, nil
}

// told counts the events about what was made, changed or removed. Classes that rows make are not part of the model.
func (a *architect) told() (int, error) {
	return a.count("events", " AND type='configuration' AND NOT info LIKE 'class %'")
}

// export gives the rows of a package, of each the columns that the model knows.
func (a *architect) export(pkg string) (list []string, err error) {
	ans, err := a.do("GET", "/api/provisioning/"+pkg, "", nil)
	if err != nil || ans.status != http.StatusOK {
		return nil, fmt.Errorf("export of %s: %v, %w", pkg, ans, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(ans.body)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("export of %s: %w\n%s", pkg, err, ans.body)
	}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, column := range rows[0] {
			cells[column] = row[i]
		}
		list = append(list, exportLine(pkg, cells))
	}
	return list, nil
}

// change is a request that changes the inventory.
type change struct {
	method, pkg string // the package is empty for data rows, and cv or d for a legacy path
	header      []string
	rows        []map[string]string
	recursive   bool
	atomic      bool
	dryrun      bool
}

func (c *change) address() string {
	v := url.Values{}
	for name, set := range map[string]bool{"recursive": c.recursive, "atomic": c.atomic, "dryrun": c.dryrun} {
		if set {
			v.Set(name, "true")
		}
	}
	switch c.pkg {
	case "":
		return "/api/send?" + v.Encode()
	case "cv", "d":
		for name, cell := range c.rows[0] {
			v.Set(parameters[c.pkg][name], cell)
		}
		return "/" + c.pkg + "?" + v.Encode()
	}
	return "/api/provisioning/" + c.pkg + "?" + v.Encode()
}

// parameters are those of the legacy paths for the columns of a row.
var parameters = map[string]map[string]string{
	"cv": {"resname": "resname", "class": "c", "name": "v", "view": "p", "posx": "posx", "posy": "posy"},
	"d":  {"resname": "resname", "object": "o", "n": "n"},
}

func (c *change) text() []byte {
	if c.method == "GET" {
		return nil
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(c.header)
	for _, row := range c.rows {
		cells := make([]string, len(c.header))
		for i, column := range c.header {
			cells[i] = row[column]
		}
		w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

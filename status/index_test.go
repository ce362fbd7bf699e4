package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/query"
)

// testTree is a tree that a test fills.
type testTree struct {
	testing.TB
	tree *meta.Tree
	cat  *catalog.Catalog
	last belfry.ID
	pos  belfry.Position
	rec  belfry.Record
}

func newTestTree(t testing.TB) *testTree {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(belfry.Customer{ID: 1, Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	e := &testTree{TB: t, tree: meta.NewTree(cat), cat: cat}
	e.rec.Docs = []belfry.Doc{{Kind: belfry.DocCustomer, Name: "c", Body: body}}
	e.add(belfry.KindView, belfry.Main, 0, 0, "generic")
	return e
}

// add creates an item; of a resource, its own id is the resource.
func (e *testTree) add(k belfry.Kind, name string, parent, resource belfry.ID, class string) belfry.ID {
	e.last++
	if k == belfry.KindResource {
		resource = e.last
	}
	e.rec.Items = append(e.rec.Items, belfry.Item{
		ID: e.last, Customer: 1, Kind: k, Name: name, Parent: parent, Resource: resource, Class: class, Created: 1,
	})
	return e.last
}

func (e *testTree) set(id belfry.ID, s belfry.Status) {
	e.rec.States = append(e.rec.States, belfry.StateChange{Item: id, State: belfry.State{Status: s, Since: belfry.Time(e.pos + 1)}})
}

func (e *testTree) apply() {
	e.Helper()
	e.pos++
	e.rec.SetPos(e.pos)
	if err := e.tree.Apply(&e.rec); err != nil {
		e.Fatal(err)
	}
	e.rec = belfry.Record{}
}

func (e *testTree) plan(text string, views ...string) *query.Plan {
	e.Helper()
	s, err := query.Parse(text)
	if err != nil {
		e.Fatal(err)
	}
	p, err := query.Check(s, e.cat, query.Options{Customer: 1, Views: views, Now: 1})
	if err != nil {
		e.Fatal(err)
	}
	p.Resolve(context.Background(), e.tree.History())
	return p
}

func lines(t testing.TB, rows query.Rows, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range row {
			b.WriteString(v.String() + " ")
		}
		b.WriteByte('\n')
	}
}

func (e *testTree) want(text, rows, how string) {
	e.Helper()
	p, s := e.plan(text), Source{Tree: e.tree}
	answer, err := s.Select(e.Context(), p)
	if got := strings.TrimSpace(strings.ReplaceAll(lines(e, answer, err), " \n", ",")); got != rows {
		e.Errorf("%s: got %s, want %s", text, got, rows)
	}
	if got := foundBy(s, p); got != how {
		e.Errorf("%s: found by %q, want %q", text, got, how)
	}
}

func TestIndexChosen(t *testing.T) {
	e := newTestTree(t)
	web := e.add(belfry.KindResource, "web", 1, 0, "custom")
	disks := e.add(belfry.KindView, "Disks", web, web, "generic")
	cpu := e.add(belfry.KindObject, "cpu", web, web, "host")
	e.add(belfry.KindObject, "disk", disks, web, "disk")
	e.add(belfry.KindObject, "web", disks, web, "disk")
	db := e.add(belfry.KindResource, "db", 1, 0, "custom")
	e.add(belfry.KindObject, "cpu", db, db, "host")
	e.apply()
	e.set(cpu, belfry.Critical)
	e.set(web, belfry.Critical)
	e.apply()
	f := func(where, rows, how string) { t.Helper(); e.want("SELECT name FROM objectstatus"+where, rows, how) }
	f("", "cpu,cpu,disk,web,db,web,Disks,MAIN,", "no index, all 8 items")
	f(" WHERE status='3'", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE status IN ('2', '3', '3', '-')", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE status>='2'", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE status<>'?'", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE NOT status='?'", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE status<'?'", "", "index status, 0 of 8 items")
	f(" WHERE kind='object' AND status>'0'", "cpu,", "index status, 2 of 8 items")
	f(" WHERE status>'2' OR status='3'", "cpu,web,", "index status, 2 of 8 items")
	f(" WHERE kind='view'", "Disks,MAIN,", "index kind, 2 of 8 items")
	f(" WHERE kind='object'", "cpu,cpu,disk,web,", "index kind, 4 of 8 items")
	f(" WHERE kind='thing'", "", "index kind, 0 of 8 items")
	f(" WHERE class='disk'", "disk,web,", "index class, 2 of 8 items")
	f(" WHERE resource='web'", "cpu,disk,web,web,Disks,", "index resource, 5 of 8 items")
	f(" WHERE resource='web' AND name='web'", "web,web,", "index resource and name, 2 of 8 items")
	f(" WHERE object='cpu'", "cpu,cpu,", "index object, 2 of 8 items")
	f(" WHERE object='cpu' AND resource='db'", "cpu,", "index resource and object, 1 of 8 items")
	f(" WHERE object='cpu' AND resource='none'", "", "index resource and object, 0 of 8 items")
	f(" WHERE name='web'", "web,web,", "index name, 2 of 8 items")
	f(" WHERE view='Disks'", "disk,web,Disks,", "index view, 3 of 8 items")
	f(" WHERE view='web'", "cpu,", "index view, 1 of 8 items")
	f(" WHERE view='MAIN'", "db,web,MAIN,", "index view, 3 of 8 items")
	f(" WHERE kind='object' AND status='3' AND class='host'", "cpu,", "index status, 2 of 8 items")
	f(" WHERE kind='object' AND name='cpu' AND status='3'", "cpu,", "index status, 2 of 8 items")
	f(" WHERE name='disk' OR status='3'", "cpu,disk,web,", "index name or status, 3 of 8 items")
	f(" WHERE name='cpu' OR class='host'", "cpu,cpu,", "index name or class, 2 of 8 items")
	f(" WHERE name='cpu' OR statusname='Critical'", "cpu,cpu,web,", "no index, all 8 items")
	f(" WHERE NOT name='cpu'", "disk,web,db,web,Disks,MAIN,", "no index, all 8 items")
	f(" WHERE id='0000000000000002'", "web,", "index id, 1 of 8 items")
	f(" WHERE id='ffffffffffffffff'", "", "index none, 0 of 8 items")
	if got := foundBy(Source{Tree: e.tree}, e.plan("SELECT problem FROM objectrca")); got != "no index, all 0 items" {
		t.Errorf("objectrca is found by %q", got)
	}
}

// condition returns a random condition on fields with an index and some without.
func condition(rnd *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	if n := rnd.IntN(6); depth > 0 && n < 4 {
		a, b := condition(rnd, depth-1), condition(rnd, depth-1)
		return []string{"(" + a + " AND " + b + ")", "(" + a + " OR " + b + ")", "(" + a + " AND " + b + ")", "NOT " + a}[n]
	}
	name := "'" + pick("r0", "r1", "r2", "v0", "v1", "o0", "o1", "o2", "MAIN", "none") + "'"
	switch rnd.IntN(8) {
	case 0:
		return "status IN ('" + pick("?", "0", "3") + "', '" + pick("-", "3") + "')"
	case 1:
		return "status" + pick("=", "<>", "<", ">=") + "'" + pick("?", "0", "1", "3", "-") + "'"
	case 2:
		return "kind" + pick("=", "<>") + "'" + pick("object", "view", "resource", "element") + "'"
	case 3:
		return "class='" + pick("c0", "c1", "custom", "generic", "none") + "'"
	case 4:
		return "id='000000000000000" + pick("1", "5", "9") + "'"
	case 5:
		return pick("name", "object") + " IN (" + name + ", 'o1')"
	}
	return pick("name", "object", "resource", "view", "parentview") + "=" + name
}

// TestIndexes runs random queries and compares the answers with those of a scan over every item.
func TestIndexes(t *testing.T) {
	used := map[string]int{}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		e := randomTree(t, rnd)
		all := func(p *query.Plan) iter.Seq[query.Row] {
			within := e.tree.Visibility(p.Scope())
			return Source{Tree: e.tree}.rows(e.tree.Everything(1), &within)
		}
		for range 60 {
			p := e.plan("SELECT id, name, kind FROM objectstatus WHERE "+condition(rnd, 3)+" LIMIT 100", [][]string{nil, nil, {"r0"}, {"v0", "gone"}, {"r1", "r0"}}[rnd.IntN(5)]...)
			want, err := query.Eval(p, all(p))
			judged := lines(t, want, err)
			found, err := Source{Tree: e.tree}.Select(t.Context(), p)
			if got := lines(t, found, err); got != judged {
				t.Fatalf("seed %d: %s\nby %s\ngot\n%s\nwant\n%s", seed, p.Explain(), foundBy(Source{Tree: e.tree}, p), got, judged)
			}
			used[find(e.tree, 1, p.Where).by]++
		}
	}
	for _, by := range []string{"", "id", "status", "kind", "class", "resource", "view", "object", "name", "place"} {
		if used[by] == 0 {
			t.Errorf("the index %q was never used: %v", by, used)
		}
	}
}

func randomTree(t *testing.T, rnd *rand.Rand) *testTree {
	t.Helper()
	e := newTestTree(t)
	for r := range 1 + rnd.IntN(3) {
		res := e.add(belfry.KindResource, fmt.Sprintf("r%d", r), 1, 0, "custom")
		places := []belfry.ID{res}
		for v := range rnd.IntN(3) {
			places = append(places, e.add(belfry.KindView, fmt.Sprintf("v%d", v), places[rnd.IntN(len(places))], res, "generic"))
		}
		for o := range rnd.IntN(4) {
			e.add(belfry.KindObject, fmt.Sprintf("o%d", o), places[rnd.IntN(len(places))], res, fmt.Sprintf("c%d", rnd.IntN(2)))
		}
	}
	top := e.add(belfry.KindView, "v0", 1, 0, "generic")
	e.add(belfry.KindView, "o1", top, 0, "c0")
	made := append([]belfry.Item(nil), e.rec.Items...)
	e.apply()
	for range 20 {
		it := made[rnd.IntN(len(made))]
		if it.Kind == belfry.KindObject && rnd.IntN(8) == 0 {
			it.Removed = 5
			e.rec.Items = append(e.rec.Items, it)
		} else {
			e.set(it.ID, belfry.Status(rnd.IntN(belfry.Statuses)))
		}
		e.apply()
	}
	return e
}

// BenchmarkObjectstatus queries 1,000,000 objects.
//
//	go test ./status -run '^$' -bench Objectstatus
func BenchmarkObjectstatus(b *testing.B) {
	const resources, each = 10_000, 100
	e := newTestTree(b)
	for r := range resources {
		res := e.add(belfry.KindResource, fmt.Sprintf("server%05d", r), 1, 0, "custom")
		for o := range each {
			e.add(belfry.KindObject, fmt.Sprintf("object %02d", o), res, res, "host")
		}
		if r%100 == 0 {
			e.add(belfry.KindView, "disks", res, res, "generic")
		}
	}
	e.apply()
	for i := range 10 {
		e.set(belfry.ID(100+1000*i), belfry.Critical)
	}
	e.apply()
	for _, q := range []string{
		"SELECT i1, i2, i3, status FROM objectstatus WHERE resource='server05000' AND object='object 50'",
		"SELECT name FROM objectstatus WHERE resource='server05000' AND status='?'",
		"SELECT resource, name FROM objectstatus WHERE status='3'",
		"SELECT resource, name, status FROM objectstatus WHERE status IN ('2', '3', '-') AND kind='object'",
		"SELECT name FROM objectstatus WHERE kind='view'",
		"SELECT resource FROM objectstatus WHERE object='object 50' AND status='?'",
		"SELECT name FROM objectstatus",
	} {
		p := e.plan(q)
		b.Run(strings.TrimPrefix(q, "SELECT "), func(b *testing.B) {
			for b.Loop() {
				if _, err := (Source{Tree: e.tree}).Select(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
			b.Log(foundBy(Source{Tree: e.tree}, p))
		})
	}
}

// foundBy returns how a source finds the items of a plan.
func foundBy(s Source, p *query.Plan) string {
	text, err := s.found(context.Background(), p)
	if err != nil {
		return err.Error()
	}
	return text
}

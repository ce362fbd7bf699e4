package meta

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

func policyDoc(name string, on belfry.ID) belfry.Doc {
	p := Policy{&catalog.Policy{Name: name, Kind: belfry.KindView, Item: belfry.Main, Rollup: "best"}, on}
	return p.Doc(1)
}

// policiesAt describes the policies on an item.
func policiesAt(tree *Tree, id belfry.ID) string {
	var names []string
	for _, p := range tree.Tenant(1).PoliciesOn(id) {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func TestPolicies(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	apply := func(docs ...belfry.Doc) {
		t.Helper()
		if err := tree.Apply(&belfry.Record{Pos: 9, Customer: 1, Docs: docs}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Apply(kindsRecord(t)); err != nil {
		t.Fatal(err)
	}
	f := func(one, two string, all int) {
		t.Helper()
		if a, b := policiesAt(tree, 1), policiesAt(tree, 2); a != one || b != two || tree.Documents().CountPolicies() != all || tree.Tenant(1).CountPolicies() != all {
			t.Errorf("on 1 %q, on 2 %q, %d in all", a, b, tree.Documents().CountPolicies())
		}
	}
	f("", "", 0)
	apply(policyDoc("b", 1), policyDoc("a", 1))
	f("a b", "", 2)
	apply(policyDoc("a", 2)) // to another item
	f("b", "a", 2)
	apply(policyDoc("a", 2)) // a record that is met again
	f("b", "a", 2)
	apply(belfry.Doc{Kind: belfry.DocPolicy, Customer: 1, Name: "b"}, belfry.Doc{Kind: belfry.DocPolicy, Customer: 1, Name: "none"})
	f("", "a", 1)
	if p := tree.Documents().PolicyNamed(1, "a"); p == nil || p.Rollup != "best" || tree.Documents().PolicyNamed(1, "b") != nil || tree.Documents().PolicyNamed(7, "a") != nil {
		t.Errorf("%+v", p)
	}
	if err := tree.Documents().Unknown(belfry.Whole(1), belfry.DocPolicy, "A"); !strings.Contains(err.Error(), "there is no policy") {
		t.Error(err)
	}
	if err := tree.Apply(&belfry.Record{Pos: 10, Docs: []belfry.Doc{{Kind: belfry.DocPolicy, Customer: 1, Name: "x", Body: []byte(`{"on":1,"policy":{}}`)}}}); err == nil {
		t.Error("a policy that is none was applied")
	}
}

func TestPolicyPages(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	r := kindsRecord(t)
	for i := range 25 {
		r.Docs = append(r.Docs, policyDoc(fmt.Sprintf("p%02d", i), 1))
	}
	if err := tree.Apply(r); err != nil {
		t.Fatal(err)
	}
	seen, after := 0, ""
	for more := true; more; {
		var list []*catalog.Policy
		if list, more = tree.Documents().Policies(1, after, 10); len(list) == 0 || len(list) > 10 {
			t.Fatalf("%d policies after %q", len(list), after)
		}
		for _, p := range list {
			if p.Name != fmt.Sprintf("p%02d", seen) {
				t.Errorf("%s is the policy number %d", p.Name, seen)
			}
			after, seen = p.Name, seen+1
		}
	}
	if seen != 25 {
		t.Errorf("saw %d", seen)
	}
	if list, more := tree.Documents().Policies(1, "p24", 10); len(list) > 0 || more {
		t.Error(list, more)
	}
}

// TestPoliciesLoad reads them from the database, where they come before the items they are about.
func TestPoliciesLoad(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "meta.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := kindsRecord(t)
	r.Docs = append(r.Docs, policyDoc("a", 1), policyDoc("b", 3), policyDoc("c", 3))
	gone := &belfry.Record{Pos: 2, Customer: 1, Docs: []belfry.Doc{{Kind: belfry.DocPolicy, Customer: 1, Name: "c"}}}
	if err := db.Apply(t.Context(), []*belfry.Record{r, gone}, nil); err != nil {
		t.Fatal(err)
	}
	tree, err := LoadTree(t.Context(), db, loadCatalog(t))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := policiesAt(tree, 1), policiesAt(tree, 3); a != "a" || b != "b" || tree.Documents().CountPolicies() != 2 {
		t.Errorf("on 1 %q, on 3 %q, %d in all", a, b, tree.Documents().CountPolicies())
	}
}

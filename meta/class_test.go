package meta

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

// kindsRecord makes a customer with an object of class disk and one of class load, whose class is its own.
func kindsRecord(t *testing.T) *belfry.Record {
	t.Helper()
	customer, err := json.Marshal(belfry.Customer{ID: 1, Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	return &belfry.Record{
		Pos: 1, Customer: 1,
		Docs: []belfry.Doc{
			{Kind: belfry.DocCustomer, Name: "c", Body: customer},
			{Kind: belfry.DocClass, Customer: 1, Name: "disk", Body: []byte(`{"name":"disk","inferred":true,"indicators":[{"n":1}]}`)},
			{Kind: belfry.DocClass, Customer: 1, Name: "load", Body: []byte(`{"name":"load","indicators":[{"n":1}]}`)},
		},
		Items: []belfry.Item{
			{ID: 1, Customer: 1, Kind: belfry.KindView, Name: belfry.Main, Class: "generic"},
			{ID: 2, Customer: 1, Kind: belfry.KindResource, Name: "r", Class: "custom", Parent: 1, Resource: 2},
			{ID: 3, Customer: 1, Kind: belfry.KindObject, Name: "root", Class: "disk", Parent: 2, Resource: 2},
			{ID: 4, Customer: 1, Kind: belfry.KindObject, Name: "cpu", Class: "load", Parent: 2, Resource: 2},
			{ID: 5, Customer: 1, Kind: belfry.KindObject, Name: "ping", Class: "network-ping", Parent: 2, Resource: 2},
		},
	}
}

// importRecord brings classes of the instance, one of them in the place of the customer's inferred one, and a package
// that stands before the class it needs.
func importRecord() *belfry.Record {
	return &belfry.Record{Pos: 2, Docs: []belfry.Doc{
		{Kind: belfry.DocPackage, Name: "shop", Body: []byte(`{"name":"shop","kind":"resource","help":"h","parts":[{"name":"P","class":"disk"}]}`)},
		{Kind: belfry.DocClass, Customer: 1, Name: "disk"},
		{Kind: belfry.DocClass, Name: "disk", Body: []byte(`{"name":"disk","indicators":[{"n":1,"name":"Used"}]}`)},
		{Kind: belfry.DocClass, Name: "load", Body: []byte(`{"name":"load","indicators":[{"n":1,"name":"File"}]}`)},
		{Kind: belfry.DocClass, Name: "network-ping", Body: []byte(`{"name":"network-ping","indicators":[{"n":1,"name":"Trip"}]}`)},
	}}
}

func checkKinds(t *testing.T, tree *Tree) {
	t.Helper()
	if faults := tree.Documents().Faults(); len(faults) > 0 {
		t.Fatal(faults)
	}
	f := func(object, class, indicator string, source catalog.Source) {
		t.Helper()
		n := tree.Tenant(1).Resource("r").Object(object)
		if got := n.Class.Def.Indicators[0].Name; got != indicator {
			t.Errorf("i1 of %s is called %q, want %q", object, got, indicator)
		}
		l, ok := tree.Documents().ClassNamed(1, class)
		if !ok || l.Source != source || l.Objects != 1 || l.Indicators[0].Name != indicator {
			t.Errorf("class %s: %+v", class, l)
		}
	}
	f("root", "disk", "Used", catalog.FromFile)
	f("cpu", "load", "i1", catalog.FromCustomer)
	f("ping", "network-ping", "Trip", catalog.FromFile)
	if pt := tree.Catalog().Package("shop"); pt == nil || pt.Parts[0].Class != "disk" {
		t.Errorf("package shop is %+v", pt)
	}
}

// TestInstanceKinds: what is not a customer's own follows the instance at once, and nothing of one record is visible
// before the rest of it.
func TestInstanceKinds(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	before := tree.Catalog()
	for _, r := range []*belfry.Record{kindsRecord(t), importRecord(), importRecord()} { // twice, as after a crash
		if err := tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	checkKinds(t, tree)
	if before.Class("disk") != nil || before.Package("shop") != nil {
		t.Error("a catalog that somebody may hold has changed")
	}
	if err := tree.Apply(&belfry.Record{Pos: 3, Docs: []belfry.Doc{{Kind: belfry.DocClass, Customer: 1, Name: "load"}}}); err != nil {
		t.Fatal(err)
	}
	if l, _ := tree.Documents().ClassNamed(1, "load"); l.Source != catalog.FromFile || l.Indicators[0].Name != "File" {
		t.Errorf("without an own definition load is %+v", l)
	}
	if l, ok := tree.Documents().ClassNamed(1, "generic"); ok {
		t.Errorf("the view class generic is listed: %+v", l)
	}
	if _, ok := tree.Documents().ClassNamed(2, "disk"); ok {
		t.Error("a customer that does not exist has a class")
	}
}

// TestInstanceKindsLoad: the database gives the same back.
func TestInstanceKindsLoad(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "meta.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Apply(t.Context(), []*belfry.Record{kindsRecord(t), importRecord()}, nil); err != nil {
		t.Fatal(err)
	}
	tree, err := LoadTree(t.Context(), db, loadCatalog(t))
	if err != nil {
		t.Fatal(err)
	}
	checkKinds(t, tree)
}

// TestUnusableKinds: a class of the instance that does not suit this version's built-in one is told and left out.
func TestUnusableKinds(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	if err := tree.Apply(kindsRecord(t)); err != nil {
		t.Fatal(err)
	}
	r := importRecord()
	r.Docs[4].Body = []byte(`{"name":"network-ping","indicators":[{"n":1,"type":"string"}]}`)
	if err := tree.Apply(r); err != nil {
		t.Fatal(err)
	}
	if len(tree.Documents().Faults()) != 1 || tree.Catalog().ClassSource("network-ping") != catalog.Builtin || tree.Catalog().Class("disk") == nil {
		t.Errorf("faults are %v", tree.Documents().Faults())
	}
}

func TestClassPages(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	for _, r := range []*belfry.Record{kindsRecord(t), importRecord()} {
		if err := tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	f := func(after string, limit int, more bool, want ...string) {
		t.Helper()
		list, got := tree.Documents().Classes(1, after, limit)
		var names []string
		for _, l := range list {
			names = append(names, l.Name)
		}
		if !slices.Equal(names, want) || got != more {
			t.Errorf("after %q, %d: %v %v, want %v %v", after, limit, names, got, want, more)
		}
	}
	f("", 100, false, "disk", "load", "log-receiver", "network-ping")
	f("", 2, true, "disk", "load")
	f("load", 2, false, "log-receiver", "network-ping")
	f("lo", 1, true, "load")
	f("network-ping", 1, false)
}

package meta

import (
	"strings"
	"testing"

	"belfry"
)

// TestPlace: a view is found by its name, and what cannot be found is answered with what would be right.
func TestPlace(t *testing.T) {
	tree := newTestTree(t)
	item := func(id belfry.ID, k belfry.Kind, name string, parent, resource belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: k, Name: name, Parent: parent, Resource: resource, Class: "c", Package: "custom"}
	}
	if err := tree.Apply(&belfry.Record{Pos: 100, Customer: 1, Items: []belfry.Item{
		item(900, belfry.KindView, belfry.Main, 0, 0),
		item(901, belfry.KindView, "Site", 900, 0),
		item(902, belfry.KindResource, "web01", 901, 902),
		item(903, belfry.KindResource, "web02", 901, 903),
		item(904, belfry.KindView, "Disks", 902, 902),
		item(905, belfry.KindView, "Disks", 903, 903),
		item(906, belfry.KindView, "Net", 903, 903),
		item(907, belfry.KindView, "Site", 902, 902),
		item(908, belfry.KindObject, "cpu", 902, 902),
	}}); err != nil {
		t.Fatal(err)
	}
	f := func(c belfry.CustomerID, resource, view string, want belfry.ID, code belfry.Code, words ...string) {
		t.Helper()
		n, err := tree.Container(belfry.Whole(c), resource, view)
		if want != 0 {
			if err != nil || n.ID != want {
				t.Errorf("%q in %q: %v, %v", view, resource, n, err)
			}
			return
		}
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q in %q: %v, want %s", view, resource, err, w)
			}
		}
		if belfry.CodeOf(err) != code {
			t.Errorf("%q in %q: %v, want %s", view, resource, err, code)
		}
	}
	f(1, "", "", 900, "")
	f(1, "", "MAIN", 900, "")
	f(1, "", "Site", 901, "") // before the one inside a resource
	f(1, "web01", "Site", 907, "")
	f(1, "", "web01", 902, "")
	f(1, "web01", "", 902, "")
	f(1, "web01", "web01", 902, "")
	f(1, "", "Net", 906, "") // the only one
	f(1, "web02", "Disks", 905, "")
	f(1, "", "Disks", 0, belfry.AmbiguousName, "2 resources (web01, web02)", "give resource")
	f(1, "", "Sites", 0, belfry.UnknownItem, `there is no view "Sites"; nearest is "Site"`)
	f(1, "", "web1", 0, belfry.UnknownItem, `nearest is "web01"`)
	f(1, "web03", "Disks", 0, belfry.UnknownItem, `there is no resource "web03"; nearest is "web0`)
	f(1, "web02", "Disk", 0, belfry.UnknownItem, `there is no view "Disk" in "web02"; nearest is "Disks"`)
	f(1, "web02", "Site", 0, belfry.UnknownItem, `in "web02"`)
	f(1, "", "cpu", 0, belfry.UnknownItem, `no view "cpu"`)
	f(1, "Site", "", 0, belfry.UnknownItem, "no resource")
	f(1, "", strings.Repeat("é", 300), 0, belfry.UnknownItem, strings.Repeat("é", 100)+"…")
	f(99, "", "", 0, belfry.UnknownItem)
	f(99, "", "Site", 0, belfry.UnknownItem, "start at MAIN")
}

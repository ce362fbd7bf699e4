package meta

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/query"
)

// scopeTree is an inventory in which a user may be limited to something:
//
//	MAIN ─┬ Site ─┬ web01 ─┬ Disks ─ root
//	      │       │        └ cpu
//	      │       └ Floor ─ sw01 ─ port
//	      ├ Vault ─ db01 ─ cpu
//	      └ lone ─ cpu
func scopeTree(t *testing.T) *Tree {
	t.Helper()
	tree := newTestTree(t)
	item := func(id belfry.ID, k belfry.Kind, name string, parent, resource belfry.ID) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: k, Name: name, Parent: parent, Resource: resource, Class: "c", Package: "custom"}
	}
	link := item(920, belfry.KindElement, "in", 901, 0)
	link.Details = &belfry.Details{Answers: map[string]string{"from": "web01", "to": "port"}}
	out := item(921, belfry.KindElement, "out", 901, 0)
	out.Details = &belfry.Details{Answers: map[string]string{"target": "Vault"}}
	for _, r := range []*belfry.Record{
		{Pos: 100, Items: []belfry.Item{
			item(900, belfry.KindView, belfry.Main, 0, 0),
			item(901, belfry.KindView, "Site", 900, 0),
			item(902, belfry.KindResource, "web01", 901, 902),
			item(903, belfry.KindView, "Disks", 902, 902),
			item(904, belfry.KindObject, "root", 903, 902),
			item(905, belfry.KindObject, "cpu", 902, 902),
			item(906, belfry.KindView, "Floor", 901, 0),
			item(907, belfry.KindResource, "sw01", 906, 907),
			item(908, belfry.KindObject, "port", 907, 907),
			item(909, belfry.KindView, "Vault", 900, 0),
			item(910, belfry.KindResource, "db01", 909, 910),
			item(911, belfry.KindObject, "cpu", 910, 910),
			item(912, belfry.KindResource, "lone", 900, 912),
			item(913, belfry.KindObject, "cpu", 912, 912),
			link, out,
		}},
		{Pos: 101, States: []belfry.StateChange{
			{Item: 904, State: belfry.State{Status: belfry.Major, Since: 7}},
			{Item: 901, State: belfry.State{Status: belfry.Major, Since: 7}},
			{Item: 912, State: belfry.State{Status: belfry.OK, Since: 5}},
			{Item: 900, State: belfry.State{Status: belfry.Critical, Since: 3}},
		}},
	} {
		r.Customer = 1
		if err := tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// TestWithin: what is inside a scope is what stands in its views, and a name that is gone stands for nothing.
func TestWithin(t *testing.T) {
	tree := scopeTree(t)
	f := func(views, want string) {
		t.Helper()
		s := belfry.Scope{Customer: 1, Views: strings.Fields(views)}
		var got []string
		w := tree.Visibility(s)
		for n := range tree.EachWithRemoved(everOf(t, tree, 1)) {
			if w.Has(n) {
				name := n.Name
				if n.Resource != nil && n.Resource != n {
					name = n.Resource.Name + "/" + name
				}
				got = append(got, name)
			}
		}
		for _, name := range []string{"in", "out"} {
			if w.Has(tree.Tenant(1).Element("custom", name)) {
				got = append(got, name)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", views, text, want)
		}
	}
	f("Site", "Site web01 web01/Disks web01/root web01/cpu Floor sw01 sw01/port in out")
	f("Floor", "Floor sw01 sw01/port")
	f("web01 lone", "web01 web01/Disks web01/root web01/cpu lone lone/cpu")
	f("Site Floor", "Site web01 web01/Disks web01/root web01/cpu Floor sw01 sw01/port in out")
	f("Site Vault", "Site web01 web01/Disks web01/root web01/cpu Floor sw01 sw01/port Vault db01 db01/cpu in out")
	f("gone", "")
	f("MAIN", "")  // no user is limited to everything
	f("Disks", "") // a part of a resource is no place
	if w := tree.Visibility(belfry.Whole(1)); !w.Has(tree.Tenant(1).Main) || w.Has(nil) {
		t.Error("the whole customer lacks something")
	}
	for _, s := range []belfry.Scope{{}, {Views: []string{"Site"}}, {Customer: 2}, {Customer: 2, Views: []string{"Site"}}} {
		w := tree.Visibility(s)
		if n := tree.Tenant(1).Place("Site"); w.Has(n) && s.Customer != 1 {
			t.Errorf("%v has an item of somebody else", s)
		}
	}
	var zero Visibility
	if zero.Has(tree.Tenant(1).Main) || zero.Has(tree.Tenant(1).Place("web01")) {
		t.Error("the zero Within has something in it")
	}
}

// TestWithinRemoved: what was removed is inside as long as its resource is, and what moves is where it stands.
func TestWithinRemoved(t *testing.T) {
	tree := scopeTree(t)
	s := belfry.Scope{Customer: 1, Views: []string{"Site"}}
	apply := func(pos belfry.Position, id belfry.ID, change func(*belfry.Item)) {
		t.Helper()
		it := tree.Node(id).Item()
		change(&it)
		if err := tree.Apply(&belfry.Record{Pos: pos, Customer: 1, Items: []belfry.Item{it}}); err != nil {
			t.Fatal(err)
		}
	}
	f := func(object string, want ...belfry.ID) {
		t.Helper()
		got := itemsOf(t, tree, s, query.ItemMatch{Object: &object})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", object, got, want)
		}
	}
	f("cpu", 905)
	apply(110, 905, func(it *belfry.Item) { it.Removed = 9 })
	f("cpu", 905)
	apply(111, 910, func(it *belfry.Item) { it.Parent = 906 }) // db01 moves in
	f("cpu", 905, 911)
	apply(112, 902, func(it *belfry.Item) { it.Parent = 909 }) // web01 moves out
	f("cpu", 911)
	f("root")
	for _, id := range []belfry.ID{911, 910} {
		apply(113+belfry.Position(id), id, func(it *belfry.Item) { it.Removed = 9 })
	}
	f("cpu")
}

// TestShow: from inside, the way up ends in a MAIN that holds the roots alone.
func TestShow(t *testing.T) {
	tree := scopeTree(t)
	s := belfry.Scope{Customer: 1, Views: []string{"Floor", "lone", "Site"}}
	f := func(views string, id belfry.ID, want string) {
		t.Helper()
		s.Views = strings.Fields(views)
		w := tree.Visibility(s)
		var way []string
		for n := w.Show(tree.Node(id)); n != nil; n = n.Parent {
			way = append(way, n.Name)
		}
		if got := strings.Join(way, " "); got != want {
			t.Errorf("%s: %s, want %s", views, got, want)
		}
	}
	f("Floor", 908, "port sw01 Floor MAIN")
	f("sw01", 908, "port sw01 MAIN")
	f("sw01", 907, "sw01 MAIN")
	f("Site", 908, "port sw01 Floor Site MAIN")
	f("Site", 911, "cpu") // it is outside: where it stands is not told
	f("gone", 900, "MAIN")
	s.Views = []string{"Site"}
	w := tree.Visibility(s)
	for id, want := range map[belfry.ID]map[string]string{920: {"from": "web01", "to": "port"}, 921: {}} {
		n := tree.Node(id)
		if got := w.Show(n).Details.Answers; !maps.Equal(got, want) || w.ShowsAll(n) != (len(want) > 0) {
			t.Errorf("an element tells of %v, want %v", got, want)
		}
	}
	if tree.Node(921).Details.Answers["target"] != "Vault" {
		t.Error("what is hidden has been lost")
	}

	s.Views = []string{"Site", "Floor", "lone", "gone"}
	main, err := tree.Container(s, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range tree.Content(s, main) {
		names = append(names, n.Name)
	}
	if !slices.Equal(names, []string{"Site", "lone"}) || main.State.Status != belfry.Major || main.State.Since != 7 {
		t.Errorf("MAIN holds %v and is %s since %d", names, main.State.Status, main.State.Since)
	}
	if c := main.Counts(); c != [belfry.Statuses]int32{belfry.OK: 1, belfry.Major: 1} {
		t.Errorf("counts %v", c)
	}
	if real := tree.Tenant(1).Main; main == real || main.ID == real.ID {
		t.Error("that is the MAIN of all")
	}
	s.Views = []string{"gone"}
	if main, err = tree.Container(s, "", "MAIN"); err != nil || len(tree.Content(s, main)) != 0 || main.State.Status != belfry.Unknown {
		t.Errorf("%v, %v", main, err)
	}
}

// TestPlaceWithin: what is outside cannot be found, and is not suggested.
func TestPlaceWithin(t *testing.T) {
	tree := scopeTree(t)
	f := func(views, resource, view, want string) {
		t.Helper()
		n, err := tree.Container(belfry.Scope{Customer: 1, Views: strings.Fields(views)}, resource, view)
		switch {
		case err == nil && n.Name != want:
			t.Errorf("%s: %q in %q is %s, want %s", views, view, resource, n.Name, want)
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %q in %q: %v, want %s", views, view, resource, err, want)
		case err != nil && belfry.CodeOf(err) != belfry.UnknownItem:
			t.Errorf("%s: %q in %q: %v", views, view, resource, err)
		}
	}
	f("Site", "", "Vault", `there is no view "Vault"; start at MAIN`)
	f("Site", "", "Vaults", `there is no view "Vaults"; start at MAIN`)
	f("Vault", "", "Vaults", `nearest is "Vault"`)
	f("Site", "db01", "", `there is no resource "db01"`)
	f("Vault", "web01", "Disks", `there is no resource "web01"`)
	f("Vault", "", "Disks", `there is no view "Disks"`)
	f("Site", "", "Disks", "Disks")
	f("Floor", "", "Site", `there is no view "Site"`)
}

// TestPlaces: a scope is a list of places, and says which of them must not tell where they stand.
func TestPlaces(t *testing.T) {
	tree := scopeTree(t)
	f := func(views string, want, tops []belfry.ID) {
		t.Helper()
		places, top := tree.History().Places(belfry.Scope{Customer: 1, Views: strings.Fields(views)})
		if !slices.Equal(places, want) || !slices.Equal(top, tops) {
			t.Errorf("%s: %v and %v, want %v and %v", views, places, top, want, tops)
		}
	}
	f("Site", []belfry.ID{901, 902, 906, 907}, nil)
	f("lone sw01 Floor", []belfry.ID{906, 907, 912}, []belfry.ID{912})
	f("sw01 web01", []belfry.ID{902, 907}, []belfry.ID{902, 907})
	f("gone", nil, nil)
	main, secret := belfry.Main, "Site"
	s := belfry.Scope{Customer: 1, Views: []string{"web01"}}
	if got := itemsOf(t, tree, s, query.ItemMatch{View: &main}); !slices.Equal(got, []belfry.ID{902}) {
		t.Errorf("in MAIN are %v", got)
	}
	if got := itemsOf(t, tree, s, query.ItemMatch{View: &secret}); len(got) > 0 {
		t.Errorf("%v tell where they stand", got)
	}
	count := map[string]int{}
	for _, v := range []string{"Site", "lone", "gone"} {
		count[v] = tree.ObjectsOfClass(belfry.Scope{Customer: 1, Views: []string{v}}, "c")
	}
	if !maps.Equal(count, map[string]int{"Site": 3, "lone": 1, "gone": 0}) {
		t.Errorf("objects of a class: %v", count)
	}
}

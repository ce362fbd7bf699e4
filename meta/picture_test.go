package meta

import (
	"testing"

	"belfry"
)

// TestPictureShown: somebody who is limited to a view sees what is drawn there, in it or behind it.
func TestPictureShown(t *testing.T) {
	tree := scopeTree(t)
	view := func(id belfry.ID, name, bg string) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindView, Name: name, Parent: 900, Class: "c", Package: "view", Details: &belfry.Details{Answers: map[string]string{"bg": bg}}}
	}
	drawn := belfry.Item{ID: 952, Customer: 1, Kind: belfry.KindElement, Name: "logo", Parent: 951, Class: "c", Package: "picture", Details: &belfry.Details{Answers: map[string]string{"picture": "logo"}}}
	rec := &belfry.Record{Pos: 200, Customer: 1, Items: []belfry.Item{view(950, "Ours", "our plan"), view(951, "Drawn", ""), view(953, "Theirs", "their plan"), drawn}}
	for _, name := range []string{"our plan", "their plan", "logo", "unused"} {
		rec.Docs = append(rec.Docs, belfry.Doc{Kind: belfry.DocPicture, Customer: 1, Name: name, Body: []byte(`{"name":"` + name + `"}`)})
	}
	if err := tree.Apply(rec); err != nil {
		t.Fatal(err)
	}
	f := func(name string, want bool, views ...string) {
		t.Helper()
		if got := tree.Documents().Picture(belfry.Scope{Customer: 1, Views: views}, name); (got != nil) != want {
			t.Errorf("%s within %q: %v", name, views, got)
		}
	}
	f("our plan", true)
	f("unused", true)
	f("no picture", false)
	f("our plan", true, "Ours")
	f("our plan", false, "Theirs")
	f("their plan", false, "Ours", "Drawn")
	f("logo", true, "Drawn")
	f("logo", false, "Ours")
	f("unused", false, "Ours")
	f("our plan", false, "gone")
	if tree.Documents().Picture(belfry.Whole(2), "our plan") != nil {
		t.Error("another customer sees it")
	}
}

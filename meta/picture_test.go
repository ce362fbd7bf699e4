package meta

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"belfry"
)

// TestImage follows the bytes of a picture: with the mover, in the database, and gone. They are in no tree.
func TestImage(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, filepath.Join(t.TempDir(), "meta.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m := NewMover(db, MoverOptions{States: func([]belfry.ID) []StoredState { return nil }, Log: slog.New(slog.DiscardHandler)})
	f := func(c belfry.CustomerID, hash, want string) {
		t.Helper()
		got, err := m.Image(ctx, c, hash)
		if err != nil || string(got) != want {
			t.Errorf("image %s of %d: %q, %v; want %q", hash, c, got, err, want)
		}
	}
	put := func(pos belfry.Position, docs ...belfry.Doc) { m.Add(&belfry.Record{Pos: pos, Docs: docs}) }
	image := func(c belfry.CustomerID, hash, body string) belfry.Doc {
		d := belfry.Doc{Kind: belfry.DocImage, Customer: c, Name: hash}
		if body != "" {
			d.Body = []byte(body)
		}
		return d
	}
	f(1, "a", "")
	put(1, image(1, "a", "\x89PNG\x00\xff"))
	f(1, "a", "\x89PNG\x00\xff") // not in the database yet
	f(2, "a", "")
	if err := m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if len(m.images) != 0 {
		t.Errorf("%d images are still with the mover", len(m.images))
	}
	f(1, "a", "\x89PNG\x00\xff") // and now from there
	f(2, "a", "")
	err = db.Load(ctx, Visitor{Doc: func(d belfry.Doc) { t.Errorf("%s %s is read at the start", d.Kind, d.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	put(2, image(1, "a", ""))
	if err := m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	f(1, "a", "")
	put(3, image(1, "a", ""), image(1, "b", "x"))
	put(4, image(1, "b", ""), image(1, "b", "x"))
	if err := m.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	f(1, "b", "x")
}

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
		if got := tree.PictureShown(belfry.Scope{Customer: 1, Views: views}, name); (got != nil) != want {
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
	if tree.PictureShown(belfry.Whole(2), "our plan") != nil {
		t.Error("another customer sees it")
	}
}

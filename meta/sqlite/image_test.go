package sqlite

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

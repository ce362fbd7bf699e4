package meta

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta/sqlite"
)

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// lives are the records of a customer that is made, has things, is removed, and of another that gets its name.
func lives(t *testing.T) []*belfry.Record {
	customer := func(id belfry.CustomerID, doc string) belfry.Doc {
		return belfry.Doc{Kind: belfry.DocCustomer, Name: doc, Body: mustJSON(t, belfry.Customer{ID: id, Name: "acme"})}
	}
	main := func(id belfry.ID, c belfry.CustomerID) belfry.Item {
		return belfry.Item{ID: id, Customer: c, Kind: belfry.KindView, Name: belfry.Main, Created: 1}
	}
	user := func(c belfry.CustomerID) belfry.Doc {
		return belfry.Doc{Kind: belfry.DocUser, Customer: c, Name: "eve", Body: mustJSON(t, belfry.User{Name: "eve", Password: "secretive", Role: belfry.Viewer})}
	}
	u := belfry.User{Name: "eve", Password: "secretive", Role: belfry.Viewer}
	return []*belfry.Record{
		{Pos: 1, Customer: 5, Docs: []belfry.Doc{customer(5, "\x015"), user(5)}, Items: []belfry.Item{main(1, 5)}},
		{Pos: 2, Customer: 5, Docs: []belfry.Doc{
			{Kind: belfry.DocKey, Customer: 5, Name: "agent", Body: mustJSON(t, keyOf(5, "agent", "key of five"))},
			{Kind: belfry.DocSession, Customer: 5, Name: belfry.HashOf("session of five").String(), Body: mustJSON(t, belfry.Session{User: "eve", Fingerprint: u.Fingerprint(), Expires: 99})},
		}, Items: []belfry.Item{
			{ID: 9, Customer: 5, Kind: belfry.KindView, Name: "high", Parent: 1, Created: 2},
			{ID: 2, Customer: 5, Kind: belfry.KindResource, Name: "privateresource", Parent: 1, Resource: 2, Class: "custom", Package: "custom", Created: 2},
		}, Answer: &belfry.Answer{Customer: 5, Key: "k", Body: []byte("privateanswer"), Time: 1}},
		{Pos: 3, Customer: 1, Docs: []belfry.Doc{
			{Kind: belfry.DocCustomer, Name: "acme"},
			{Kind: belfry.DocCustomer, Name: "\x015"},
			{Kind: belfry.DocRemoval, Name: "5", Body: mustJSON(t, belfry.Removal{Customer: 5, Removed: 3})},
		}},
		{Pos: 4, Customer: 6, Docs: []belfry.Doc{customer(6, "\x016"), user(6)}, Items: []belfry.Item{main(3, 6)}},
		{Pos: 5, Docs: []belfry.Doc{{Kind: belfry.DocRemoval, Name: "5", Body: mustJSON(t, belfry.Removal{Customer: 5, Removed: 3, Erased: 5})}}},
	}
}

// checkLives looks whether a tree has nothing of customer 5 and all of customer 6.
func checkLives(t *testing.T, what string, tree *Tree) {
	t.Helper()
	if c, ok := tree.Access().CustomerNamed("acme"); !ok || c.ID != 6 {
		t.Errorf("%s: acme is %+v, %t", what, c, ok)
	}
	if tree.Access().CustomerName(5) != "" || tree.Node(1) != nil || tree.Node(2) != nil || len(tree.Access().Users(5)) > 0 || len(tree.Access().Keys(5)) > 0 {
		t.Errorf("%s: something of the removed customer is there", what)
	}
	if tree.Access().Key(belfry.HashOf("key of five")) != nil {
		t.Errorf("%s: its key counts", what)
	}
	if _, ok := tree.Access().Session(belfry.HashOf("session of five")); ok || len(tree.Access().SessionHashes(5, "eve")) > 0 {
		t.Errorf("%s: its session goes on", what)
	}
	if _, ok := tree.Access().User(6, "eve"); !ok || tree.Node(3) == nil || tree.LastID() != 9 {
		t.Errorf("%s: the other customer is not whole", what)
	}
	if list := tree.Access().Removals(); len(list) != 1 || list[0].Customer != 5 || list[0].Erased != 5 {
		t.Errorf("%s: removals %+v", what, list)
	}
}

// TestRemovalSurvives: the program is killed whenever it likes, and takes in again what comes after the position of the
// database, which may have more than that position says. Nothing of the removed customer comes back by it.
func TestRemovalSurvives(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	recs := lives(t)
	for ahead := range len(recs) + 1 { // what of the configuration had been written beyond the position
		for again := range ahead + 1 { // how far a first attempt to take it in again came
			path := filepath.Join(t.TempDir(), "meta.db")
			write := func(recs []*belfry.Record) {
				t.Helper()
				db := openFile(t, path)
				if err := db.Apply(ctx, recs, nil); err != nil {
					t.Fatal(err)
				}
				db.Close()
				setPosition(t, path, 0) // as between two writings of states
			}
			write(recs[:ahead])
			write(recs[:again])
			db := openFile(t, path)
			tree, err := LoadTree(ctx, db, cat)
			if err != nil {
				t.Fatalf("%d written, %d again: %v", ahead, again, err)
			}
			for _, r := range recs {
				if err := tree.Apply(r); err != nil {
					t.Errorf("%d written, %d again: record %d: %v", ahead, again, r.Pos, err)
				}
				tree.History().Dimension(r) // what is not there any more has no name
			}
			checkLives(t, "replayed", tree)
			if err := db.Apply(ctx, recs, nil); err != nil {
				t.Fatal(err)
			}
			if tree, err = LoadTree(ctx, db, cat); err != nil {
				t.Fatal(err)
			}
			checkLives(t, "loaded", tree)
			if err := db.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{path, path + "-wal"} {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, private := range []string{"privateresource", "privateanswer", belfry.HashOf("key of five").String()} {
					if strings.Contains(string(text), private) {
						t.Errorf("%d written, %d again: %s holds %s", ahead, again, filepath.Base(name), private)
					}
				}
			}
			db.Close()
		}
	}
}

func openFile(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// setPosition sets the position of a database that is closed.
func setPosition(t *testing.T, path string, pos belfry.Position) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	var rows, next, writes, moved int64
	var instance, branch string
	if err == nil {
		err = db.QueryRow(`SELECT rows, next_item, instance, branch, writes, moved FROM position`).Scan(&rows, &next, &instance, &branch, &writes, &moved)
	}
	var row []byte // as the database computes its checksum
	for _, n := range []int64{1, int64(pos), rows, next} {
		row = binary.LittleEndian.AppendUint64(row, uint64(n))
	}
	for _, text := range []string{instance, branch} {
		row = append(binary.LittleEndian.AppendUint64(row, uint64(len(text))), text...)
	}
	for _, n := range []int64{writes, moved} {
		row = binary.LittleEndian.AppendUint64(row, uint64(n))
	}
	sum := int32(crc32.Checksum(row, crc32.MakeTable(crc32.Castagnoli)))
	if err == nil {
		_, err = db.Exec(`UPDATE position SET pos = $1, sum = $2`, int64(pos), sum)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestPageAfter(t *testing.T) {
	list := []string{"a", "c", "e"}
	f := func(after string, limit int, want string, wantMore bool) {
		t.Helper()
		page, more := pageAfter(list, func(s string) string { return s }, after, limit)
		if got := strings.Join(page, ""); got != want || more != wantMore {
			t.Errorf("after %q, %d: %s %t", after, limit, got, more)
		}
	}
	f("", 2, "ac", true)
	f("a", 2, "ce", false)
	f("b", 1, "c", true)
	f("e", 5, "", false)
	f("", 3, "ace", false)
}

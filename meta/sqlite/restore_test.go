package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

// damage is something that somebody does to the files of an open database.
type damage struct {
	name string
	do   func(t *testing.T, path string)
	says string
}

func damages(foreign string) []damage {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return []damage{
		{"file removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, "meta.db was removed"},
		{"log removed", func(t *testing.T, path string) { must(t, os.Remove(path+"-wal")) }, "meta.db-wal was removed"},
		{"all removed", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm")))
		}, "meta.db was removed"},
		{"file replaced", func(t *testing.T, path string) {
			text, err := os.ReadFile(foreign)
			must(t, errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600)))
		}, "meta.db was replaced"},
		{"log replaced", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte("something"), 0o600)))
		}, "meta.db-wal was replaced"},
		{"file cut", func(t *testing.T, path string) { must(t, os.Truncate(path, 5000)) }, "meta.db was cut"},
		{"log cut", func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", 100)) }, "meta.db-wal was cut"},
	}
}

func customerDoc(name string) belfry.Doc {
	return belfry.Doc{Kind: belfry.DocCustomer, Name: name, Body: []byte(`{"name":"` + name + `"}`)}
}

// Whatever is done to the files while they are open is noticed before anything is written, and nothing is lost by it, at
// the next start either.
func TestRestore(t *testing.T) {
	ctx := t.Context()
	other := filepath.Join(t.TempDir(), "meta.db")
	if db := openTest(t, other); db.SetInstance(ctx, strings.Repeat("f", 32)) != nil || db.Close() != nil {
		t.Fatal("no other database")
	}
	for _, d := range damages(other) {
		t.Run(d.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "meta.db")
			db := openTest(t, path)
			id := strings.Repeat("a", 32)
			apply := func(pos belfry.Position, name string) error {
				return db.Apply(ctx, []*belfry.Record{{Pos: pos, Docs: []belfry.Doc{customerDoc(name)}}}, nil)
			}
			if err := errors.Join(db.SetInstance(ctx, id), apply(1<<32|1, "a"), db.Check(), apply(1<<32|2, "b"), db.Check()); err != nil {
				t.Fatal(err)
			}
			d.do(t, path)
			for _, err := range []error{db.Check(), apply(1<<32|3, "c"), db.MarkRows(ctx, 1), db.Sync(ctx), db.Checkpoint(ctx)} {
				if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), d.says) {
					t.Errorf("got %v, want %q", err, d.says)
				}
			}
			err := db.Restore(ctx)
			if strings.HasSuffix(d.name, "cut") && err != nil { // what was cut off may be nowhere else
				t.Logf("not restored: %v", err)
				if err := db.Check(); !errors.Is(err, ErrFile) {
					t.Errorf("after a failed attempt: %v", err)
				}
				return
			}
			if err := errors.Join(err, db.Check(), apply(1<<32|3, "c")); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := Verify(ctx, path); err != nil {
				t.Error(err)
			}
			if f, err := ReadFacts(ctx, path); err != nil || f.Instance != id || f.Stored != 1<<32|3 {
				t.Errorf("%+v, %v", f, err)
			}
			db = openTest(t, path)
			var names []string
			if err := db.Load(ctx, Visitor{Kinds: []string{belfry.DocCustomer}, Doc: func(d belfry.Doc) { names = append(names, d.Name) }}); err != nil || strings.Join(names, "") != "abc" {
				t.Errorf("%q, %v", names, err)
			}
			aside, err := filepath.Glob(path + ".unfit-*[0-9]")
			if err != nil || len(aside) != 1 && d.name == "file replaced" {
				t.Errorf("what was found is in %q, %v", aside, err)
			}
		})
	}
}

func openTest(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

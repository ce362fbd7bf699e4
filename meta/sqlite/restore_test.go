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

// overwrite writes into a file as it is, as cp and cat do.
func overwrite(t *testing.T, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestChanged: what another program writes over the open files is not read any more, not copied and not written again; the files stay as
// they are. A start from them is refused, or is right.
func TestChanged(t *testing.T) {
	ctx := t.Context()
	var older moment
	var olderIndex string
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string, now moment)
		says   string
		unseen bool // until the log is read
	}{
		{"an older copy", func(t *testing.T, path string, _ moment) { overwrite(t, path, older.file) }, "meta.db was c", false},
		{"garbage", func(t *testing.T, path string, now moment) {
			overwrite(t, path, strings.Repeat("x", len(now.file)))
		}, "meta.db was changed by another program; stop the service, put meta.db of a backup in its place and remove meta.db-wal", false},
		{"cut", func(t *testing.T, path string, _ moment) { overwrite(t, path, "") }, "meta.db was cut from", false},
		{"log cut", func(t *testing.T, path string, _ moment) { overwrite(t, path+logSuffix, "") }, "meta.db-wal was cut from", false},
		{"the log of another moment", func(t *testing.T, path string, now moment) {
			overwrite(t, path+logSuffix, (older.log + strings.Repeat("x", len(now.log)))[:len(now.log)])
		}, "meta.db-wal was changed by another program", true},
		{"a changed byte in the log", func(t *testing.T, path string, now moment) {
			overwrite(t, path+logSuffix, now.log[:5000]+"x"+now.log[5001:])
		}, "meta.db-wal was changed by another program", true},
		{"an older index", func(t *testing.T, path string, _ moment) { overwrite(t, path+indexSuffix, olderIndex) }, "meta.db-shm was changed by another program; stop the service and start it again", false},
		{"an older index and log", func(t *testing.T, path string, now moment) {
			overwrite(t, path+indexSuffix, olderIndex)
			overwrite(t, path+logSuffix, (older.log + strings.Repeat("x", len(now.log)))[:len(now.log)])
		}, "meta.db-shm was changed by another program", false},
		{"no index", func(t *testing.T, path string, _ moment) {
			overwrite(t, path+indexSuffix, strings.Repeat("\x00", len(olderIndex)))
		}, "meta.db-shm was changed by another program", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "meta.db")
			db := openTest(t, path)
			apply := func(pos belfry.Position, name string) error {
				return db.Apply(ctx, []*belfry.Record{{Pos: pos, Docs: []belfry.Doc{customerDoc(name)}}}, nil)
			}
			if err := errors.Join(db.SetInstance(ctx, strings.Repeat("a", 32)), apply(1, "a")); err != nil {
				t.Fatal(err)
			}
			older = momentOf(t, db)
			index, err := os.ReadFile(path + indexSuffix)
			if err != nil {
				t.Fatal(err)
			}
			olderIndex = string(index)
			if err := errors.Join(db.Checkpoint(ctx), apply(2, "b"), db.Sync(ctx)); err != nil {
				t.Fatal(err)
			}
			synced := momentOf(t, db)
			if err := errors.Join(apply(3, "c"), db.Check()); err != nil {
				t.Fatal(err)
			}
			now := momentOf(t, db)
			c.change(t, path, now)
			if _, err := db.Copy(ctx, path+"2"); !Changed(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("copy: %v", err)
			}
			wantNoFile(t, path+"2")
			for _, err := range []error{db.Check(), apply(4, "d"), db.MarkRows(ctx, 1), db.Sync(ctx), db.Checkpoint(ctx), db.Restore(ctx)} {
				if !Changed(err) || !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %q", err, c.says)
				}
			}
			if _, err := db.Position(ctx); err == nil {
				t.Error("it is still read")
			}
			_, answer := db.Answer(ctx, 1, "k")
			_, image := db.image(ctx, 1, "x")
			_, removed := db.findRemoved(ctx, "i.id = 1")
			for _, err := range []error{answer, image, removed} {
				if belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), "changed by another program") {
					t.Errorf("what a customer asks: %v", err)
				}
			}
			file, err := os.ReadFile(path)
			log, noLog := os.ReadFile(path + logSuffix)
			if err := errors.Join(err, noLog); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); !Changed(err) {
				t.Errorf("close: %v", err)
			}
			left := moment{file: string(file), log: string(log)}
			if file, err := os.ReadFile(path); err != nil || string(file) != left.file {
				t.Errorf("the file was written: %v", err)
			}
			if log, err := os.ReadFile(path + logSuffix); err != nil || string(log) != left.log {
				t.Errorf("the log was written: %v", err)
			}
			next, err := Open(ctx, left.write(t), quiet())
			if err != nil {
				return
			}
			defer next.Close()
			content, err := contentOf(next.read)
			if used, unread := next.Used(ctx); err != nil || unread != nil || used && content != now.content && content != synced.content {
				t.Errorf("the next start makes a mixture: %v, %v", err, unread)
			}
		})
	}
}

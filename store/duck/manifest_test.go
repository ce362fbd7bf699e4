package duck

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/store"
	"belfry/store/duck/folder"
)

// TestManifestCannotBeWritten opens a store whose manifest cannot be written, as on a full disk. The store opens, days
// that have a file accept rows, and the manifest is written once that is possible again.
func TestManifestCannotBeWritten(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, folder.ManifestFile)
	mkdir(t, path+journal.TempSuffix)
	s := openWith(t, dir)
	s.files.onRepair = func(info string) { t.Error(info) } // it was not deleted
	if s.Watch() == nil {
		t.Error("the store does not say that its manifest cannot be written")
	}
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+2 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+2)
	}
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1)))
	if err := store.AppendAll(t.Context(), s, rowsOf(10, 5)); err == nil {
		t.Error("a file was made that is not listed")
	}
	remove(t, path+journal.TempSuffix)
	must(t, s.Watch())
	must(t, store.AppendAll(t.Context(), s, rowsOf(10, 5)))
	must(t, s.Close())
	remove(t, dayPath(dir, 5))
	wantMissing(t, openWith(t, dir), countAll, 5, oldRows+3)
}

// TestManifestCannotBeRead opens a store whose manifest cannot be read because it belongs to another user. It is not
// overwritten, and missing files are noticed once it can be read.
func TestManifestCannotBeRead(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, folder.ManifestFile)
	remove(t, dayPath(dir, damageDay))
	hide(t, path)
	s := openWith(t, dir)
	if err := s.Watch(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("watch: %v", err)
	}
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1)))
	show(t, path)
	must(t, s.Watch())
	wantMissing(t, s, countAll, damageDay, 3)
	if list := s.Faults(); len(list) != 0 {
		t.Errorf("faults: %v", list)
	}
}

// TestManifestLost starts with a manifest that was deleted, emptied, truncated or damaged. That is a fault until an
// operator removes the note about it, and verify reports it.
func TestManifestLost(t *testing.T) {
	base := makeDays(t)
	whole, err := os.ReadFile(filepath.Join(base, folder.ManifestFile))
	must(t, err)
	for i, test := range []struct {
		name string
		do   func(t *testing.T, path string)
	}{
		{"deleted", func(t *testing.T, path string) { remove(t, path) }},
		{"cut", func(t *testing.T, path string) { truncate(t, path, int64(len(whole)/2)) }},
		{"emptied", func(t *testing.T, path string) { truncate(t, path, 0) }},
		{"damaged", func(t *testing.T, path string) { overwrite(t, path, 50, 1) }},
	} {
		if testing.Short() && i > 1 {
			continue // part of make soak
		}
		t.Run(test.name, func(t *testing.T) {
			dir := copyDir(t, base)
			test.do(t, filepath.Join(dir, folder.ManifestFile))
			if problems := verify(t, copyDir(t, dir)); len(problems) != 1 || problems[0].File != folder.ManifestFile {
				t.Errorf("verify: %v", problems)
			}
			for range 2 {
				s := openWith(t, dir)
				if list := s.Faults(); len(list) != 1 || list[0].ID != "manifest" || len(s.Incomplete()) != 0 {
					t.Errorf("faults: %v, incomplete %v", list, s.Incomplete())
				}
				must(t, s.Close())
			}
			notes := folder.ManifestNotes(dir)
			if problems := verify(t, copyDir(t, dir)); len(problems) != 1 || len(notes) != 1 || problems[0].File != filepath.Base(notes[0]) {
				t.Errorf("verify: %v, notes %v", problems, notes)
			}
			s := openWith(t, dir)
			remove(t, notes[0])
			if list := s.Faults(); len(list) != 0 {
				t.Errorf("faults: %v", list)
			}
		})
	}
	if list := openWith(t, t.TempDir()).Faults(); len(list) != 0 {
		t.Errorf("a new store has faults: %v", list)
	}
}

// TestManifestDeletedUnderUs: a manifest that is deleted while the store is open is written again.
func TestManifestDeletedUnderUs(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, folder.ManifestFile)
	s := openWith(t, dir)
	told := 0
	s.files.onRepair = func(string) { told++ }
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1)))
	must(t, s.Watch())
	want, err := os.ReadFile(path)
	must(t, err)
	for i, do := range []func(){
		func() { remove(t, path) }, func() { truncate(t, path, 10) }, func() { remove(t, path); write(t, path, want) },
		func() { write(t, path, bytes.Repeat(want, 3)) },
	} {
		do()
		must(t, store.AppendAll(t.Context(), s, rowsOf(belfry.Position(10+i), 1)))
		must(t, s.Durable(0)) // notices it
		must(t, s.Watch())
		if m := folder.ReadManifest(dir); m.Damage() != "" || len(m.Pos) != 3 || told != i+1 {
			t.Errorf("%d: %s, %d files, told %d times", i, m.Damage(), len(m.Pos), told)
		}
	}
}

// TestManifestWithoutMoved: a manifest that has all files, but not the line about the store's position, is incomplete.
func TestManifestWithoutMoved(t *testing.T) {
	dir := makeDays(t)
	for range 2 {
		s := openWith(t, dir)
		must(t, s.Durable(99))
		must(t, s.Close())
	}
	path := filepath.Join(dir, folder.ManifestFile)
	text, err := os.ReadFile(path)
	must(t, err)
	before, _, found := strings.Cut(string(text), "moved"+" ")
	if !found {
		t.Fatalf("%s", text)
	}
	write(t, path, []byte(before))
	if list := openWith(t, dir).Faults(); len(list) != 1 || list[0].ID != "manifest" {
		t.Errorf("faults: %v", list)
	}
}

// TestManifestNotWritten: a manifest that could not be written is not durable, even if there is nothing new to record.
func TestManifestNotWritten(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, folder.ManifestFile)
	s := openWith(t, dir)
	remove(t, path)
	must(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	if err := s.Durable(99); err == nil {
		t.Error("a position is noted without a file")
	}
	for range 2 {
		if err := s.SyncNotes(); err == nil {
			t.Error("a manifest that is not there is durable")
		}
	}
	must(t, os.RemoveAll(path))
	must(t, s.SyncNotes())
	if m := folder.ReadManifest(dir); m.Damage() != "" || m.Moved != 99 {
		t.Errorf("%s, moved %d", m.Damage(), m.Moved)
	}
}

const testInstance = "0123456789abcdef0123456789abcdef"

// openInstance opens a store whose folder names its instance.
func openInstance(t testing.TB, dir, id string) *Store {
	t.Helper()
	cat, err := catalog.Load()
	must(t, err)
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Instance: id, Journal: func(func(*belfry.Batch) error) error { return nil }}})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestFolderMovedAway moves the folder of rows, or the file that names its instance, away under the store. Nothing is
// created in its place, and everything works again when it is back.
func TestFolderMovedAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	mkdir(t, dir)
	id := filepath.Join(dir, folder.InstanceFile)
	write(t, id, []byte(testInstance+"\n"))
	s := openInstance(t, dir, testInstance)
	must(t, store.AppendAll(t.Context(), s, rowsOf(1, 0)))
	must(t, s.Watch())
	c := s.cfg.Catalog.Collection("objectdata")
	pos, rows := belfry.Position(2), int64(1)
	for _, test := range []struct {
		name       string
		away, back func()
	}{
		{"folder", func() { must(t, os.Rename(dir, dir+".x")) }, func() { must(t, os.Rename(dir+".x", dir)) }},
		{"instance", func() { must(t, os.Rename(id, id+".x")) }, func() { must(t, os.Rename(id+".x", id)) }},
		{"other instance", func() { write(t, id, []byte(strings.Repeat("a", 32)+"\n")) }, func() { write(t, id, []byte(testInstance+"\n")) }},
	} {
		test.away()
		for what, err := range map[string]error{
			"a row of a known day": store.AppendAll(t.Context(), s, rowsOf(pos, 0)),
			"a row of a new day":   store.AppendAll(t.Context(), s, rowsOf(pos, int(pos))),
			"a watch":              s.Watch(),
			"a drop":               s.Drop(t.Context(), c, crashDay0-belfry.Day),
		} {
			if !errors.Is(err, store.ErrFolder) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %s: %v", test.name, what, err)
			}
		}
		if _, err := os.Stat(dir); err == nil && test.name == "folder" {
			t.Error("the folder was rebuilt")
		}
		test.back()
		must(t, s.Watch())
		must(t, store.AppendAll(t.Context(), s, rowsOf(pos, 0, int(pos))))
		pos, rows = pos+1, rows+2
		if n, _, err := askFirst(t, s, countAll, false); err != nil || n != rows || len(s.Incomplete()) != 0 {
			t.Errorf("%s: %d rows, %v, %v; want %d", test.name, n, err, s.Incomplete(), rows)
		}
	}
}

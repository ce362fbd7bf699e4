package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/folder"
)

// makeKept makes a store with a day below the watermark that must be kept: 2 of 3 rows are in it. The list of kept days
// has been written twice; the first version is returned.
func makeKept(t *testing.T) (dir string, c *catalog.Collection, first []byte) {
	t.Helper()
	dir = t.TempDir()
	s := openWith(t, dir)
	c = s.cfg.Catalog.Collection("objectdata")
	must(t, store.AppendAll(t.Context(), s, rowsOf(1, 0, 1, 100)))
	must(t, s.Drop(t.Context(), c, crashDay0+50*belfry.Day))
	keep := func(day belfry.Time) {
		t.Helper()
		if added, err := s.Keep(c, crashDay0+day*belfry.Day, belfry.At(time.Now())); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	keep(2)
	first, err := os.ReadFile(filepath.Join(dir, "objectdata", "kept"))
	must(t, err)
	keep(1)
	must(t, store.AppendAll(t.Context(), s, rowsOf(3, 1, 1)))
	must(t, s.Close())
	if list := verify(t, dir); len(list) != 0 {
		t.Fatal(list)
	}
	return dir, c, first
}

// TestDamagedKept starts with lists of kept days that differ from what was written. No row is deleted, neither at the
// start nor by retention, new rows are stored, the fault is open until retention has written a new list, and verify
// reports it.
func TestDamagedKept(t *testing.T) {
	base, c, first := makeKept(t)
	good, err := os.ReadFile(filepath.Join(base, "objectdata", "kept"))
	must(t, err)
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); write(t, path, []byte(s)) }
	}
	flipped := strings.Replace(string(good), " 1", " 2", 1)
	_, old, _ := strings.Cut(string(good), "\n")
	old = old[:strings.LastIndexByte(old[:len(old)-1], '\n')+1]
	for i, test := range []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"missing", func(t *testing.T, path string) { t.Helper(); remove(t, path) }},
		{"empty", text("")},
		{"cut", text(string(good[:len(good)/2]))},
		{"garbage", text("garbage\n")},
		{"flipped", text(flipped)},
		{"without a checksum", text(old)},
		{"older", text(string(first))},
		{"of another collection", text(strings.Replace(string(good), folder.LineSum("objectdata\n"+string(good[:len(good)-9])), folder.LineSum("objectlog\n"+string(good[:len(good)-9])), 1))},
		{"a link", func(t *testing.T, path string) {
			t.Helper()
			must(t, os.Rename(path, path+"2"))
			must(t, os.Symlink(path+"2", path))
		}},
		{"too large", text(strings.Repeat("x", folder.MaxKeptBytes+1))},
		{"missing with the manifest", func(t *testing.T, path string) {
			t.Helper()
			remove(t, path)
			remove(t, filepath.Join(filepath.Dir(path), "..", folder.ManifestFile))
		}},
		{"missing with the watermark", func(t *testing.T, path string) {
			t.Helper()
			remove(t, path)
			remove(t, filepath.Join(filepath.Dir(path), folder.WatermarkFile))
		}},
	} {
		if testing.Short() && i%10 != 0 {
			continue // part of make soak
		}
		t.Run(test.name, func(t *testing.T) {
			dir := copyDir(t, base)
			path := filepath.Join(dir, "objectdata", "kept")
			test.damage(t, path)
			problems := verify(t, dir)
			if len(problems) == 0 || problems[0].File != filepath.Join("objectdata", "kept") || problems[0].Remedy == "" {
				t.Errorf("verify: %v", problems)
			}
			for start := range 2 { // the second one finds the same
				s := openWith(t, dir)
				must(t, s.Watch())
				if n := count(t, s); n != 3+start {
					t.Errorf("start %d: %d rows, want %d", start, n, 3+start)
				}
				if list := s.Faults(); len(list) == 0 || list[0].ID != "kept objectdata" || !strings.Contains(list[0].Message, path) {
					t.Errorf("start %d: faults: %v", start, list)
				}
				_, err := s.Keep(c, crashDay0+3*belfry.Day, belfry.At(time.Now()))
				must(t, err)
				must(t, store.AppendAll(t.Context(), s, rowsOf(belfry.Position(9+start), 3+start)))
				if start == 0 {
					must(t, s.Close())
					continue
				}
				must(t, s.Drop(t.Context(), c, crashDay0+60*belfry.Day))
				if list := s.kept.Damaged(); len(list) != 0 {
					t.Errorf("after a Drop: %v", list)
				}
				must(t, s.Close())
			}
			if list := verify(t, dir); len(list) != 0 && list[0].File == filepath.Join("objectdata", "kept") {
				t.Errorf("verify after a Drop: %v", list)
			}
			s := openWith(t, dir)
			if n := count(t, s); n != 5 {
				t.Errorf("after a Drop and a start: %d rows, want 5", n)
			}
			must(t, s.Drop(t.Context(), c, belfry.At(time.Now())+3*belfry.Day)) // everything is too old
			if n := count(t, s); n != 0 {
				t.Errorf("%d rows are never dropped", n)
			}
			must(t, s.Close())
		})
	}
}

// TestKeptFolder: a folder in place of the list prevents retention from deleting anything of the collection until it is
// removed.
func TestKeptFolder(t *testing.T) {
	dir, c, _ := makeKept(t)
	path := filepath.Join(dir, "objectdata", "kept")
	remove(t, path)
	mkdir(t, path)
	if list := verify(t, dir); len(list) != 1 || !strings.Contains(list[0].Problem, "a folder in its place") {
		t.Errorf("verify: %v", list)
	}
	s := openWith(t, dir)
	defer s.Close()
	later := crashDay0 + 200*belfry.Day
	if err := s.Drop(t.Context(), c, later); err == nil {
		t.Error("Drop has not noticed the folder")
	}
	if n, list := count(t, s), s.Faults(); n != 3 || len(list) != 1 {
		t.Errorf("%d rows, faults: %v", n, list)
	}
	remove(t, path)
	must(t, s.Drop(t.Context(), c, later))
	if n, list := count(t, s), s.Faults(); n != 2 || len(list) != 0 {
		t.Errorf("%d rows, faults: %v", n, list)
	}
}

// TestKeptForEver: a new list is written even if nothing is dropped.
func TestKeptForEver(t *testing.T) {
	dir, c, _ := makeKept(t)
	remove(t, filepath.Join(dir, "objectdata", "kept"))
	s := openWith(t, dir)
	must(t, s.Drop(t.Context(), c, 0))
	if n, list := count(t, s), s.Faults(); n != 3 || len(list) != 0 {
		t.Errorf("%d rows, faults: %v", n, list)
	}
	must(t, s.Close())
	if list := verify(t, dir); len(list) != 0 {
		t.Error(list)
	}
}

// TestUnlistedKept: a list without a checksum is not valid, whether the manifest names it or not. A folder may have
// none.
func TestUnlistedKept(t *testing.T) {
	base, c, _ := makeKept(t)
	path := filepath.Join(base, "objectdata", "kept")
	m := folder.ReadManifest(base)
	delete(m.Pos, "objectdata/kept")
	must(t, m.Rewrite())
	for _, text := range []string{"", fmt.Sprintf("%d %d\n", crashDay0+belfry.Day, belfry.At(time.Now())+belfry.Day)} {
		write(t, path, []byte(text))
		dir := copyDir(t, base)
		if list := verify(t, dir); len(list) == 0 || list[0].File != filepath.Join("objectdata", "kept") {
			t.Errorf("%q: verify: %v", text, list)
		}
		s := openWith(t, dir)
		if list := s.Faults(); len(list) == 0 || list[0].ID != "kept objectdata" {
			t.Errorf("%q: faults: %v", text, list)
		}
		must(t, s.Drop(t.Context(), c, crashDay0+60*belfry.Day))
		must(t, s.Close())
		if k := readKept(dir, c); k.IsHeld(c) || !k.Until(c, c.PeriodOf(crashDay0+belfry.Day), crashDay0+60*belfry.Day) {
			t.Errorf("%q: the new list is damaged, or lacks a day", text)
		}
		s = openWith(t, dir)
		if n := count(t, s); n != 3 {
			t.Errorf("%q: %d rows, want 3", text, n)
		}
		must(t, s.Close())
	}
	remove(t, path)
	s := openWith(t, copyDir(t, base))
	if list := s.Faults(); len(list) != 0 {
		t.Errorf("a folder that never had a list: %v", list)
	}
	must(t, s.Close())
}

// TestKeptNoted: the manifest expects the list in its last version, starting with the first kept day.
func TestKeptNoted(t *testing.T) {
	dir, c, _ := makeKept(t)
	version := readKept(dir, c).Noted()[c.Name]
	if noted := folder.ReadManifest(dir).Pos["objectdata/kept"]; version != 2 || noted != 2 {
		t.Errorf("version %d, the manifest has %d", version, noted)
	}
	remove(t, filepath.Join(dir, folder.ManifestFile)) // it is noted again
	s := openWith(t, dir)
	must(t, s.Close())
	if noted := folder.ReadManifest(dir).Pos["objectdata/kept"]; noted != 2 {
		t.Errorf("a new manifest has %d", noted)
	}
}

// readKept reads the list of a collection as a start would.
func readKept(dir string, c *catalog.Collection) *folder.Kept {
	k := &folder.Kept{}
	k.Read(dir, "", []*catalog.Collection{c}, folder.ReadManifest(dir))
	return k
}

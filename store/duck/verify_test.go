package duck

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/folder"
	"belfry/store/duck/names"
)

// TestVerifyLate damages the late file of a day: verify distinguishes it from an intact one, and changes neither.
func TestVerifyLate(t *testing.T) {
	base := makeDays(t)
	hide(t, dayPath(base, damageDay))
	s := openWith(t, base)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
	must(t, s.Close())
	show(t, dayPath(base, damageDay))
	junk := make([]byte, 20<<10)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range junk {
		junk[i] = byte(rnd.Uint32())
	}
	f := func(name, want string, change func(late string)) {
		t.Run(name, func(t *testing.T) {
			dir := copyDir(t, base)
			late := dayPath(dir, damageDay) + folder.LateSuffix
			change(late)
			before := contents(t, dir)
			problems := verify(t, dir)
			if len(problems) != 1 || !strings.HasSuffix(problems[0].File, folder.LateSuffix) || !strings.Contains(problems[0].Problem, want) {
				t.Fatalf("%+v, want %q", problems, want)
			}
			if whole := strings.Contains(problems[0].Remedy, "it puts the rows into it"); whole != (name == "whole") ||
				!whole && !strings.Contains(problems[0].Remedy, "Before you start the service, put back a good copy") {
				t.Errorf("remedy: %s", problems[0].Remedy)
			}
			for path, text := range contents(t, dir) {
				if !bytes.Equal(text, before[path]) {
					t.Errorf("%s was changed from %d to %d bytes", path, len(before[path]), len(text))
				}
			}
		})
	}
	f("whole", "it has rows that came", func(string) {})
	f("empty", "empty", func(late string) { write(t, late, nil) })
	f("random", "damaged", func(late string) { write(t, late, junk) })
	f("log removed", "its last rows are missing", func(late string) { must(t, os.Remove(late+".wal")) })
	f("log random", "", func(late string) { write(t, late+".wal", junk) })
	f("another day's", "", func(late string) {
		content, err := os.ReadFile(dayPath(base, 1))
		must(t, err)
		write(t, late, content)
		must(t, os.Remove(late+".wal"))
	})
}

// contents returns all files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[path], err = os.ReadFile(path)
		}
		return err
	}))
	return all
}

// TestVerifyLongRows: a file whose rows need more memory than the engine starts with is read with more. If there is not
// enough, the file counts as not read, never as damaged.
func TestVerifyLongRows(t *testing.T) {
	const rows, size = 150, 200 << 10
	dir := t.TempDir()
	s := openWith(t, dir)
	b := &belfry.Batch{Collection: belfry.ObjectLog, Customer: 1, Pos: 1, Times: make([]belfry.Time, rows)}
	items, lines := make([]int64, rows), make([]string, rows)
	line := strings.Repeat("lorem ipsum ", size/12)
	for r := range rows {
		b.Times[r] = 1_700_000_000_000_000
		items[r], lines[r] = 1, line[:len(line)-r]
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "log", Texts: lines}}
	must(t, store.AppendAll(t.Context(), s, b))
	must(t, s.Close())
	cat, err := catalog.Load()
	must(t, err)
	f := func(most int64, unread int) {
		t.Helper()
		v, err := Verify(t.Context(), store.Config{Dir: dir, Catalog: cat, MemoryLimit: 8 << 20, MemoryMost: most})
		if err != nil || len(v.Problems) != 0 || len(v.Unread) != unread {
			t.Errorf("with at most %d MiB: %+v, %v", most>>20, v, err)
		}
	}
	f(8<<20, 1)
	f(512<<20, 0)
}

// TestVerifyRemovedNames damages the file with the names of removed items. Verify reports it, changes nothing, and what
// it says about the next start is true.
func TestVerifyRemovedNames(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	base := makeDays(t)
	s := openWith(t, base)
	for _, text := range []string{
		"INSERT INTO removed.main.item (id, customer, kind, object, resource, view, batch) SELECT i, 1, 3, 'o' || hash(i), 'web01', 'main', 1 FROM range(200000) AS r(i)",
		"CHECKPOINT removed",
		"INSERT INTO removed.main.item (id, customer, kind, object, resource, view, batch) SELECT 200000 + i, 1, 3, 'o' || hash(i), 'web01', 'main', 2 FROM range(50) AS r(i)",
	} {
		must(t, s.writer.Exec(t.Context(), text))
	}
	must(t, s.Close())
	junk := make([]byte, 20<<10)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range junk {
		junk[i] = byte(rnd.Uint32())
	}
	const restart, remove = "the next start creates it again", "Remove the file"
	f := func(name, want, remedy string, change func(path string)) {
		t.Run(name, func(t *testing.T) {
			dir := copyDir(t, base)
			path := filepath.Join(dir, names.File)
			change(path)
			before := contents(t, dir)
			problems := verify(t, dir)
			if after := contents(t, dir); !maps.EqualFunc(before, after, bytes.Equal) {
				t.Errorf("verify has changed files: had %q, has %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
			}
			if want == "" {
				if len(problems) != 0 {
					t.Errorf("%+v", problems)
				}
				return
			}
			if len(problems) != 1 || problems[0].File != names.File || !strings.Contains(problems[0].Problem, want) || !strings.Contains(problems[0].Remedy, remedy) {
				t.Fatalf("%+v, want %q and %q", problems, want, remedy)
			}
			if remedy == remove {
				must(t, os.RemoveAll(path))
				must(t, os.RemoveAll(path+".wal"))
			}
			must(t, openWith(t, dir).Close())
			if problems := verify(t, dir); len(problems) != 0 {
				t.Errorf("after a start: %+v", problems)
			}
		})
	}
	f("whole", "", "", func(string) {})
	f("empty", "empty", restart, func(path string) { write(t, path, nil) })
	f("random", "damaged", restart, func(path string) { write(t, path, junk) })
	f("missing", "missing", restart, func(path string) { must(t, os.Remove(path)) })
	f("missing with its log", "missing", restart, func(path string) { must(t, unlink(path)) })
	f("folder", "folder in its place", remove, func(path string) {
		must(t, unlink(path))
		must(t, os.Mkdir(path, 0o700))
	})
	f("full folder", "folder in its place", remove, func(path string) {
		must(t, unlink(path))
		must(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	})
	f("other content", "does not hold the names", restart, func(path string) {
		must(t, unlink(path))
		content, err := os.ReadFile(dayPath(base, 1))
		must(t, err)
		write(t, path, content)
	})
	f("without its mark", "removed.mark cannot be read", restart, func(path string) { must(t, os.Remove(filepath.Join(filepath.Dir(path), names.MarkFile))) })
	f("with a damaged mark", "removed.mark is damaged", restart, func(path string) { write(t, filepath.Join(filepath.Dir(path), names.MarkFile), junk[:50]) })
	f("of another instance", "of this instance", restart, func(path string) {
		other := t.TempDir()
		must(t, openWith(t, other).Close())
		must(t, unlink(path))
		content, err := os.ReadFile(filepath.Join(other, names.File))
		must(t, err)
		write(t, path, content)
	})
	f("block of names", "damaged", remove, func(path string) {
		content, err := os.ReadFile(path)
		must(t, err)
		at := len(content)/2 + 1000
		copy(content[at:], junk[:100])
		write(t, path, content)
	})
	t.Run("not needed", func(t *testing.T) {
		dir := t.TempDir()
		if problems := verify(t, dir); len(problems) != 0 {
			t.Errorf("a folder that no service has used: %+v", problems)
		}
		must(t, openWith(t, dir).Close())
		must(t, unlink(filepath.Join(dir, names.File)))
		if problems := verify(t, dir); len(problems) != 0 {
			t.Errorf("a folder without rows: %+v", problems)
		}
	})
}

// TestVerifyLogs changes bytes of the logs of a file of rows and of a file of summaries, in each record, and cuts them. A change is
// found; a log that ends in the middle of a record is one of a killed process.
func TestVerifyLogs(t *testing.T) {
	w := newWorld(t, 11)
	for range 4 {
		w.send()
		summariseAll(t, w.s)
	}
	base := copyDir(t, w.dir)
	logs, err := filepath.Glob(filepath.Join(base, "*", "*.wal"))
	must(t, err)
	summaries, step := 0, 60
	if testing.Short() {
		step = 8
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		must(t, err)
		if len(text) == 0 {
			continue
		}
		if strings.Contains(path, ".hour") {
			summaries++
		}
		if why, err := damage.Log(path); why != "" || err != nil {
			t.Fatalf("%s: %s, %v", path, why, err)
		}
		dir := copyDir(t, base)
		rel, err := filepath.Rel(base, path)
		must(t, err)
		for at := 0; at < len(text); at += 1 + len(text)/step {
			changed := bytes.Clone(text)
			changed[at] ^= 0x10
			write(t, filepath.Join(dir, rel), changed)
			if problems := verify(t, dir); len(problems) == 0 {
				t.Errorf("%s: the change at %d of %d is not found", rel, at, len(text))
			}
		}
		for n := len(text) / 2; n < len(text); n += 1 + len(text)/20 {
			write(t, filepath.Join(dir, rel), text[:n])
			if why, err := damage.Log(filepath.Join(dir, rel)); why != "" || err != nil {
				t.Errorf("%s cut to %d of %d: %s, %v", rel, n, len(text), why, err)
			}
		}
	}
	if len(logs) == summaries || summaries == 0 {
		t.Fatalf("logs %v, want some of rows and some of summaries", logs)
	}
}

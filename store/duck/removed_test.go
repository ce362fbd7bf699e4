package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/names"
)

// TestNamesCannotBeStored opens a store in whose folder the file of removed names can be neither read nor created.
// Everything else works.
func TestNamesCannotBeStored(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, names.File)
	must(t, os.RemoveAll(path))
	must(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	s := openWith(t, dir)
	if path := namesPath(t, s); path != "" {
		t.Fatalf("the names are in %s", path)
	}
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+2 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+2)
	}
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, 1)))
	must(t, s.ForgetItems(t.Context(), nil))
	must(t, s.Close())
	must(t, os.RemoveAll(path))
	s = openWith(t, dir)
	if namesPath(t, s) != path {
		t.Error("the file is not made although it could be")
	}
}

// TestRemovedItemsInPages reads more removed items than fit into a page, with gaps between them: each once, and no
// further page once the caller has given up.
func TestRemovedItemsInPages(t *testing.T) {
	s := openWith(t, t.TempDir())
	const n = 2*names.Page + 5
	must(t, s.writer.Exec(t.Context(), "INSERT INTO removed.main.item (id, customer, kind, object, resource, view, batch) "+
		fmt.Sprintf("SELECT %d - i, 1, %d, 'o' || i, 'web01', 'main', 1 FROM range(%[1]d) AS r(i)", n, belfry.KindObject)))
	var gone []belfry.ID
	for id := belfry.ID(1); id <= n; id += 10 {
		gone = append(gone, id)
	}
	must(t, s.ForgetItems(t.Context(), gone))
	seen := map[belfry.ID]bool{}
	must(t, s.RemovedItems(t.Context(), func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string) {
		if want := fmt.Sprintf("o%d", n-int(id)); seen[id] || id%10 == 1 || c != 1 || k != belfry.KindObject || name != want {
			t.Fatalf("%d %d %d %q, seen before: %t", id, c, k, name, seen[id])
		}
		seen[id] = true
	}))
	if want := n - len(gone); len(seen) != want {
		t.Errorf("%d items, want %d", len(seen), want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	err := s.RemovedItems(ctx, func(belfry.ID, belfry.CustomerID, belfry.Kind, string) {
		count++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || count > names.Page {
		t.Errorf("%d items after the end, %v", count, err)
	}
}

// TestNamesWithoutLog kills a store that has the newest names of removed items only in the log of the file, and damages the log, or puts
// an older copy of the file in its place. The next start has all names.
func TestNamesWithoutLog(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	cat, err := catalog.Load()
	must(t, err)
	base := t.TempDir()
	s := openWith(t, base)
	must(t, s.items.Apply(t.Context(), s.writer, []*belfry.Batch{removedNamesOf(0, 1, 10)}))
	must(t, s.items.Checkpoint(t.Context(), s.writer))
	older := copyDir(t, base)
	must(t, s.items.Apply(t.Context(), s.writer, []*belfry.Batch{removedNamesOf(0, 11, 20)}))
	for name, change := range map[string]func(path string){
		"whole":   func(string) {},
		"removed": func(path string) { must(t, os.Remove(path+".wal")) },
		"cut":     func(path string) { must(t, os.Truncate(path+".wal", 100)) },
		"random":  func(path string) { write(t, path+".wal", []byte("not a log")) },
		"older copy": func(path string) {
			must(t, unlink(path))
			content, err := os.ReadFile(filepath.Join(older, names.File))
			must(t, err)
			write(t, path, content)
		},
		"link": func(path string) {
			must(t, os.Rename(path, path+".real"))
			must(t, os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyDir(t, base)
			change(filepath.Join(dir, names.File))
			s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Removed: func(add func(*belfry.Batch) error) error { return add(removedNamesOf(0, 1, 30)) }}})
			must(t, err)
			defer s.Close()
			n, err := s.writer.Number(t.Context(), "SELECT count(DISTINCT object) FROM "+names.Table)
			if err != nil || n != 30 {
				t.Errorf("%d names, %v; want 30", n, err)
			}
			must(t, s.Close())
			if problems := verify(t, dir); len(problems) != 0 {
				t.Errorf("afterwards: %+v", problems)
			}
		})
	}
}

// removedNamesOf returns n removed items from an id on, which a record at pos removed.
func removedNamesOf(pos belfry.Position, first, n int) *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.Dimension, Customer: 1, Pos: pos, Columns: []belfry.Column{
		{Name: belfry.ItemColumn},
		{Name: "kind"},
		{Name: belfry.RemovedColumn},
		{Name: belfry.PlaceColumn},
		{Name: "object"},
		{Name: "resource"},
		{Name: "view"},
		{Name: "class"},
		{Name: "ip"},
		{Name: "host"},
	}}
	for i := range n {
		b.Times = append(b.Times, 1)
		for at, v := range []int64{int64(first + i), int64(belfry.KindObject), 1, 1} {
			b.Columns[at].Ints = append(b.Columns[at].Ints, v)
		}
		for at := range b.Columns[4:] {
			b.Columns[4+at].Texts = append(b.Columns[4+at].Texts, fmt.Sprintf("o%d", first+i))
		}
	}
	return b
}

// olderNames is a store with the names of 10 items that a record at position 5 removed, a copy of it, and the names of 20 more, removed at 9.
func olderNames(t *testing.T, instance string) (base, older string) {
	base = t.TempDir()
	for _, b := range []*belfry.Batch{removedNamesOf(5, 1, 10), removedNamesOf(9, 11, 20)} {
		s := openNames(t, base, instance, nil, 0)
		must(t, s.items.Apply(t.Context(), s.writer, []*belfry.Batch{b}))
		must(t, s.Close())
		if older == "" {
			older = copyDir(t, base)
		}
	}
	return base, older
}

// openNames opens a store beside metadata that have all the given names, of which a replay brings those after upTo.
func openNames(t *testing.T, dir, instance string, all *belfry.Batch, upTo belfry.Position) *Store {
	t.Helper()
	cat, err := catalog.Load()
	must(t, err)
	if instance != "" {
		write(t, filepath.Join(dir, folder.InstanceFile), []byte(instance))
	}
	s, err := openStore(t.Context(), config{Config: store.Config{
		Dir: dir, Instance: instance, Catalog: cat,
		Removed: func(add func(*belfry.Batch) error) error {
			if all == nil {
				return nil
			}
			return add(all)
		},
		RemovedAfter: func(pos belfry.Position) bool { return pos < upTo },
	}})
	must(t, err)
	return s
}

// namesFrom puts the file of names and its mark from another folder in their place.
func namesFrom(t *testing.T, from, dir string) {
	t.Helper()
	for _, name := range []string{names.File, names.MarkFile} {
		text, err := os.ReadFile(filepath.Join(from, name))
		must(t, err)
		write(t, filepath.Join(dir, name), text)
	}
}

// TestOlderNames opens a store whose file of names is outdated together with its mark. It is made again if the metadata
// have later names, and only then: names that a replay delivers need nothing, and a file that is ahead of the metadata
// stays.
func TestOlderNames(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	base, older := olderNames(t, "")
	_, foreign := olderNames(t, "other")
	for _, c := range []struct {
		name     string
		from     string
		instance string
		upTo     belfry.Position
		again    bool
		want     uint64 // names
	}{
		{"older", older, "", 9, true, 30},
		{"a replay brings the rest", older, "", 5, false, 10},
		{"current", base, "", 9, false, 30},
		{"ahead", base, "", 5, false, 30},
		{"of no instance", base, "this", 9, true, 30},
		{"of another instance", foreign, "this", 5, true, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyDir(t, base)
			namesFrom(t, c.from, dir)
			before, err := os.ReadFile(filepath.Join(dir, names.MarkFile))
			must(t, err)
			for range 2 { // the second start finds nothing to do
				s := openNames(t, dir, c.instance, removedNamesOf(9, 1, 30), c.upTo)
				n, err := s.writer.Number(t.Context(), "SELECT count(DISTINCT object) FROM "+names.Table)
				if err != nil || n != c.want {
					t.Errorf("%d names, %v; want %d", n, err, c.want)
				}
				must(t, s.Close())
				after, err := os.ReadFile(filepath.Join(dir, names.MarkFile))
				must(t, err)
				if again := !slices.Equal(before, after); again != c.again {
					t.Errorf("rebuilt: %t, want %t", again, c.again)
				}
				before, c.again = after, false
			}
		})
	}
}

// TestNamesWithoutPosition opens a file of names without its position: verify reports it, and it is made again once.
func TestNamesWithoutPosition(t *testing.T) {
	dir, _ := olderNames(t, "")
	s := openNames(t, dir, "", removedNamesOf(9, 1, 30), 9)
	id, _ := namesMark(t, s)
	for _, column := range []string{"pos", "instance"} {
		must(t, s.writer.Exec(t.Context(), "ALTER TABLE removed.main.mark DROP COLUMN "+column))
	}
	must(t, s.Close())
	if problems := verify(t, dir); len(problems) != 1 || problems[0].File != names.File || !strings.Contains(problems[0].Problem, "in a format that this program knows") {
		t.Errorf("verify: %+v", problems)
	}
	for range 2 {
		s = openNames(t, dir, "", removedNamesOf(9, 1, 30), 9)
		now, pos := namesMark(t, s)
		if now == id {
			t.Error("it has not been rebuilt")
		}
		n, err := s.writer.Number(t.Context(), "SELECT count(DISTINCT object) FROM "+names.Table)
		if err != nil || n != 30 || pos != 9 {
			t.Errorf("%d names up to %d, %v; want 30 up to 9", n, pos, err)
		}
		must(t, s.Close())
	}
}

// TestVerifyOlderNames: verify reports names that are older than the metadata.
func TestVerifyOlderNames(t *testing.T) {
	dir, older := olderNames(t, "")
	cat, err := catalog.Load()
	must(t, err)
	f := func(upTo belfry.Position, want string) {
		t.Helper()
		v, err := Verify(t.Context(), store.Config{Dir: dir, Catalog: cat, RemovedAfter: func(pos belfry.Position) bool { return pos < upTo }})
		must(t, err)
		found := ""
		for _, p := range v.Problems {
			found += p.File + ": " + p.Problem
		}
		if !strings.Contains(found, want) || (found == "") != (want == "") {
			t.Errorf("up to %d: %q, want %q", upTo, found, want)
		}
	}
	f(9, "")
	namesFrom(t, older, dir)
	f(5, "")
	f(9, "removed.duckdb: damaged: it does not hold the names of removed items as a whole: the metadata have more")
}

// TestNamesUpTo records removals that came without a position.
func TestNamesUpTo(t *testing.T) {
	dir, _ := olderNames(t, "")
	for i, pos := range []belfry.Position{4, 12, 9} {
		want := []belfry.Position{9, 12, 12}[i]
		s := openNames(t, dir, "", nil, 0)
		must(t, s.NamesUpTo(t.Context(), pos))
		if _, got := namesMark(t, s); got != want {
			t.Errorf("up to %d: %d, want %d", pos, got, want)
		}
		must(t, s.Close())
	}
}

// namesPath returns the path of the file of removed names; empty if they are in memory.
func namesPath(t *testing.T, s *Store) string {
	t.Helper()
	r, err := s.writer.Query(t.Context(), "SELECT coalesce(path, '') FROM duckdb_databases() WHERE database_name = 'removed'")
	must(t, err)
	r.Next()
	return r.TextAt(0)
}

// namesMark returns the id of the file of removed names and the position it has reached.
func namesMark(t *testing.T, s *Store) (id string, pos belfry.Position) {
	t.Helper()
	r, err := s.writer.Query(t.Context(), "SELECT id, pos FROM removed.main.mark")
	must(t, err)
	r.Next()
	return r.TextAt(0), belfry.Position(r.Int(1))
}

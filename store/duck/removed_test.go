package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"belfry"
	"belfry/catalog"
)

// TestNamesCannotBeStored opens a store in whose folder the file of removed names can neither be read nor made. All else goes on.
func TestNamesCannotBeStored(t *testing.T) {
	dir := makeDays(t)
	path := filepath.Join(dir, removedFile)
	must(t, os.RemoveAll(path))
	must(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	s := openWith(t, dir)
	if s.items.removed.path != memoryOnly {
		t.Fatalf("the names are in %s", s.items.removed.path)
	}
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+2 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+2)
	}
	must(t, s.Append(t.Context(), rowsOf(9, 1)))
	must(t, s.ForgetItems(t.Context(), nil))
	must(t, s.Close())
	must(t, os.RemoveAll(path))
	s = openWith(t, dir)
	if s.items.removed.path != path {
		t.Error("the file is not made although it could be")
	}
}

// TestRemovedItemsInPages reads more removed items than fit into a page, with gaps between them: each once, and no page more once the
// caller has given up.
func TestRemovedItemsInPages(t *testing.T) {
	s := openWith(t, t.TempDir())
	const n = 2*removedPage + 5
	must(t, s.writer.exec(t.Context(), "INSERT INTO "+removedTable+" (id, customer, kind, object, resource, view, batch) "+
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
	if !errors.Is(err, context.Canceled) || count > removedPage {
		t.Errorf("%d items after the end, %v", count, err)
	}
}

// TestNamesWithoutLog kills a store that has the newest names of removed items only in the log of the file, and damages the log, or puts
// an older copy of the file in its place. The next start has all names.
func TestNamesWithoutLog(t *testing.T) {
	names := func(first, n int) *belfry.Batch {
		b := &belfry.Batch{Collection: belfry.Dimension, Customer: 1, Columns: []belfry.Column{
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
	cat, err := catalog.Load()
	must(t, err)
	base := t.TempDir()
	s := openWith(t, base)
	must(t, s.items.apply(t.Context(), s.writer, []*belfry.Batch{names(1, 10)}))
	must(t, s.items.removed.fold(t.Context(), s.writer))
	older := copyDir(t, base)
	must(t, s.items.apply(t.Context(), s.writer, []*belfry.Batch{names(11, 20)}))
	for name, change := range map[string]func(path string){
		"whole":   func(string) {},
		"removed": func(path string) { must(t, os.Remove(path+".wal")) },
		"cut":     func(path string) { must(t, os.Truncate(path+".wal", 100)) },
		"random":  func(path string) { write(t, path+".wal", []byte("not a log")) },
		"older copy": func(path string) {
			must(t, unlink(path))
			content, err := os.ReadFile(filepath.Join(older, removedFile))
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
			change(filepath.Join(dir, removedFile))
			s, err := Open(t.Context(), Config{Dir: dir, Catalog: cat, Removed: func(add func(*belfry.Batch) error) error { return add(names(1, 30)) }})
			must(t, err)
			defer s.Close()
			n, err := s.writer.number(t.Context(), "SELECT count(DISTINCT object) FROM "+itemTable)
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

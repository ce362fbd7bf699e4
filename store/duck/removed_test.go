package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"belfry"
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

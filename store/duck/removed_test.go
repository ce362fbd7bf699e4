package duck

import (
	"os"
	"path/filepath"
	"testing"
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

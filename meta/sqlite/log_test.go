package sqlite

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

// TestForeignLog puts the write-ahead log of one database beside another. It is refused before it is taken in; a log of one's own is
// taken in.
func TestForeignLog(t *testing.T) {
	// crashed makes a folder as a process leaves it that ends with changes in the log alone.
	crashed := func(id string, rows belfry.Position) (path string) {
		t.Helper()
		running := reopen(t, filepath.Join(t.TempDir(), "meta.db"))
		if err := running.SetInstance(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := running.MarkRows(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), "meta.db")
		for _, suffix := range []string{"", logSuffix} {
			copyFile(t, running.path+suffix, path+suffix, 1<<20)
		}
		return path
	}
	own, other := crashed("one", 7), crashed("two", 9)
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	kept := own + ".kept"
	copyFile(t, own+logSuffix, kept, 1<<20)
	copyFile(t, other+logSuffix, own+logSuffix, 1<<20)
	_, err = Open(t.Context(), own, slog.New(slog.DiscardHandler))
	for what, err := range map[string]error{"open": err, "verify": Verify(t.Context(), own)} {
		if err == nil || !strings.Contains(err.Error(), own+logSuffix+" is of instance two, and the database beside it of one") {
			t.Errorf("%s with the log of another: %v", what, err)
		}
	}
	if after, err := os.ReadFile(own); err != nil || string(after) != string(before) {
		t.Errorf("the database has changed: %v", err)
	}
	copyFile(t, kept, own+logSuffix, 1<<20)
	db := reopen(t, own)
	if pos, err := db.RowsPosition(t.Context()); err != nil || pos != 7 {
		t.Errorf("with its own log: %d, %v", pos, err)
	}
}
